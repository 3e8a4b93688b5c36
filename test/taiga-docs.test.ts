import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, afterEach, before, test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../src/config/load.ts";
import type { Script, ScriptAnswer } from "../src/models/demo/scripted.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import type { Database } from "../src/store/driver/database.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { minutes, planned, planningModel, serveTaigaAgent } from "./taiga-agent.ts";
import { startTaiga, type Taiga } from "./taiga/server.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/taiga.md"), "utf8");
const block = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page)![1]!;

let taiga: Taiga;
let database: Database;
before(async () => {
  taiga = await startTaiga();
  database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(database);
});
afterEach(() => taiga.reset());
after(async () => {
  await taiga.close();
  await database.close();
});

test("the configuration of taiga.md loads", () => {
  const cwd = temporaryFolder("docs");
  writeFileSync(join(cwd, "colloquy.yaml"), block("yaml"));
  assert.equal(loadConfig({ env: {}, cwd }).taiga?.url, "https://taiga.example.com");
});

test("the script of taiga.md prints what it says", async (context) => {
  const agent = await serveTaigaAgent(database, { url: taiga.url, script: smallModel });
  context.after(agent.close);
  const script = block("js").replaceAll("localhost:8000", new URL(agent.url).host);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    env: { TAIGA_TOKEN: taiga.tokensOf("bruno").auth_token },
  });
  assert.equal(stdout, block("text"));
});

for (const [name, project, mode, answers, expected] of [
  [
    "signs in, streams and shows what was made",
    "acme-app",
    [],
    "",
    /Made 12 things.*created user_story #\d+ Export orders/s,
  ],
  ["asks which sprint", "acme-site", [], "2\n", /Which sprint.*1\. sprint 6.*2\. Sprint 6.*Made 12 things/s],
  [
    "shows the plan of a dry run first",
    "acme-app",
    ["--dry-run"],
    "1\n",
    /May these 12 writes.*All 12 planned writes were done/s,
  ],
] as const)
  test(`the example client ${name}`, async (context) => {
    const agent = await serveTaigaAgent(database, { url: taiga.url, script: planningModel });
    context.after(agent.close);
    const file = join(temporaryFolder("minutes"), "minutes.txt");
    writeFileSync(file, minutes);
    const client = spawn(
      process.execPath,
      [join(root, "examples/taiga-client/taiga-client.mjs"), project, "Sprint 6", file, ...mode],
      {
        env: {
          COLLOQUY_URL: agent.url,
          TAIGA_URL: taiga.url,
          TAIGA_USERNAME: "bruno",
          TAIGA_PASSWORD: "bruno-password",
        },
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    client.stdin.end(answers);
    const [shown, [code]] = await Promise.all([text(client.stdout), once(client, "exit")]);
    assert.match(shown, expected);
    assert.equal(code, 0);
    assert.deepEqual(taiga.state.counts(), planned);
  });

const smallModel: Script = ({ messages }): ScriptAnswer => {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const id = (index: number) => (JSON.parse(results[index] ?? "{}") as { readonly id?: number }).id;
  const call = (name: string, given: object): ScriptAnswer => [{ call: name, arguments: given }, { finish: "calls" }];
  if (results.length === 0) return call("taiga_get_milestone_by_name", { name: "Sprint 6" });
  if (results.length === 1) return call("taiga_create_user_story", { subject: "Export orders", milestone_id: id(0) });
  if (results.length === 2) return call("taiga_create_task", { subject: "Export as CSV", user_story_id: id(1) });
  return "Made a story and its task in Sprint 6.";
};
