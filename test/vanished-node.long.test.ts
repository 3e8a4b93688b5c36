import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openPostgres } from "../src/store/driver/postgres.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { skipDatabase } from "./left-out.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { temporaryFolder } from "./pglite.ts";
import { rowOf } from "./run-suite.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "./runs.ts";
import { type SilentProxy, startSilentProxy } from "./silent-proxy.ts";
import { gate, type Stage, vanishingCases } from "./vanishing-cases.ts";

const longestMs = 60_000;
type OnStage = Stage & { readonly proxy: SilentProxy; readonly url: string };
const go = { agent: "assistant", message: { content: "go" } };

describe("A node that vanishes without a word", { skip: skipDatabase("postgres"), timeout: 600_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  /** Two nodes, B beside A; cleared away afterwards. */
  async function onStage(play: (stage: OnStage) => Promise<void>): Promise<void> {
    const url = await server.createDatabase();
    const proxy = await startSilentProxy(url);
    const database = await openPostgres({ url });
    await migrate(database);
    const undo: (() => Promise<unknown>)[] = [database.close];
    const nodes: Record<string, Promise<TestRuns>> = {};
    const start = async (at: string, options: Partial<TestRunsOptions>) => {
      const own = await openPostgres({ url: at });
      undo.push(own.close);
      const node = await startTestRuns({ database: own, script: () => "ok", ...options });
      undo.push(() => node.stop(0));
      return node;
    };
    try {
      await play({
        ...{ proxy, database, url },
        a: (options = {}) => (nodes["a"] ??= start(proxy.through(url), options)),
        b: (options = {}) => (nodes["b"] ??= start(url, options)),
        vanish(inside) {
          const gone = Promise.withResolvers<void>();
          let isInside = false;
          proxy.watch((text) => {
            isInside ||= text.includes(inside);
            if (!isInside || !text.includes("commit")) return undefined;
            gone.resolve();
            return "all";
          });
          return gone.promise;
        },
        async eventually(condition, what) {
          const end = performance.now() + longestMs;
          while (!(await condition())) {
            assert.ok(performance.now() < end, `waited in vain for ${what}`);
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        },
      });
    } finally {
      await proxy.close();
      for (const one of undo.reverse()) await one();
    }
  }

  // Most of each is waiting for a time-out of the server, and each has a database of its own.
  describe("in place of a COMMIT", { concurrency: 3 }, () => {
    for (const [name, play] of Object.entries(vanishingCases))
      test(`in place of the COMMIT of: ${name}`, { timeout: 120_000 }, () => onStage(play));
  });

  test("while it holds the rows of many runs: who is to take them answers, and no take keeps a connection", () =>
    onStage(async ({ database, a, b, eventually, proxy, url }) => {
      const { caller, runs } = await a({ script: () => [{ hang: true }], perUser: 1 });
      for (let sent = 0; sent < 30; sent++) await runs.start(caller, go);
      const rude = await openPostgres({ url: proxy.through(url), connections: 3 });
      const held = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      const locked = rude.transaction(async (query) => {
        await query("select from runs for update");
        held.resolve();
        await over.promise;
      });
      void locked.catch(() => {});
      await held.promise;
      proxy.silenceAll();
      const worker = await b({ script: () => "ok", perUser: 64 });
      let most = 0;
      let takes = 0;
      const holder = "select count(*)::integer as count from pg_stat_activity where state = 'idle in transaction'";
      while ((await database.query<{ count: number }>(holder))[0]!.count > 0) {
        const [waiting] = await database.query<{ count: number }>(
          "select count(*)::integer as count from pg_stat_activity where wait_event_type = 'Lock'",
        );
        most = Math.max(most, waiting!.count);
        if (takes++ < 5) assert.equal((await worker.ask("hi")).text, "ok");
      }
      assert.ok(takes > 0 && most <= 2, `${most} connections waited for a lock at once`);
      const left = "select count(*)::integer as count from runs where status <> 'done'";
      await eventually(async () => (await database.query<{ count: number }>(left))[0]!.count === 0, "the end of all");
      over.resolve();
      await rude.close();
    }));

  test("all its connections fall silent while new ones work: within 20 seconds it takes runs again, and ends its old one", () =>
    onStage(async ({ database, a, eventually, proxy }) => {
      const { script, open, reached } = gate();
      const node = await a({ script });
      const old = await node.runs.start(node.caller, go);
      await reached;
      const since = performance.now();
      proxy.silenceOld();
      let fresh: string | undefined;
      await eventually(async () => {
        fresh = await node.runs.start(node.caller, { agent: "assistant", message: { content: "hi" } }).then(
          ({ runId }) => runId,
          () => undefined,
        );
        return fresh !== undefined;
      }, "a run to be accepted");
      await eventually(async () => (await rowOf(database, fresh!)).status === "done", "a run that was taken anew");
      const ms = performance.now() - since;
      assert.ok(ms < 20_000, `it took ${Math.round(ms)} ms`);
      open();
      await eventually(async () => (await rowOf(database, old.runId)).status === "done", "the run from before");
    }));

  test("it is cut off altogether: within 20 seconds its run goes on elsewhere", () =>
    onStage(async ({ database, a, b, eventually, proxy }) => {
      const { script, reached } = gate();
      const node = await a({ script });
      const { runId } = await node.runs.start(node.caller, go);
      await reached;
      const worker = await b({ script: () => "ok" });
      const since = performance.now();
      proxy.silenceAll();
      await eventually(async () => (await rowOf(database, runId)).status === "done", "its run");
      const ms = performance.now() - since;
      assert.ok(ms < 20_000, `it took ${Math.round(ms)} ms`);
      assert.equal(worker.model.requests.length, 1);
    }));

  test("it only stands still for 8 seconds: its run stays with it, and is asked once", () =>
    onStage(async ({ database, b, eventually, url }) => {
      const program = join(import.meta.dirname, "run-while-stopped.ts");
      const child = spawn(
        process.execPath,
        [program, JSON.stringify({ url, dataDirectory: temporaryFolder("data") })],
        {
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      try {
        const [line] = (await once(child.stdout, "data")) as [Buffer];
        const runId = line.toString().trim();
        await eventually(async () => (await rowOf(database, runId)).status === "running", "its begin");
        const worker = await b({ script: () => "not here" });
        child.kill("SIGSTOP");
        // The harm itself.
        await new Promise((resolve) => setTimeout(resolve, 8000));
        child.kill("SIGCONT");
        await eventually(async () => (await rowOf(database, runId)).status === "done", "its end");
        assert.equal((await rowOf(database, runId)).epoch, 1);
        assert.equal(worker.model.requests.length, 0);
      } finally {
        child.kill("SIGKILL");
      }
    }));
});
