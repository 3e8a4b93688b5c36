import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser, rowIn, type RunRows, runRows, takeOver, testNode } from "../../../test/run-rows.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Database } from "../../store/driver/database.ts";
import { takeRun } from "./take-run.ts";

const node = newId();
const everyone = ["agent:*", "collection:*", "model:*", "room:*", "tool:*"];
const isNear = (at: unknown, ms: number) => Math.abs(Date.parse(String(at)) - Date.now() - ms) < 10_000;

eachDatabase((databases) => {
  let database: Database;
  let run: RunRows;
  let others: readonly RunRows[];

  before(async () => void (database = await databases.open()));

  beforeEach(async () => {
    await database.query("delete from threads");
    const first = await insertRun(database, { userId: await insertUser(database) });
    run = await insertRun(database, { userId: await insertUser(database) });
    others = [first, await insertRun(database, { userId: await insertUser(database) })];
    await database.query("update threads set next_seq = 9, leaf = id where id = $1", [run.threadId]);
    await database.query("update runs set steered = 5 where id = $1", [run.runId]);
    await database.query("update users set disabled = true where id = $1", [run.userId]);
  });

  const set = (columns: string, { runId } = run) => database.query(`update runs set ${columns} where id = $1`, [runId]);
  const take = (of = run) => takeOver(database, of.runId, node);
  const rowOf = async ({ runId } = run) => rowIn(await runRows(database), "runs", runId);
  /** Of a run that was begun and not yet worked on. */
  const queued = "status = 'queued', handed_over = true, takeovers = 0, started_at = null";

  test("take: nobody takes what is another's, has ended, or waits for a person", async () => {
    const before = await runRows(database);
    const claimed = { runId: run.runId, epoch: 2, crashed: true, retried: false, lastNode: testNode };
    assert.equal(await takeRun(database, { ...claimed, epoch: 1 }), undefined);
    assert.equal(await takeRun(database, { ...claimed, epoch: 3 }), undefined);
    assert.equal(await takeRun(database, { ...claimed, runId: newId() }), undefined);
    assert.deepEqual(await runRows(database), before);
    await set("status = 'queued'");
    assert.equal(await takeRun(database, claimed), undefined, "it was given back");
    for (const status of ["waiting", "done", "failed", "cancelled"]) {
      await set(`status = '${status}'`);
      assert.equal(await take(), undefined, status);
      assert.equal((await rowOf())["epoch"], 2);
    }
  });

  test("take: whoever takes a run over from a process that died knows all of it, and touches no other", async () => {
    const before = await runRows(database);
    const { caller, leftMs, ...taken } = (await take())!;
    assert.deepEqual(taken, {
      ...{ runId: run.runId, threadId: run.threadId, rootRun: run.runId, rootThreadId: run.threadId, epoch: 3 },
      ...{ disabled: true, definition: {}, takeovers: 4, cancelAsked: false, leaf: run.threadId, nextSeq: 9 },
      ...{ steered: 5, retried: false },
    });
    assert.equal(leftMs, 60_000);
    const { permissions, ...who } = caller;
    assert.deepEqual(who, { userId: run.userId, name: "ann", role: "user", via: "session" });
    assert.deepEqual(permissions.toSorted(), everyone);

    const after = await runRows(database);
    const row = rowIn(after, "runs", run.runId);
    assert.deepEqual([row["status"], row["epoch"], row["node"], row["handed_over"]], ["running", 3, node, false]);
    assert.ok(isNear(row["started_at"], 0));
    const [took, ...more] = row["takes"] as { at: string }[];
    assert.deepEqual({ ...took, at: null }, { epoch: 3, node, over: true, at: null });
    assert.ok(isNear(took!.at, 0) && more.length === 0);
    assert.ok(isNear(rowIn(after, "budgets", run.runId)["deadline"], 60_000));
    for (const { runId, threadId } of others) {
      assert.deepEqual(rowIn(after, "runs", runId), rowIn(before, "runs", runId));
      assert.deepEqual(rowIn(after, "threads", threadId), rowIn(before, "threads", threadId));
      assert.deepEqual(rowIn(after, "budgets", runId), rowIn(before, "budgets", runId));
    }
  });

  if (databases.kind === "postgres")
    test("take: where somebody holds the row, nobody waits for it", async () => {
      await database.transaction(async (query) => {
        await query("select 1 from runs where id = $1 for update", [run.runId]);
        const claimed = { runId: run.runId, epoch: 2, crashed: false, retried: false, lastNode: testNode };
        await assert.rejects(takeRun(database, claimed), (error: Error & { code?: string }) => {
          assert.equal(error.code, "database_locked");
          // Not at the end of a time to wait.
          return /could not obtain lock on row/.test(String(error.cause));
        });
      });
    });

  test("take: a run that was handed over was lost by nobody, and keeps when it began", async () => {
    await set("handed_over = true, started_at = '2026-01-02'");
    assert.equal((await take())!.takeovers, 3);
    const row = await rowOf();
    assert.deepEqual([row["handed_over"], row["started_at"]], [false, "2026-01-02T00:00:00+00:00"]);
    assert.equal((row["takes"] as { over: boolean }[])[0]!.over, false);
  });

  test("take: a run that is to ask its provider again is told so, and waits no more", async () => {
    await set("status = 'waiting', handed_over = true, wait_reason = 'provider', wait_until = now(), retry_at = now()");
    assert.equal((await take())!.retried, true);
    const { status, wait_reason, wait_until, retry_at } = await rowOf();
    assert.deepEqual([status, wait_reason, wait_until, retry_at], ["running", null, null, null]);
  });

  test("take: the first take is kept, and the newest of the others", async () => {
    const takes = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => ({ epoch: at })));
    for (const [kept, first] of [
      [31, 1],
      [32, 2],
    ] as const) {
      await set(`takes = '${takes(kept)}', epoch = 99, status = 'running'`);
      await take();
      const epochs = ((await rowOf())["takes"] as { epoch: number }[]).map(({ epoch }) => epoch);
      assert.deepEqual(epochs, [0, ...Array.from({ length: kept - first }, (_, at) => at + first), 100]);
    }
  });

  test("take: where a caller works elsewhere, it is the caller of its root run", async () => {
    const elsewhere = { taiga: { place: "app" } };
    await database.query("update runs set caller = caller || $2::jsonb where id = $1", [
      run.runId,
      JSON.stringify({ elsewhere }),
    ]);
    const { caller } = (await take())!;
    assert.deepEqual([caller.elsewhere, caller.run, caller.name], [elsewhere, run.runId, "ann"]);
  });

  /** Runs below: at work on the same node as the run was, at work elsewhere, waiting there; and one of another tree. */
  async function below() {
    const child = (parent: RunRows) => insertRun(database, { userId: run.userId, parent });
    const [here, elsewhere, waits] = [await child(run), await child(run), await child(run)];
    const foreign = await child(others[0]!);
    await set("node = 'elsewhere'", elsewhere);
    await database.query(
      "insert into nodes (id, seen_at) values ('elsewhere', now() + interval '1 hour') on conflict do nothing",
    );
    await set("status = 'waiting'", waits);
    const use = { steps: 1, tokens: 100, cost: 1 };
    const held = Object.fromEntries([run, here, elsewhere, waits].map(({ runId }) => [runId, { [newId()]: use }]));
    await database.query("update budgets set unsettled = $2::jsonb where root_run = $1", [
      run.runId,
      JSON.stringify(held),
    ]);
    return {
      async after() {
        const rows = await runRows(database);
        const epochs = [here, elsewhere, waits, foreign].map(({ runId }) => rowIn(rows, "runs", runId)["epoch"]);
        const { steps, tokens, cost, unsettled } = rowIn(rows, "budgets", run.runId);
        const names = new Map(
          Object.entries({ run, here, elsewhere, waits }).map(([name, { runId }]) => [runId, name]),
        );
        const left = Object.keys(unsettled as object).map((id) => names.get(id));
        return { epochs, used: [steps, tokens, cost], left: left.toSorted() };
      },
    };
  }

  test("take: what a dead process was working on below is its no more, and what it reserved is given back", async () => {
    const { after } = await below();
    await take();
    assert.deepEqual(await after(), { epochs: [3, 2, 2, 2], used: [7, 700, 7], left: ["elsewhere"] });
    assert.equal((await rowOf())["epoch"], 3);
  });

  test("take: what is below on a node that is dead is taken, though somebody else has had the run since", async () => {
    const { after } = await below();
    await set("node = 'after', handed_over = true");
    await database.query("delete from nodes where id = $1", [testNode]);
    await take();
    assert.deepEqual(await after(), { epochs: [3, 2, 2, 2], used: [7, 700, 7], left: ["elsewhere"] });
  });

  test("take: what is at work below a run that nobody worked on goes on", async () => {
    for (const state of [queued, "status = 'waiting', handed_over = true, retry_at = now()"]) {
      const { after } = await below();
      await set(`${state}, node = '${testNode}'`);
      await database.query("update budgets set steps = 10, tokens = 1000, cost = 10");
      await take();
      assert.deepEqual(await after(), { epochs: [2, 2, 2, 2], used: [8, 800, 8], left: ["elsewhere", "here"] });
    }
  });

  test("take: the time that is left begins to run, and is told", async () => {
    await database.query("update budgets set left_ms = 7000, deadline = null where root_run = $1", [run.runId]);
    assert.equal((await take())!.leftMs, 7000);
    assert.ok(isNear(rowIn(await runRows(database), "budgets", run.runId)["deadline"], 7000));
  });

  if (databases.kind === "postgres")
    test("take: nobody waits for a run that somebody else holds", async () => {
      await database.transaction(async (query) => {
        await query("select 1 from runs where id = $1 for update", [run.runId]);
        const claimed = { ...run, crashed: true, retried: false, lastNode: testNode };
        await assert.rejects(takeRun(database, claimed), { code: "database_locked" });
      });
    });
});
