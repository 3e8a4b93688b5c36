import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

function script({ messages }: ModelRequest): ScriptAnswer {
  if (messages.at(-1)?.role === "tool") return "It is on your list.";
  return [{ call: "add_task", arguments: { title: "Buy milk" } }, { finish: "calls" }];
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script);
});
after(() => server.close());

/** The code blocks of a page in one language, with this test's server in place of the usual one. */
function examples(page: string, language: string): string[] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map((match) => match[1]!);
  assert.ok(blocks.length > 0, `${page} has no ${language} example`);
  return blocks.map((block) => block.replaceAll("localhost:8000", new URL(server.url).host));
}

for (const [page, answer] of [
  ["openai-api.md", /^It is on your list\.$/],
  ["ollama-api.md", /^It is on your list\.$/],
  ["tools-api.md", /^true .*Buy milk.* done\n$/],
  [
    "native-api.md",
    /^It is on your list\.\ndone\n$|^(step \d: script, \d+ ms, ok\n){2}2 steps, 0 takeovers\n$|^system: .*\nuser: .*\n\{.*\}\n$/,
  ],
  ["schedules.md", /^30 8 \* \* mon-fri true\ntrue\nnull\n$/],
] as const)
  test(`the scripts of ${page} do what they say`, async () => {
    for (const example of examples(page, "js")) {
      const { stdout } = await run(process.execPath, ["--input-type=module", "-e", example], { cwd: root });
      assert.match(stdout, answer);
    }
  });

test("the curl lines of openai-api.md do what they say", async () => {
  for (const example of examples("openai-api.md", "sh")) {
    const [, address, body] = /^curl (\S+) -d '(.*)'$/ms.exec(example) ?? [];
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch("http://" + address, { method: "POST", headers, body });
    assert.equal(response.status, 200);
    assert.match(await response.text(), /It is on your list\./);
  }
});
