import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { skipDatabase } from "./left-out.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const hour = 3_600_000;
const shiftedClock = join(import.meta.dirname, "shifted-clock.ts");
/** More than twice as long as a process may be silent about its runs. */
const longSeconds = 25;

const skip = skipDatabase("postgres");
let postgres: PostgresServer;
let model: ModelServer;

before(async () => {
  if (skip) return;
  [postgres, model] = await Promise.all([startPostgres(), startModelServer()]);
  const begun = new Set<string>();
  model.always(({ body }) => {
    const said = JSON.stringify(body["messages"]);
    if (said.includes("wait for me")) return { calls: [{ name: "ask_client", arguments: {} }] };
    const name = /endless \S+?(?=")/.exec(said)?.[0];
    if (name === undefined) return { text: Array.from({ length: longSeconds * 2 }, (_, at) => `${at} `), paceMs: 500 };
    if (begun.has(name)) return "Taken over.";
    begun.add(name);
    return { text: Array.from({ length: 1200 }, () => "and on "), paceMs: 500 };
  });
});
after(() => Promise.all([postgres?.stop(), model?.close()]));

describe("a node whose clock is an hour wrong", { concurrency: true, skip }, () => {
  for (const [name, worker, watcher] of [
    ["ahead leaves alone what a node behind works on and waits for", -hour, hour],
    ["behind leaves alone what a node ahead works on and waits for", hour, -hour],
  ] as const)
    test(`${name}, until it is really due`, { timeout: 180_000 }, async (context) => {
      await tryClocks(context, { worker, watcher });
    });
});

async function tryClocks(
  context: TestContext,
  { worker, watcher }: { worker: number; watcher: number },
): Promise<void> {
  const url = await postgres.createDatabase();
  const cwd = nodeFolder();
  const start = async (shift: number) => {
    const node = await startNode(url, { cwd, shift });
    context.after(() => node.end("SIGKILL"));
    return node;
  };
  const database = new pg.Client(url);
  await database.connect();
  context.after(() => database.end());
  const rowOf = async (run: string) =>
    (
      await database.query<{ status: string; epoch: number; takeovers: number; left: number; error: unknown }>(
        `select status, epoch, takeovers, error, extract(epoch from wait_until - now())::float8 as left from runs where id = $1`,
        [run],
      )
    ).rows[0]!;
  const first = await start(worker);
  const clock = (await first.client.examine()).find(({ about }) => about === "clock");
  assert.match(clock?.text ?? "", /^3\d{3}\.\d s away/, "its clock is wrong");
  const long = await begin(first, "a long one");
  const endless = await begin(first, `endless ${worker}`);
  const waiting = await begin(first, "wait for me");
  await until(async () => (await rowOf(waiting)).status === "waiting");
  await until(async () => (await rowOf(long)).epoch + (await rowOf(endless)).epoch === 2);

  const second = await start(watcher);
  const events = await eventsOf(second, long);
  const end = events.at(-1);
  assert(end?.type === "run-end" && end.status === "done", JSON.stringify(end));
  assert.deepEqual(
    events.filter(({ type }) => type === "step-retry"),
    [],
  );
  for (const run of [long, endless]) {
    const { epoch, takeovers } = await rowOf(run);
    assert.deepEqual({ epoch, takeovers }, { epoch: 1, takeovers: 0 });
  }
  const { status, left } = await rowOf(waiting);
  assert.equal(status, "waiting");
  assert(left > 28 * 60 && left < 30 * 60, `the wait ends in ${left} s, by the database's clock`);

  // What is due by the database's clock is seen by the wrong one, too.
  await first.end("SIGKILL");
  await database.query("update runs set wait_until = now() - interval '1 second' where id = $1", [waiting]);
  await until(async () => (await rowOf(endless)).status === "done" && (await rowOf(waiting)).status === "failed");
  assert.equal((await rowOf(endless)).epoch, 2);
  assert.equal(((await rowOf(waiting)).error as { code: string }).code, "expired");
}

/** What all nodes of a test share. */
function nodeFolder(): string {
  const cwd = temporaryFolder("clocks");
  // JSON is YAML.
  const config = {
    models: [{ id: "served", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" }],
    retention: { clientWaitMinutes: 30 },
  };
  writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify(config));
  return cwd;
}

function startNode(database: string, { cwd, shift }: { cwd: string; shift: number }): Promise<ServerProcess> {
  return startServerProcess({
    cwd,
    env: { DATABASE_URL: database, SHIFTED_CLOCK_MS: String(shift), COLLOQUY_LOG_LEVEL: "warn" },
    preload: [shiftedClock],
  });
}

async function begin({ client }: ServerProcess, content: string): Promise<string> {
  const thread = await client.createThread();
  const clientTools = [{ name: "ask_client", description: "asks", parameters: { type: "object" } }];
  const { id } = await client.startRun(thread.id, { agent: "assistant", content, options: { clientTools } });
  return id;
}

async function eventsOf({ client }: ServerProcess, run: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const { event } of client.follow(run)) events.push(event);
  return events;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await condition()); await sleep(100))
    if (performance.now() > end) throw new Error(`Waited in vain for ${condition.toString()}`);
}
