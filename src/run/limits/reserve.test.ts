import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { assertHeld, insertRun, insertUser, rowIn, type RunRows, runRows } from "../../../test/run-rows.ts";
import type { Limits } from "../../protocol/agents/agents.ts";
import { ColloquyError, Conflict, LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Item } from "../../protocol/threads/items.ts";
import type { Database } from "../../store/driver/database.ts";
import { BudgetExceeded, checkOwnLimits, extendLimit, limitOf, limitReached, reserve, roomLeft } from "./limits.ts";

const kinds = ["steps", "calls", "writes", "tokens", "cost"] as const;

eachDatabase((databases) => {
  let database: Database;
  let run: RunRows;
  let others: readonly RunRows[];

  before(async () => void (database = await databases.open()));

  beforeEach(async () => {
    for (const table of ["threads", "spending_budgets", "spending", "spending_holds"])
      await database.query(`delete from ${table}`);
    const first = await insertRun(database, { userId: await insertUser(database) });
    run = await insertRun(database, { userId: await insertUser(database) });
    others = [first, await insertRun(database, { userId: await insertUser(database) })];
    await database.query("update runs set steered = 5 where id = $1", [run.runId]);
  });

  const budgetOf = async ({ runId } = run) => rowIn(await runRows(database), "budgets", runId);
  const usedOf = async (of = run) => {
    const budget = await budgetOf(of);
    return kinds.map((kind) => budget[kind]);
  };
  const set = (columns: string) => database.query(`update budgets set ${columns} where root_run = $1`, [run.runId]);
  const expected = (tokens = 7, cost = 0.5) => ({ id: newId(), tokens, cost });

  test("reserve: takes from the budget of the run's tree, from no other", async () => {
    const child = await insertRun(database, { userId: run.userId, parent: run });
    const before = await Promise.all(others.map(budgetOf));
    const [one, two, three] = [expected(), expected(), expected()];
    const reserved = await reserve(database.query, run, {
      ...{ steps: 1, calls: 2, writes: 3, tokens: 4, cost: 5, callsOf: "1", expected: one },
    });
    assert.deepEqual(reserved, { steered: 5, held: null });
    assert.deepEqual(await usedOf(), [11, 12, 13, 1004, 15]);
    const first = await budgetOf();
    const use = { steps: 1, tokens: 4, cost: 5 };
    assert.deepEqual(first["reserved"], { [run.runId]: "1" });
    assert.deepEqual(first["unsettled"], { [run.runId]: { [one.id]: use } });

    await reserve(database.query, run, { steps: 1, tokens: 4, cost: 5, expected: two });
    await reserve(database.query, child, { steps: 1, tokens: 4, cost: 5, expected: three });
    const second = await budgetOf();
    assert.deepEqual(second["unsettled"], {
      [run.runId]: { [one.id]: use, [two.id]: use },
      [child.runId]: { [three.id]: use },
    });
    assert.deepEqual(second["reserved"], { [run.runId]: "1" });
    assert.deepEqual(await Promise.all(others.map(budgetOf)), before);
  });

  test("reserve: the calls of a step are taken once, those of the next anew", async () => {
    const take = async (callsOf?: string) => {
      await reserve(database.query, run, { calls: 2, writes: 1, ...(callsOf === undefined ? {} : { callsOf }) });
      const { calls, writes, unsettled, reserved } = await budgetOf();
      assert.deepEqual(unsettled, {});
      return [calls, writes, Object.values(reserved as object)[0]];
    };
    assert.deepEqual(await take("1"), [12, 11, "1"]);
    assert.deepEqual(await take("1"), [12, 11, "1"]);
    assert.deepEqual(await take("2"), [14, 12, "2"]);
    assert.deepEqual(await take(), [16, 13, "2"]);
  });

  test("reserve: takes up to a limit, and what would go beyond it takes nothing of anything", async () => {
    const names = { steps: "steps", calls: "tool_calls", writes: "writes", tokens: "tokens", cost: "cost" };
    const words = { steps: "100 steps are", calls: "100 tool calls are", writes: "100 writes are" };
    const told = { ...words, tokens: "10000 tokens are", cost: "the cost of 100 is" };
    // All are where they may be at most, so each is asked about by itself.
    await set(kinds.map((kind) => `${kind} = ${kind}_max`).join(", "));
    for (const kind of kinds) {
      const before = await budgetOf();
      const message = `The run reached its limit: ${told[kind]} used up.`;
      const refused = { code: `limit_${names[kind]}`, status: 422, message };
      for (const callsOf of [{}, { callsOf: "1" }])
        await assert.rejects(reserve(database.query, run, { [kind]: 1, ...callsOf }), refused);
      assert.deepEqual(await budgetOf(), before);
      await set(`${kind} = ${kind}_max - 1`);
      await reserve(database.query, run, { [kind]: 1 });
      assert.deepEqual(await usedOf(), [100, 100, 100, 10000, 100]);
      // More at once than are left.
      await set(`${kind} = ${kind}_max - 1`);
      await assert.rejects(reserve(database.query, run, { [kind]: 2 }), refused);
      await set(`${kind} = ${kind}_max`);
    }
    await set("steps_max = 1, steps = 1");
    await assert.rejects(reserve(database.query, run, { steps: 1 }), { message: /: 1 step is used up/ });
  });

  test("reserve: without a limit of tokens or cost they are counted", async () => {
    await set("tokens_max = null, cost_max = null");
    await reserve(database.query, run, { tokens: 1e6, cost: 1e6 });
    assert.deepEqual((await usedOf()).slice(3), [1_001_000, 1_000_010]);
    await set("cost_max = 1");
    await assert.rejects(reserve(database.query, run, { tokens: 1, cost: 1 }), { code: "limit_cost" });
    await set("tokens_max = 1, cost_max = null");
    await assert.rejects(reserve(database.query, run, { tokens: 1, cost: 1 }), { code: "limit_tokens" });
  });

  test("reserve: nothing is taken when the time is up, and a run without a deadline has time", async () => {
    await set("deadline = now() - interval '1 second'");
    const message = "The run reached its limit: its time is used up.";
    await assert.rejects(reserve(database.query, run, { steps: 1 }), { code: "limit_deadline", message });
    assert.deepEqual(await usedOf(), [10, 10, 10, 1000, 10]);
    await set("deadline = null");
    await reserve(database.query, run, { steps: 1 });
    await assert.rejects(reserve(database.query, run, { steps: 100 }), { code: "limit_steps" });
  });

  test("reserve: nothing is taken by an epoch that is not the run's, or while it does not run", async () => {
    const stale: readonly [RunRows, string][] = [
      [{ ...run, epoch: 1 }, "running"],
      [{ ...run, epoch: 3 }, "running"],
      [run, "waiting"],
      [run, "done"],
      [{ ...run, runId: newId() }, "running"],
    ];
    for (const [owner, status] of stale) {
      await database.query("update runs set status = $2 where id = $1", [run.runId, status]);
      const before = await runRows(database);
      for (const steps of [1, 1000]) await assert.rejects(reserve(database.query, owner, { steps }), LostRun);
      await assert.rejects(roomLeft(database.query, owner, "1"), LostRun);
      assert.deepEqual(await runRows(database), before);
    }
  });

  test("reserve: how many calls and writes are left is the tree's", async () => {
    await set("calls = 40, writes = 70");
    assert.deepEqual(await roomLeft(database.query, run, "1"), { calls: 60, writes: 30 });
  });

  const limitSpending = (onLimit: string) =>
    database.query(
      `insert into spending_budgets (id, kind, user_id, period, tokens_max, warn_at, on_limit)
       values (gen_random_uuid(), 'user', $1, 'day', 100, 1, $2)`,
      [run.userId, onLimit],
    );

  test("reserve: what its account may spend is held too, or nothing is taken", async () => {
    await limitSpending("refuse");
    const held = expected(60, 0.5);
    assert.deepEqual(await reserve(database.query, run, { steps: 1, expected: held }), { steered: 5, held: {} });
    assert.deepEqual(
      await database.query("select id, user_id, run_id, epoch, tokens::integer, cost from spending_holds"),
      [{ id: held.id, user_id: run.userId, run_id: run.runId, epoch: 2, tokens: 60, cost: 0.5 }],
    );
    assert.deepEqual(await reserve(database.query, run, { calls: 1 }), { steered: 5, held: null });
    const before = await budgetOf();
    const more = { steps: 1, expected: expected(60) };
    await assert.rejects(reserve(database.query, run, more), { code: "budget_reached", status: 429 });
    await database.query("update spending_budgets set on_limit = 'wait'");
    await assert.rejects(reserve(database.query, run, more), (error) => {
      assert.ok(error instanceof BudgetExceeded);
      assert.deepEqual([error.expected, error.code, error.status], [more.expected, "limit_budget", 422]);
      assert.match(error.message, /100 tokens/);
      return true;
    });
    assert.deepEqual(await budgetOf(), before);
  });

  test("reserve: a fault of the database is thrown as it is", async () => {
    const fault = new Error("gone");
    await assert.rejects(
      reserve(() => Promise.reject(fault), run, { steps: 1 }),
      (error) => error === fault,
    );
  });

  if (databases.kind === "postgres")
    test("reserve: nobody takes the run while it is being written", async () => {
      await database.transaction(async (query) => {
        await reserve(query, run, { steps: 1 });
        await assertHeld(database, run);
      });
    });

  const limits = {
    ...{ steps: 11, toolCalls: 12, writes: 0, tokens: 14, cost: 15.5, deadlineSeconds: 1.6 },
    ...{ repeatedCall: 3, onLimit: "pause" },
  } as Limits;

  test("continue: as much again of the limit that was reached, of this tree alone", async () => {
    const before = await Promise.all(others.map(budgetOf));
    const of = { rootRun: run.runId, userId: run.userId, limits };
    for (const [limit, changed] of Object.entries({
      ...{ steps: { steps_max: 111 }, tool_calls: { calls_max: 112 }, writes: { writes_max: 101 } },
      ...{ tokens: { tokens_max: 10_014 }, cost: { cost_max: 115.5 }, deadline: { left_ms: 61_600 } },
      ...{ repeated_call: {}, budget: {} },
    })) {
      const was = await budgetOf();
      await extendLimit(database.query, of, { limit });
      assert.deepEqual(await budgetOf(), { ...was, ...changed }, limit);
    }
    const { tokens: _, cost: __, ...unlimited } = limits;
    const was = await budgetOf();
    for (const limit of ["tokens", "cost"])
      await extendLimit(database.query, { ...of, limits: { ...unlimited, writes: 2 } as Limits }, { limit });
    assert.deepEqual(await budgetOf(), was);
    assert.deepEqual(await Promise.all(others.map(budgetOf)), before);
  });

  test("continue: not while an account has spent what it may", async () => {
    await limitSpending("wait");
    const of = { rootRun: run.runId, userId: run.userId, limits };
    const was = await budgetOf();
    await extendLimit(database.query, of, { limit: "budget", state: { tokens: 100 } });
    await extendLimit(database.query, of, { limit: "budget" });
    await assert.rejects(extendLimit(database.query, of, { limit: "budget", state: { tokens: 101 } }), {
      code: "budget_reached",
    });
    assert.deepEqual(await budgetOf(), was);
  });
});

