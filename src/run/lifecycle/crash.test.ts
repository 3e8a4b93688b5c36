import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { eachDatabase, type Place } from "../../../test/databases.ts";
import { postEffect } from "../../../test/post-effect.ts";
import { until } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import type { Script } from "../../models/demo/scripted.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";

const program = join(import.meta.dirname, "../../../test/run-until-killed.ts");

/** Counts what really happened outside, and holds a request until the test lets it go. */
type EffectServer = {
  readonly url: string;
  readonly effects: string[];
  readonly arrived: (path: string) => Promise<void>;
  close(): void;
};

eachDatabase((databases) => {
  const undo: (() => unknown)[] = [];
  /** Starts a run in a process of its own and kills that process when the given request arrives outside. */
  async function killAt(
    place: Place,
    path: string,
    delegated = false,
  ): Promise<{ runId: string; effects: readonly string[] }> {
    const outside = await startOutside();
    undo.push(() => outside.close());
    const child = spawn(process.execPath, [program, JSON.stringify({ place, outside: outside.url, delegated })], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    undo.push(() => child.kill("SIGKILL"));
    const runId = new Promise<string>((resolve) =>
      child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim())),
    );
    const gone = new Promise((resolve) => child.once("exit", resolve));
    await outside.arrived(path);
    child.kill("SIGKILL");
    await gone;
    return { runId: await runId, effects: outside.effects };
  }

  async function goOn(place: Place, runId: string, tools: readonly Tool[], script: Script = ["recovered"]) {
    const database = await openDatabase(place);
    undo.push(database.close);
    await migrate(database);
    const service = await startTestRuns({ database, script, tools });
    undo.push(() => service.stop(0));
    const { threadId } = await service.runs.get(service.caller, runId);
    const events = await service.events({
      runId,
      threadId,
      cursor: { seq: 0, live: [] },
      pending: false,
      replayed: false,
    });
    return { database, service, threadId, last: events.at(-1)! };
  }

  // At the same time: on PostgreSQL each waits for the dead process's heartbeat to be missed.
  describe("after kill -9", { concurrency: true, timeout: 100_000 }, () => {
    after(async () => {
      for (const one of undo.reverse()) await one();
    });

    test("in the second step: the run is finished, and the first step is not repeated", async () => {
      const place = await databases.place();
      const { runId } = await killAt(place, "/step-2");
      const { database, service, last } = await goOn(place, runId, []);
      assert.equal(last.type === "run-end" && last.status, "done");
      assert.equal((await database.query("select title from tasks")).length, 1);
      assert.equal(service.model.requests.length, 1, "only the step that was cut off is asked again");
      assert.deepEqual(
        service.model.requests[0]!.messages.map((message) => message.role),
        ["system", "user", "assistant", "tool"],
      );
    });

    test("in a delegated run's second step: it goes on in the same child, and nothing is repeated", async () => {
      const place = await databases.place();
      const { runId } = await killAt(place, "/step-2", true);
      const { database, service, last } = await goOn(place, runId, [], ["from below", "recovered"]);
      assert.equal(last.type === "run-end" && last.status, "done");
      assert.equal((await database.query("select title from tasks")).length, 1);
      assert.deepEqual(
        service.model.requests.map(({ messages }) => messages.map(({ role }) => role)),
        [
          ["user", "assistant", "tool"],
          ["system", "user", "assistant", "tool"],
        ],
        "the child's step that was cut off, then the parent's",
      );
      const runs = await database.query("select status from runs where root_run = $1", [runId]);
      assert.deepEqual(runs, [{ status: "done" }, { status: "done" }]);
    });

    test("in a delegated run's write: the whole waits as unknown, and a person decides", async () => {
      const place = await databases.place();
      const { runId, effects } = await killAt(place, "/effect", true);
      const effect = postEffect("http://127.0.0.1:1");
      const { service, last } = await goOn(place, runId, [effect], ["from below", "recovered"]);
      assert.equal(last.type === "run-wait" && last.reason, "unknown");
      const [question] = await service.approvals.questions(service.caller, runId);
      await service.approvals.decide(service.caller, runId, { questionId: question!.id, input: { decision: "done" } });
      await until(async () => (await service.runs.get(service.caller, runId)).status === "done");
      assert.equal(effects.length, 1);
    });

    for (const [name, tools] of [
      ["", [postEffect("http://127.0.0.1:1")]],
      [", even if the tool is gone", []],
    ] as const) {
      test(`in a write: the run waits as unknown, and the write is not repeated${name}`, async () => {
        const place = await databases.place();
        const { runId, effects } = await killAt(place, "/effect");
        const { database, service, threadId, last } = await goOn(place, runId, tools);
        assert.equal(last.type === "run-wait" && last.reason, "unknown");
        assert.equal(effects.length, 1);
        assert.deepEqual(await database.query("select status from ledger where tool = 'post_effect'"), [
          { status: "unknown" },
        ]);
        await service.runs.cancel(service.caller, runId);
        const results = (await service.threads.listItems(service.caller, threadId, {})).filter(
          (item) => item.kind === "result",
        );
        assert.equal(results.at(-1)!.body.outcome, "unknown");
      });
    }
  });
});

async function startOutside(): Promise<EffectServer> {
  const effects: string[] = [];
  const waiting = new Map<string, () => void>();
  const server: Server = createServer((request, _response) => {
    const path = request.url!;
    if (path === "/effect") effects.push(path);
    // Never answered: whoever asks is killed while it waits.
    waiting.get(path)?.();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert(address && typeof address === "object");
  return {
    url: `http://127.0.0.1:${address.port}`,
    effects,
    arrived: (path) => new Promise((resolve) => waiting.set(path, resolve)),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
