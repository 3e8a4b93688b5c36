import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { insertItem, insertRun, insertUser, rowIn, type RunRows, runRows, setWaiting } from "../../../test/run-rows.ts";
import { until } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import type { ActiveRun, Runtime, StopReason } from "../contract/runtime.ts";
import { createQueue } from "../engine/queue.ts";
import { createKnownDefinitions } from "../log/run-definitions.ts";
import { createDeltaWriter } from "../log/deltas.ts";
import { createFeeds } from "../log/follow.ts";
import type { RunDecision } from "../runs.ts";
import { decide } from "./decide.ts";

// What a process does once a decision is committed: it tells its followers, stops who works on what ended, and begins what comes next.
anyDatabase((databases) => {
  let database: Database;
  let runtime: Pick<
    Runtime,
    "database" | "queue" | "feeds" | "deltas" | "log" | "node" | "active" | "hooksFor" | "definitions"
  >;
  let caller: Caller;
  let root: RunRows;
  let child: RunRows;
  let woken = 0;

  before(async () => {
    database = await databases.open();
    const queue = createQueue({ database, node: "here", perUser: 8, perNode: 8, log: silentLog, announce: () => {} });
    runtime = {
      ...{ database, log: silentLog, node: "here", active: new Map(), hooksFor: () => [] },
      queue: { ...queue, wake: () => void woken++ },
      definitions: createKnownDefinitions(),
      feeds: createFeeds({ database, log: silentLog, isLocal: () => false }),
      deltas: createDeltaWriter({ database, node: "here", intervalMs: 10, log: silentLog }),
    };
  });
  after(async () => {
    runtime.feeds.close();
    await runtime.deltas.close();
  });

  beforeEach(async () => {
    await database.query("delete from threads");
    root = await insertRun(database, { userId: await insertUser(database) });
    child = await insertRun(database, { userId: root.userId, parent: root });
    for (const run of [root, child]) await setWaiting(database, run);
    const { userId } = root;
    caller = { userId, name: "ann", role: "user", permissions: ["*"], via: "session" };
    woken = 0;
    runtime.active.clear();
  });

  const limit = { reason: "limit", limit: "steps", text: "used up" };
  const provider = { reason: "provider", text: "It is away." };

  /** Asks, decides while both runs are followed and worked on here, and says what became of that until `decide` returned. */
  async function decideWhileFollowed(run: RunRows, body: object, input: RunDecision) {
    const questionId = await insertItem(database, run, { kind: "question", body });
    const rows = await runRows(database);
    const told = [root, child].map(() => [] as string[]);
    const stopped: [number, StopReason][] = [];
    const followers = [root, child].map(({ runId, threadId }, at) => {
      const { signal } = new AbortController();
      const stop = (reason: StopReason) => void stopped.push([at, reason]);
      runtime.active.set(runId, { runId, epoch: 2, signal, stop } satisfies ActiveRun);
      const seq = Number(rowIn(rows, "threads", threadId)["next_seq"]) - 1;
      return runtime.feeds.follow(
        { threadId },
        { seq, live: [] },
        { events: (batch) => void told[at]!.push(...batch.map(({ type }) => type)), error: assert.ifError },
      );
    });
    await decide(runtime as Runtime, caller, { runId: run.runId, questionId, input });
    for (const follower of followers) follower.close();
    return { told, stopped };
  }

  test("decide: who follows a run that is ended is told at once, and who works on it stops", async () => {
    await setWaiting(database, root, { status: "running" });
    assert.deepEqual(await decideWhileFollowed(child, limit, { decision: "stop" }), {
      told: [["run-end"], ["decision", "run-end"]],
      stopped: [[0, "lost"]],
    });
  });

  test("decide: a wait for a provider ends the run that waits, not the one around it", async () => {
    await setWaiting(database, root, { status: "running" });
    assert.deepEqual(await decideWhileFollowed(child, provider, { decision: "stop" }), {
      told: [[], ["decision", "run-end"]],
      stopped: [[1, "lost"]],
    });
  });

  for (const [status, stopped] of [
    ["running", [[0, "lost"]]],
    ["waiting", []],
  ] as const)
    test(`decide: who asks a provider again by itself stops, not who takes a run that waited: ${status}`, async () => {
      await setWaiting(database, root, { status });
      const result = await decideWhileFollowed(root, provider, { decision: "retry" });
      assert.deepEqual(result, { told: [["decision"], []], stopped });
    });

  test("decide: a run that goes on is looked for at once", async () => {
    await decideWhileFollowed(root, limit, { decision: "continue" });
    assert.equal(woken, 1);
  });

  test("decide: what waits behind a run that is ended begins", async () => {
    const service = await startTestRuns({ database, script: [], runsJobs: false });
    try {
      const { threadId } = root;
      const next = await service.runs.start(caller, { agent: "assistant", threadId, message: { content: "next" } });
      assert.equal(next.pending, true);
      await decideWhileFollowed(root, limit, { decision: "stop" });
      const { status, started_at } = rowIn(await runRows(database), "runs", next.runId);
      assert.deepEqual([status, started_at], ["queued", null]);
    } finally {
      await service.stop(0);
    }
  });

  test("decide: a run that a request began goes on within its root, which is at work", async () => {
    const service = await startTestRuns({ database, script: ["Done."], runsJobs: false });
    try {
      const like = await service.runs.start(caller, { agent: "assistant", message: { content: "hi" } });
      await setWaiting(database, root, { status: "running" });
      await database.query(
        `update runs set user_id = l.user_id, definition_hash = l.definition_hash, caller = l.caller, parent_call = '1 asks x', started_at = now()
         from (select user_id, definition_hash, caller from runs where id = $2) l where runs.id = $1`,
        [child.runId, like.runId],
      );
      const ask = () => insertItem(database, child, { kind: "question", body: limit });
      const questionId = await ask();
      await service.approvals.decide(caller, child.runId, { questionId, input: { decision: "continue" } });
      const statusOf = async () => rowIn(await runRows(database), "runs", child.runId)["status"];
      await until(async () => (await statusOf()) === "done", "the end of the run");
    } finally {
      await service.stop(0);
    }
  });
});