test("limits: what a limit was reached for is told by its error", () => {
  assert.equal(limitOf(limitReached("tool_calls", "x")), "tool_calls");
  assert.equal(limitOf(new ColloquyError("limit_budget", 422, "x")), "budget");
  assert.equal(limitOf(new Conflict("x", { code: "other" })), undefined);
  assert.equal(limitOf(Object.assign(new Error("x"), { code: "limit_steps" })), undefined);
  assert.equal(limitOf(new Error("x")), undefined);
});

test("limits: a delegated agent's own are counted in its items", () => {
  const item = (kind: string, step: string | null) => ({ kind, step }) as Item;
  const items = [item("message", null), item("message", "1"), item("call", "1"), item("result", "1")];
  const reached = (limits: Partial<Limits>, more: { steps?: number; calls?: number }) => {
    try {
      checkOwnLimits(items, limits, more);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof ColloquyError);
      assert.equal(error.code, "own_limit");
      return /: (.*)\.$/.exec(error.message)![1];
    }
  };
  assert.equal(reached({ steps: 1 }, { steps: 1 }), "1 steps");
  assert.equal(reached({ steps: 2 }, { steps: 1 }), undefined);
  assert.equal(reached({ steps: 2 }, { steps: 2 }), "2 steps");
  assert.equal(reached({ steps: 0 }, { calls: 1 }), undefined);
  assert.equal(reached({ toolCalls: 0 }, { calls: 1 }), "0 tool calls", "those to be made are items already");
  assert.equal(reached({ toolCalls: 1 }, { calls: 5 }), undefined);
  assert.equal(reached({ toolCalls: 0 }, { steps: 1 }), undefined);
  assert.equal(reached({}, { steps: 99, calls: 99 }), undefined);
});
