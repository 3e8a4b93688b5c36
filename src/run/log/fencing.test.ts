import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf, until, watch, type RunSuite, passOn } from "../../../test/run-suite.ts";
import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Database } from "../../store/driver/database.ts";
import { attemptOf } from "./standing.ts";
import { append, type RunOwner } from "./append.ts";
import { createDeltaWriter, liveStep } from "./deltas.ts";
import { endRun } from "../lifecycle/end-run.ts";
import { reserve } from "../limits/limits.ts";
import { takeRun } from "../lifecycle/take-run.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { takeOver } from "../../../test/run-rows.ts";

const notice = (text: string): NewItem => ({ id: newId(), kind: "notice", body: { text } });

/** A run that hangs in its first step on a node, and its owner as that node sees it. */
async function hangingRun({ start, database }: RunSuite) {
  const service = await start({ script: () => [{ text: "half" }, { hang: true }] });
  const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "hi" } });
  const watching = watch(service, started);
  await until(() => watching.seen.some((event) => event.type === "text-delta"));
  watching.close();
  const { epoch } = await rowOf(database(), started.runId);
  const owner: RunOwner = { runId: started.runId, threadId: started.threadId, epoch };
  return { service, started, owner };
}

/** Another process takes the run, as if this one had missed its heartbeat. */
async function isTakenOver(database: Database, runId: string) {
  const taken = await takeOver(database, runId);
  assert(taken);
  return taken;
}

const contents = (database: Database) =>
  database.query(
    `select (select count(*) from items) as items, (select jsonb_agg(to_jsonb(b)) from budgets b) as budgets,
       (select jsonb_agg(to_jsonb(l)) from ledger l) as ledger, (select jsonb_agg(to_jsonb(d)) from deltas d) as deltas,
       (select jsonb_agg(next_seq) from threads) as counters, (select jsonb_agg(status) from runs) as statuses`,
  );

eachRunDatabase((suite) => {
  test("an owner of old changes nothing, whatever it tries", async () => {
    const { owner } = await hangingRun(suite);
    const database = suite.database();
    const taken = await isTakenOver(database, owner.runId);
    assert.equal(taken.epoch, owner.epoch + 1);
    assert.equal(taken.takeovers, 1);
    const now: RunOwner = { ...owner, epoch: taken.epoch };
    await append(database.query, now, [
      { id: newId(), kind: "call", step: "1", index: 0, body: { name: "t", arguments: "{}", target: "server" } },
    ]);
    await database.query(
      `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash)
       select id, '1', 0, user_id, 't', 'executing', gen_random_uuid(), '' from runs where id = $1`,
      [owner.runId],
    );
    const before = await contents(database);

    await assert.rejects(append(database.query, owner, [notice("ghost")]), LostRun);
    await assert.rejects(append(database.query, owner, [notice("ghost")], { progress: true }), LostRun);
    await assert.rejects(
      append(database.query, owner, [notice("ghost")], {
        ledger: { step: "1", index: 0, status: "done", result: null },
        settles: { reservation: newId(), tokens: 7, cost: 0 },
      }),
      LostRun,
    );
    await assert.rejects(
      append(database.query, owner, [notice("ghost")], { wait: { reason: "client", maxMs: 0 } }),
      LostRun,
    );
    await assert.rejects(reserve(database.query, owner, { steps: 1 }), LostRun);
    await assert.rejects(
      database.transaction((query) => endRun(query, owner, { end: { status: "failed" } })),
      LostRun,
    );
    const writer = createDeltaWriter({ database, node: newId(), intervalMs: 1, log: silentLog });
    const delta = { kind: "text", offset: 0, text: "ghost", whole: "ghost" } as const;
    const stepOf = (attempt: number) => liveStep({ ...owner, step: "1", attempt });
    writer.add({ ...delta, of: stepOf(attemptOf(owner.epoch)) });
    await writer.close();
    assert.deepEqual(await contents(database), before);

    const living = createDeltaWriter({ database, node: newId(), intervalMs: 1, log: silentLog });
    living.add({ ...delta, of: stepOf(attemptOf(now.epoch)) });
    await living.close();
    assert.equal((await database.query("select 1 from deltas where attempt = $1", [attemptOf(now.epoch)])).length, 1);
  });

  test("an owner whose run has ended or waits changes nothing, though nobody else has taken it", async () => {
    const { owner } = await hangingRun(suite);
    const database = suite.database();
    for (const status of ["waiting", "cancelled"]) {
      await database.query("update runs set status = $2 where id = $1", [owner.runId, status]);
      const before = await contents(database);
      for (const extras of [
        {},
        { progress: true },
        { wait: { reason: "client", maxMs: 0 } },
        { end: { status: "done" } },
      ] as const)
        await assert.rejects(append(database.query, owner, [notice("ghost")], extras), LostRun);
      await assert.rejects(reserve(database.query, owner, { steps: 1 }), LostRun);
      assert.deepEqual(await contents(database), before, status);
    }
  });

  test("a claim that was lost again takes nothing", async () => {
    const { owner } = await hangingRun(suite);
    const database = suite.database();
    const lost = { runId: owner.runId, epoch: owner.epoch - 1, crashed: true, retried: false, lastNode: null };
    assert.equal(await takeRun(database, lost), undefined);
    assert.equal((await rowOf(database, owner.runId)).epoch, owner.epoch);
  });

  test("a process that takes its own run a second time drops the first work on it", async () => {
    const { service, started, owner } = await hangingRun(suite);
    const database = suite.database();
    // As when the process stood still, looked dead, and claimed the run again itself.
    await passOn(database, started.runId);
    await until(async () => (await rowOf(database, started.runId)).epoch === owner.epoch + 1, "the second take");
    await until(() => service.model.stopped() === 1, "the end of the first work");
    await until(() => service.model.requests.length === 2, "the second work");
    assert.equal(service.active(), 1);
    await service.runs.cancel(service.caller, started.runId);
    await until(async () => (await rowOf(database, started.runId)).status === "cancelled");
    await until(() => service.active() === 0);
  });
});

eachRunDatabase((suite) => {
  test("an append that waits for the thread while the run is taken over does not get in", async () => {
    const { owner } = await hangingRun(suite);
    const database = suite.database();
    const held = Promise.withResolvers<void>();
    const holding = Promise.withResolvers<void>();
    const lock = database.transaction(async (query) => {
      await query("select 1 from threads where id = $1 for update", [owner.threadId]);
      holding.resolve();
      await held.promise;
    });
    await holding.promise;
    const order: string[] = [];
    const appended = append(database.query, owner, [notice("before the takeover")]).then(
      () => order.push("append"),
      () => order.push("refused"),
    );
    const waiting = (count: number) => async () => {
      const rows = await database.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return rows.length >= count;
    };
    await until(waiting(1), "the append to wait for the thread");
    const taken = takeOver(database, owner.runId).then(() => order.push("take"));
    await until(waiting(2), "the takeover to wait for the append");
    held.resolve();
    await Promise.all([lock, appended, taken]);
    assert.deepEqual(order, ["append", "take"]);
    await assert.rejects(append(database.query, owner, [notice("after")]), LostRun);
  });
}, "postgres");
