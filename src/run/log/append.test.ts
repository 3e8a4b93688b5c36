import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser, rowIn, type RunRows, runRows, type Rows } from "../../../test/run-rows.ts";
import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Database } from "../../store/driver/database.ts";
import { append, type AppendExtras } from "./append.ts";

const notice = (text: string): NewItem => ({ id: newId(), kind: "notice", body: { text } });
const call = (step: string, index: number): NewItem => ({
  ...{ id: newId(), kind: "call", step, index },
  body: { name: "t", arguments: "{}", target: "server" },
});

/** How far two times lie apart. */
const msBetween = (one: unknown, other: unknown) => Date.parse(String(one)) - Date.parse(String(other));
const isNear = (ms: number, expected: number) => Math.abs(ms - expected) < 10_000;

eachDatabase((databases) => {
  let database: Database;
  let run: RunRows;
  let child: RunRows;
  let other: RunRows;
  const [reserved, kept] = [newId(), newId()];

  before(async () => void (database = await databases.open()));

  beforeEach(async () => {
    for (const table of ["threads", "deltas", "deliveries", "model_calls"])
      await database.query(`delete from ${table}`);
    const userId = await insertUser(database);
    run = await insertRun(database, { userId });
    child = await insertRun(database, { userId, parent: run });
    other = await insertRun(database, { userId: await insertUser(database) });
    for (const { runId, threadId } of [run, child, other])
      for (const step of ["1", "2"]) {
        await database.query(
          "insert into deltas (run_id, thread_id, step, attempt, kind, off, body) values ($1, $2, $3, 1, 'text', 0, 'x')",
          [runId, threadId, step],
        );
        for (const index of [0, 1])
          await database.query(
            `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, until, result)
             values ($1, $2, $3, $4, 't', 'executing', gen_random_uuid(), '', now(), '{"remembered": "it"}')`,
            [runId, step, index, run.userId],
          );
      }
    const use = (steps: number, tokens: number, cost: number) => ({ steps, tokens, cost });
    for (const { runId } of [run, other])
      await database.query("update budgets set unsettled = $2::jsonb where root_run = $1", [
        runId,
        JSON.stringify({
          [runId]: { [reserved]: use(1, 100, 1), [kept]: use(2, 200, 2) },
          [child.runId]: { [kept]: use(4, 400, 4) },
        }),
      ]);
  });

  /** What an append makes of the rows; those of others stay. */
  async function after(
    owner: RunRows,
    items: readonly NewItem[],
    extras: AppendExtras = {},
  ): Promise<{ rows: Rows; run: Row; thread: Row; budget: Row; appended: Awaited<ReturnType<typeof append>> }> {
    const before = await runRows(database);
    const appended = await append(database.query, owner, items, extras);
    const rows = await runRows(database);
    const others = (all: Rows) =>
      [run, child, other]
        .filter((one) => one !== owner)
        .flatMap(({ runId, threadId }) => [
          rowIn(all, "runs", runId),
          rowIn(all, "threads", threadId),
          ...[all.ledger, all.deltas].map((table) => table.filter((row) => row["run_id"] === runId)),
          ...(runId === other.runId ? [rowIn(all, "budgets", runId)] : []),
        ]);
    assert.deepEqual(others(rows), others(before), "what is not the run's own stays");
    const budget = rowIn(rows, "budgets", run.runId);
    return {
      ...{ rows, appended, budget },
      run: rowIn(rows, "runs", owner.runId),
      thread: rowIn(rows, "threads", owner.threadId),
    };
  }

  test("append: nothing is changed by an epoch that is not the run's, or while it does not run", async () => {
    const stale: readonly [owner: RunRows, status: string][] = [
      [{ ...run, epoch: 1 }, "running"],
      [{ ...run, epoch: 3 }, "running"],
      [run, "waiting"],
      [run, "queued"],
      [run, "done"],
    ];
    for (const [owner, status] of stale) {
      await database.query("update runs set status = $2 where id = $1", [run.runId, status]);
      const before = await runRows(database);
      for (const items of [[], [notice("ghost")]])
        for (const extras of [
          {},
          { progress: true },
          { end: { status: "done" } },
          { wait: { reason: "client", maxMs: 0 } },
          { deltasOf: "1", settles: { reservation: reserved, tokens: 1, cost: 1 } },
        ] satisfies readonly AppendExtras[])
          await assert.rejects(append(database.query, owner, items, extras), LostRun);
      assert.deepEqual(await runRows(database), before, `${status}, epoch ${owner.epoch}`);
      await database.query("update runs set status = 'running' where id = $1", [run.runId]);
    }
  });

  test("append: a run ends only if nothing was taken in since", async () => {
    await database.query("update runs set steered = 2 where id = $1", [run.runId]);
    const end = { status: "done" } as const;
    const before = await runRows(database);
    await assert.rejects(append(database.query, run, [], { end, expectedSteered: 1 }), LostRun);
    assert.deepEqual(await runRows(database), before);
    assert.equal((await after(run, [], { end, expectedSteered: 2 })).run["status"], "done");
  });

  test("append: items stand one behind the other in the run's thread", async () => {
    await database.query("update threads set pending = 3 where id = $1", [run.threadId]);
    const [one, two, three] = [notice("one"), notice("two"), notice("three")] as const;
    const first = await after(run, [one, two]);
    const place = { threadId: run.threadId, runId: run.runId };
    const shown = (items: readonly { seq: number; id: string; parentId: string | null }[]) =>
      items.map(({ seq, id, parentId }) => [seq, id, parentId]);
    assert.deepEqual(shown(first.appended.items), [
      [1, one.id, null],
      [2, two.id, one.id],
    ]);
    for (const item of first.appended.items) assert.deepEqual({ ...item, ...place }, item);
    assert.equal(first.appended.pending, 3);
    assert.deepEqual(
      [first.thread["next_seq"], first.thread["leaf"], first.thread["previous_leaf"]],
      [3, two.id, null],
    );
    assert.ok(isNear(msBetween(first.thread["updated_at"], new Date().toISOString()), 0));

    const second = await after(run, [three]);
    assert.deepEqual(shown(second.appended.items), [[3, three.id, two.id]]);
    assert.deepEqual([second.thread["next_seq"], second.thread["leaf"]], [4, three.id]);
    assert.equal(second.thread["previous_leaf"], two.id);
    const rows = second.rows.items.map((row) => [
      row["seq"],
      row["id"],
      row["parent_id"],
      row["run_id"],
      row["thread_id"],
    ]);
    assert.deepEqual(
      rows.toSorted((a, b) => Number(a[0]) - Number(b[0])),
      [
        [1, one.id, null, run.runId, run.threadId],
        [2, two.id, one.id, run.runId, run.threadId],
        [3, three.id, two.id, run.runId, run.threadId],
      ],
    );

    const without = await after(run, []);
    assert.deepEqual(without.appended, { items: [], pending: 3 });
    assert.deepEqual(without.thread, second.thread);
    assert.deepEqual(without.budget, first.budget);
  });

  test("append: progress forgets earlier crashes, and nothing else does", async () => {
    assert.equal((await after(run, [])).run["takeovers"], 3);
    assert.equal((await after(run, [], { progress: true })).run["takeovers"], 0);
  });

  test("append: a run that ends or waits gives back what it reserved, and its time stands still", async () => {
    const used = { reservation: reserved, tokens: 30, cost: 0.5 };
    const ended = await after(run, [], {
      end: { status: "failed", error: { code: "c", message: "m" } },
      settles: used,
    });
    const { status, error, ended_at, wait_reason, wait_until, retry_at, handed_over } = ended.run;
    assert.deepEqual({ status, error }, { status: "failed", error: { code: "c", message: "m" } });
    assert.deepEqual([wait_reason, wait_until, retry_at, handed_over], [null, null, null, false]);
    assert.ok(isNear(msBetween(ended_at, new Date().toISOString()), 0));
    assert.deepEqual([ended.budget["steps"], ended.budget["tokens"], ended.budget["cost"]], [8, 730, 7.5]);
    assert.deepEqual(Object.keys(ended.budget["unsettled"] as object), [child.runId]);
    assert.ok(isNear(Number(ended.budget["left_ms"]), 30_000));
    assert.equal(ended.budget["deadline"], null);
  });

  test("append: a run that ends is without a wait and, unless it failed, without an error", async () => {
    await database.query(
      "update runs set wait_reason = 'client', wait_until = now(), retry_at = now(), error = '{}' where id = $1",
      [run.runId],
    );
    const { wait_reason, wait_until, retry_at, error } = (await after(run, [], { end: { status: "done" } })).run;
    assert.deepEqual([wait_reason, wait_until, retry_at, error], [null, null, null, null]);
    assert.deepEqual(await database.query("select 1 from runs where error = 'null'"), []);
  });

  test("append: what a step in vain took of the time is given back", async () => {
    const wait = { reason: "provider", maxMs: 60_000 } as const;
    const { budget } = await after(run, [], {
      wait,
      uncounted: { ms: 20_000.4 },
      settles: { reservation: reserved, tokens: 30, cost: 0.5 },
    });
    assert.ok(isNear(Number(budget["left_ms"]), 50_000));
    assert.deepEqual([budget["steps"], budget["tokens"], budget["cost"]], [7, 730, 7.5]);
    // Its time is over, and stays so.
    await database.query("update budgets set deadline = now() - interval '1 hour'");
    await database.query("update runs set status = 'running'");
    assert.equal((await after(run, [], { wait })).budget["left_ms"], 0);
    await database.query("update runs set status = 'running'");
    await database.query("update budgets set left_ms = 77, deadline = null");
    assert.equal((await after(run, [], { wait })).budget["left_ms"], 77);
  });

  test("append: a child run that waits leaves the time of its tree running", async () => {
    const before = rowIn(await runRows(database), "budgets", run.runId);
    const wait = { reason: "client", maxMs: 60_000 } as const;
    const { budget } = await after(child, [], { wait, uncounted: { ms: 1000 } });
    assert.equal(budget["left_ms"], 60_000);
    assert.equal(msBetween(budget["deadline"], before["deadline"]), 1000);
    assert.deepEqual([budget["steps"], budget["tokens"], budget["cost"]], [6, 600, 6]);
    assert.deepEqual(Object.keys(budget["unsettled"] as object), [run.runId]);
  });

  test("append: a run that waits says for what, how long, and when it goes on by itself", async () => {
    const before = new Date().toISOString();
    const waits = await after(run, [], { wait: { reason: "client", maxMs: 60_000 } });
    const { status, wait_reason, wait_until, retry_at, handed_over } = waits.run;
    assert.deepEqual([status, wait_reason, handed_over, retry_at], ["waiting", "client", true, null]);
    assert.ok(isNear(msBetween(wait_until, before), 60_000));

    await database.query("update runs set status = 'running'");
    const retries = await after(run, [], {
      wait: { reason: "provider", maxMs: 60_000, retryAfterMs: 30_000 },
    });
    assert.ok(isNear(msBetween(retries.run["retry_at"], before), 30_000));
  });

  test("append: a step that is over is counted in place of what it reserved, once", async () => {
    const settles = { reservation: reserved, tokens: 30, cost: 0.5 };
    const { budget } = await after(run, [notice("step")], { settles });
    assert.deepEqual([budget["steps"], budget["tokens"], budget["cost"]], [10, 930, 9.5]);
    const unsettled = budget["unsettled"] as Record<string, object>;
    assert.deepEqual(Object.keys(unsettled[run.runId]!), [kept]);
    assert.ok(child.runId in unsettled);
    assert.equal(budget["left_ms"], 60_000);
    assert.notEqual(budget["deadline"], null);
    const uncounted = await after(run, [], { settles: { ...settles, reservation: kept }, uncounted: { ms: 5 } });
    assert.deepEqual([uncounted.budget["steps"], uncounted.budget["tokens"], uncounted.budget["cost"]], [8, 760, 8]);
  });

  test("append: the step that follows is reserved with results, where only the number of steps bounds it", async () => {
    const [next, more] = [newId(), newId()];
    const append = (reservesNext: string) => after(run, [notice("result")], { reservesNext });
    await database.query("update runs set steered = 3 where id = $1", [run.runId]);
    const limited = await append(newId());
    assert.deepEqual([limited.appended.reservedAt, limited.budget["steps"]], [undefined, 10], "tokens are bounded");
    await database.query("update budgets set tokens_max = null where root_run = $1", [run.runId]);
    assert.equal((await append(newId())).appended.reservedAt, undefined, "so is the cost");
    await database.query("update budgets set tokens_max = null, cost_max = null, steps_max = 11");
    const { appended, budget, rows } = await append(next);
    assert.equal(rowIn(rows, "budgets", other.runId)["steps"], 10);
    assert.deepEqual([appended.reservedAt, budget["steps"]], [3, 11]);
    const unsettled = budget["unsettled"] as Record<string, Record<string, unknown>>;
    assert.deepEqual(unsettled[run.runId]![next], { steps: 1, tokens: 0, cost: 0 });
    assert.ok(kept in unsettled[run.runId]! && child.runId in unsettled);
    const last = await append(more);
    assert.deepEqual([last.appended.reservedAt, last.budget["steps"]], [undefined, 11], "no step is left");
    const settled = await after(run, [], { settles: { reservation: next, tokens: 5, cost: 0 } });
    assert.deepEqual([settled.budget["steps"], settled.budget["tokens"]], [11, 1005]);
    await database.query(
      "update budgets set steps_max = 100, deadline = now() - interval '1 second' where root_run = $1",
      [run.runId],
    );
    assert.equal((await append(more)).appended.reservedAt, undefined, "its time is over");
    await database.query("update budgets set deadline = null where root_run = $1", [run.runId]);
    await database.query(
      `insert into spending_budgets (id, kind, user_id, group_name, period, tokens_max, warn_at, on_limit)
       values (gen_random_uuid(), 'user', $1, null, 'day', 1000000, 1, 'refuse')`,
      [run.userId],
    );
    assert.equal((await append(more)).appended.reservedAt, undefined, "an account has a budget");
    await database.query("delete from spending_budgets");
    assert.equal((await append(more)).appended.reservedAt, 3);
  });

  test("append: what a step came to is put in the place of what its account had reserved", async () => {
    for (const items of [[], [notice("step")]]) {
      const hold = newId();
      await database.query(
        `insert into spending_budgets (id, kind, user_id, group_name, period, tokens_max, warn_at, on_limit)
         values (gen_random_uuid(), 'user', $1, null, 'day', 1000000, 1, 'refuse') on conflict do nothing`,
        [run.userId],
      );
      await database.query("select hold_spending($1, $2, $3, 2, null, 500, 5)", [hold, run.userId, run.runId]);
      const spent = { id: hold, tokens: 40, cost: 0.5, requests: 1, isUnpriced: false } as const;
      await after(run, items, { spent });
      assert.deepEqual(await database.query("select 1 from spending_holds"), []);
    }
    const [used] = await database.query("select tokens::integer, cost, requests::integer from spending");
    assert.deepEqual(used, { tokens: 80, cost: 1, requests: 2 });
  });

  test("append: calls of models and signals are written with it", async () => {
    const record = {
      ...{ id: newId(), userId: run.userId, runId: run.runId, step: "1", attempt: 1, asked: "default", model: "m" },
      ...{ provider: "p", startedAt: new Date("2026-01-02T03:04:05Z"), firstPartMs: 1.5, totalMs: 2.5 },
      ...{ inputTokens: 3, outputTokens: 4, finish: "stop" as const, error: null },
    };
    const delivery = { id: newId(), hook: "h", body: { a: 1 } };
    const { rows } = await after(run, [], {
      modelCalls: [
        { ...record, cost: 0.25 },
        { ...record, id: newId() },
      ],
      deliveries: [delivery],
    });
    assert.deepEqual(rows.model_calls.map(({ cost }) => cost).toSorted(), [0.25, null]);
    const { id: _, cost: __, ...written } = rows.model_calls[0]!;
    assert.deepEqual(written, {
      ...{ user_id: run.userId, run_id: run.runId, step: "1", attempt: 1, asked: "default", model: "m", provider: "p" },
      ...{ started_at: "2026-01-02T03:04:05+00:00", first_part_ms: 1.5, total_ms: 2.5, input_tokens: 3 },
      ...{ output_tokens: 4, finish: "stop", error: null },
    });
    const { id, user_id, hook, body } = rows.deliveries[0]!;
    assert.deepEqual({ id, user_id, hook, body }, { ...delivery, user_id: run.userId });
    const empty = await after(run, [], { modelCalls: [], deliveries: [] });
    assert.deepEqual([empty.rows.model_calls.length, empty.rows.deliveries.length], [2, 1]);
  });

  test("append: the live text of the step that is now an item goes, of no other", async () => {
    const { rows } = await after(run, [], { deltasOf: "1" });
    assert.deepEqual(
      rows.deltas.filter((row) => row["run_id"] === run.runId).map(({ step }) => step),
      ["2"],
    );
  });

  const ledgerOf = ({ rows }: { rows: Rows }) =>
    rows.ledger
      .filter((row) => row["run_id"] === run.runId)
      .map(({ step, call_index, status, result, until, ended_at }) => ({
        ...{ of: `${String(step)}.${String(call_index)}`, status, result },
        ...{ isTimed: until !== null, isOver: ended_at !== null },
      }))
      .toSorted((a, b) => (a.of < b.of ? -1 : 1));
  const waiting = { status: "executing", result: { remembered: "it" }, isTimed: true, isOver: false };

  test("append: the outcome of a write is its call's, of no other", async () => {
    const first = { step: "1", index: 0 };
    const done = await after(run, [], { ledger: { ...first, status: "done", result: { content: "ok" } } });
    assert.deepEqual(ledgerOf(done), [
      { of: "1.0", status: "done", result: { content: "ok" }, isTimed: false, isOver: true },
      ...["1.1", "2.0", "2.1"].map((of) => ({ of, ...waiting })),
    ]);
    // What is over stays as it is.
    const again = await after(run, [], { ledger: { ...first, status: "failed", result: { content: "no" } } });
    assert.deepEqual(ledgerOf(again), ledgerOf(done));
  });

  test("append: a write whose outcome is unknown keeps what its tool must know", async () => {
    const ledger = { step: "1", index: 0, status: "unknown", result: null } as const;
    const [row] = ledgerOf(await after(run, [], { ledger }));
    assert.deepEqual(row, { of: "1.0", ...waiting, status: "unknown", isTimed: false });
    // Found out later.
    const found = { ...ledger, status: "failed", result: { content: "no" } } as const;
    const [after2] = ledgerOf(await after(run, [], { ledger: found }));
    assert.deepEqual(after2, { of: "1.0", status: "failed", result: { content: "no" }, isTimed: false, isOver: true });
  });

  test("append: a write that was not done has no row any more, unless it is known what became of it", async () => {
    const ledger = { step: "1", index: 0, status: "withdrawn", result: null } as const;
    const left = ledgerOf(await after(run, [], { ledger }));
    assert.deepEqual(
      left,
      ["1.1", "2.0", "2.1"].map((of) => ({ of, ...waiting })),
    );
    await database.query("update ledger set status = 'done' where run_id = $1", [run.runId]);
    assert.equal(ledgerOf(await after(run, [], { ledger: { ...ledger, step: "2" } })).length, 3);
  });

  test("append: a write that is done with its own result gets its row with it", async () => {
    const entry = { userId: run.userId, tool: "w", key: newId(), argumentsHash: "h" };
    const result = { content: "made" };
    const { rows } = await after(run, [call("3", 0)], {
      ledger: { step: "3", index: 0, status: "done", result, entry },
    });
    const { ended_at, created_at: _, ...row } = rows.ledger.find(({ tool }) => tool === "w")!;
    assert.notEqual(ended_at, null);
    assert.deepEqual(row, {
      ...{ run_id: run.runId, step: "3", call_index: 0, user_id: run.userId, tool: "w", status: "done" },
      ...{ key: entry.key, arguments_hash: "h", until: null, result },
    });
  });
});

type Row = Readonly<Record<string, unknown>>;
