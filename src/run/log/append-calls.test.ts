import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { assertHeld, insertRun, insertUser, rowIn, type RunRows, runRows } from "../../../test/run-rows.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Database } from "../../store/driver/database.ts";
import { reserve } from "../limits/limits.ts";
import { append, type AppendExtras } from "./append.ts";

const call = (step: string, index: number): NewItem => ({
  ...{ id: newId(), kind: "call", step, index },
  body: { name: "t", arguments: "{}", target: "server" },
});
const resultOf = (step: string, index: number): NewItem => ({
  ...{ id: newId(), kind: "result", step, index },
  body: { content: "ok" },
});

eachDatabase((databases) => {
  let database: Database;
  let run: RunRows;

  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    await database.query("delete from threads");
    run = await insertRun(database, { userId: await insertUser(database) });
  });

  async function after(step: string, extras: AppendExtras) {
    const appended = await append(database.query, run, [call(step, 0), call(step, 1)], extras);
    return { appended, budget: rowIn(await runRows(database), "budgets", run.runId) };
  }

  test("append: calls are counted with the answer that asks for them, where only their number bounds them, and once", async () => {
    const append = (step: string, calls = 2) => after(step, { countsCalls: { step, calls } });
    const set = (columns: string) => database.query(`update budgets set ${columns} where root_run = $1`, [run.runId]);
    const none = [undefined, 10, {}];
    const told = ({ appended, budget }: Awaited<ReturnType<typeof append>>) => [
      appended.callsCounted,
      budget["calls"],
      budget["reserved"],
    ];
    assert.deepEqual(told(await append("a")), none, "tokens are bounded");
    await set("tokens_max = null");
    assert.deepEqual(told(await append("b")), none, "so is the cost");
    await set("cost_max = null, deadline = now() - interval '1 second'");
    assert.deepEqual(told(await append("c")), none, "its time is over");
    await set("deadline = null, steps = 101");
    assert.deepEqual(told(await append("d")), none, "too many steps were made");
    await set("steps = 100, calls_max = 11");
    assert.deepEqual(told(await append("e")), none, "one is too many");
    await set("calls_max = 12");
    assert.deepEqual(told(await append("f")), [true, 12, { [run.runId]: "calls f" }]);
    const { appended } = await after("none", {});
    assert.equal(appended.callsCounted, undefined);

    // Writes are counted when they are made, and a call by nobody once more.
    await set("calls_max = 100");
    await reserve(database.query, run, { calls: 2, writes: 1, callsOf: "f" });
    const [budget] = await database.query("select calls, writes from budgets where root_run = $1", [run.runId]);
    assert.deepEqual(budget, { calls: 12, writes: 11 });
    await reserve(database.query, run, { calls: 2, writes: 1, callsOf: "f" });
    assert.deepEqual((await database.query("select writes from budgets where root_run = $1", [run.runId]))[0], {
      writes: 11,
    });

    const step = { id: newId(), tokens: 100, cost: 0 };
    await reserve(database.query, run, { tokens: 100, expected: step });
    const settles = { reservation: step.id, tokens: 30, cost: 0 };
    const both = await after("g", { settles, countsCalls: { step: "g", calls: 1 } });
    assert.deepEqual([both.budget["calls"], both.budget["tokens"], both.appended.callsCounted], [13, 1030, true]);
  });

  if (databases.kind === "postgres")
    test("append: the end of a run reads its own calls and results, though it was planned when there were few", async () => {
      // Of its own, so that nobody has counted its rows yet.
      const young = await databases.open();
      const userId = await insertUser(young);
      const [first, ...runs] = await Promise.all(Array.from({ length: 8 }, () => insertRun(young, { userId })));
      await young.transaction(async (query) => {
        const rowsRead = async () =>
          (
            await query<{ rows: number }>(
              "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as rows from pg_stat_xact_user_tables where relname = 'items'",
            )
          )[0]!.rows;
        for (const ending of runs) await append(query, ending, [], { end: { status: "done" } });
        await query(
          `insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, body)
           select $1, 100 + 2 * n + k, gen_random_uuid(), $2, $3, (array['call', 'result'])[k], n::text, 0, '{"name": "t", "arguments": "{}"}'
           from generate_series(1, 2000) n, generate_series(1, 2) k`,
          [runs[0]!.threadId, userId, runs[0]!.runId],
        );
        await append(query, first!, [call("1", 0), resultOf("1", 0)]);
        const before = await rowsRead();
        await append(query, first!, [], { end: { status: "done" } });
        assert.ok((await rowsRead()) - before < 20);
      });
      await young.close();
    });

  if (databases.kind === "postgres")
    test("append: nobody takes the run before what is written of it is committed", async () => {
      await database.transaction(async (query) => {
        await append(query, run, [call("1", 0)]);
        await assertHeld(database, run);
      });
    });
});
