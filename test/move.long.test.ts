import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../src/config/load.ts";
import { startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { skipDatabase } from "./left-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { startTestRuns } from "./runs.ts";
import { serveAgents } from "./serve-agents.ts";
import { letterTool } from "./letters.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

const skip = skipDatabase("postgres");
let postgres: PostgresServer;
before(async () => {
  if (skip) return;
  postgres = await startPostgres();
});
after(() => postgres?.stop());

/** The first example of a page in a language. */
function exampleOf(page: string, language: string): string {
  const text = readFileSync(join(root, "docs", page), "utf8");
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(text)![1]!;
}

/** One line of a shell example, as a user of this checkout would type it. */
function colloquy(line: string, { cwd, data, url }: { cwd: string; data: string; url?: string }) {
  const [, variable, rest] = /^(DATABASE_URL=\S+ )?\.\/colloquy (.*)$/.exec(line)!;
  const env = { PATH: process.env["PATH"], COLLOQUY_DATA: data, ...(variable && { DATABASE_URL: url }) };
  const cli = join(root, "src", "cli.ts");
  return run(process.execPath, ["--disable-warning=ExperimentalWarning", cli, ...rest!.split(" ")], { cwd, env });
}

test("live runs move from PGlite to PostgreSQL and go on there", { skip, timeout: 90_000 }, async () => {
  const data = await freshDataDirectory();
  const source = await openDatabase({ dataDirectory: data });
  await migrate(source);
  const service = await startTestRuns({
    database: source,
    script: (_request, count) =>
      count === 0 ? [{ call: "add_task", arguments: { title: "Milk" } }] : [{ text: "so far" }, { hang: true }],
    approval: { ask: ["add_*"] },
    perUser: 1,
  });
  const { caller } = service;
  const { started: waiting } = await service.ask("wait");
  const start = () => service.runs.start(caller, { agent: "assistant", message: { content: "go" } });
  const running = await start();
  while (service.model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const queued = await start();
  await service.stop(0);
  await source.close();

  const place = { cwd: temporaryFolder("move"), data, url: await postgres.createDatabase() };
  const [exporting, importing, examining] = exampleOf("export-import.md", "sh").trim().split("\n");
  assert.match((await colloquy(exporting!, place)).stdout, /rows and 0 files exported/);
  assert.match((await colloquy(importing!, place)).stdout, /imported and verified/);
  assert.match((await colloquy(examining!, place)).stdout, /ok.*a result stands after its call/);

  const target = await openDatabase({ url: place.url, dataDirectory: data });
  const there = await startTestRuns({ database: target, script: () => "done there" });
  try {
    for (const { runId, threadId } of [running, queued]) {
      const events = await there.events({ ...running, runId, threadId, cursor: { seq: 0, live: [] } });
      assert.equal(events.at(-1)!.type, "run-end");
    }
    const [question] = await there.approvals.questions(there.caller, waiting.runId);
    const answer = { questionId: question!.id, input: { decision: "allow" } } as const;
    await there.approvals.decide(there.caller, waiting.runId, answer);
    await there.events({ ...waiting, cursor: { seq: question!.seq + 1, live: [] } });
    assert.deepEqual(await target.query("select distinct status from runs"), [{ status: "done" }]);
    assert.deepEqual(await target.query("select title from tasks"), [{ title: "Milk" }]);
  } finally {
    await there.stop(0);
    await target.close();
  }
});

test(
  "nodes of one database: another data directory is told, another secret is refused",
  { skip, timeout: 60_000 },
  async () => {
    const url = await postgres.createDatabase();
    const [shared, other] = [temporaryFolder("data"), temporaryFolder("data")];
    const node = (data: string, secret: string) => {
      const env = {
        DATABASE_URL: url,
        COLLOQUY_DATA: data,
        COLLOQUY_SECRET: secret,
        COLLOQUY_PORT: "0",
        COLLOQUY_PROBE: "false",
      };
      return startColloquy(loadConfig({ env, cwd: data }), { log: silentLog });
    };
    const first = await node(shared, "the secret of all nodes");
    try {
      assert.equal(first.fileProof, "shared");
      const apart = await node(other, "the secret of all nodes");
      assert.equal(apart.fileProof, "apart");
      const health = await fetch(`${apart.url}/health?verbose`);
      assert.match(await health.text(), /"files":"apart"/);
      assert.match(
        await (await fetch(`${apart.url}/api/admin/doctor`)).text(),
        /is not the data directory of the other nodes/,
      );
      await apart.stop();
      await assert.rejects(node(shared, "another secret, by mistake"), { code: "secret_differs" });
    } finally {
      await first.stop();
    }
  },
);

test("the commands of doctor.md and of an export beside a running server say what they should", async () => {
  const data = await freshDataDirectory();
  const place = { cwd: temporaryFolder("move"), data };
  const { ok, findings } = JSON.parse((await colloquy(exampleOf("doctor.md", "sh").trim(), place)).stdout) as {
    ok: boolean;
    findings: { grade: string }[];
  };
  assert.equal(ok, true);
  assert.ok(findings.length > 10);

  const config = loadConfig({
    env: { COLLOQUY_DATA: data, COLLOQUY_PORT: "0", COLLOQUY_PROBE: "false" },
    cwd: place.cwd,
  });
  const server = await startColloquy(config, { log: silentLog });
  try {
    await assert.rejects(colloquy("./colloquy export out", place), /in use by process \d+.*Stop it first/);
    assert.match((await colloquy("./colloquy doctor", place)).stdout, /ok.*a result stands after its call/);
    await server.database.query(
      "insert into threads (id, user_id, next_seq) select gen_random_uuid(), id, 9 from users",
    );
    await assert.rejects(colloquy("./colloquy doctor", place), { code: 1, stdout: /error.*numbered without a gap/ });
  } finally {
    await server.stop();
  }
});

test("the script of admin-runs.md resolves what is unknown", async () => {
  const silent = letterTool();
  const server = await serveAgents(
    ({ messages }) => (messages.at(-1)!.role === "tool" ? "good" : [{ call: "send_letter", arguments: {} }]),
    {},
    { tools: [silent] },
  );
  try {
    const { runs, caller } = server;
    const { runId } = await runs.start(caller, { agent: "assistant", message: { content: "send it" } });
    const status = async (wanted: string) => {
      while ((await runs.get(caller, runId)).status !== wanted) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await status("waiting");
    const script = exampleOf("admin-runs.md", "js").replace("localhost:8000", new URL(server.url).host);
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script]);
    assert.equal(stdout, "owner: was send_letter done?\n");
    await status("done");
  } finally {
    await server.close();
  }
});
