import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { anyDatabase } from "../../../test/databases.ts";
import { insertUser } from "../../../test/run-rows.ts";
import { until } from "../../../test/run-suite.ts";
import type { Model, ModelCallRecord, ModelPart, ModelRequest } from "../../protocol/agents/models.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { type Log, silentLog } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import { createRequestReservations } from "./reserve-spending.ts";

const model = { id: "m", contextTokens: 8000 } as Model;
const costOf = () => 0.5;
const request = (more: object = {}) =>
  ({ messages: [{ role: "user", content: "x".repeat(40) }], settings: { maxTokens: 50 }, ...more }) as ModelRequest;

anyDatabase((databases) => {
  let database: Database;
  let userId: string;
  let asked = 0;
  const query = ((...given: Parameters<Query>) => {
    asked++;
    return database.query(...given);
  }) as Query;

  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    for (const table of ["spending_budgets", "spending", "spending_holds"])
      await database.query(`delete from ${table}`);
    userId = await insertUser(database);
  });

  const limit = (tokens: number, warnAt = 1) =>
    database.query(
      `insert into spending_budgets (id, kind, user_id, period, tokens_max, warn_at, on_limit)
       values (gen_random_uuid(), 'user', $1, 'day', $2, $3, 'refuse')`,
      [userId, tokens, warnAt],
    );
  const create = (log: Log = silentLog, runsJobs = false, asks = query) =>
    createRequestReservations({ query: asks, costOf, log, runsJobs });
  const held = () =>
    database.query("select tokens::integer, cost, user_id, until > now() as lasts from spending_holds");
  const used = async () => {
    await until(async () => (await held()).length === 0, "the settlement");
    return (await database.query("select tokens::integer, cost, requests::integer from spending"))[0];
  };

  test("requests: without a budget nothing is asked, as soon as that is known", async () => {
    const holds = create();
    assert.notEqual(holds.begin(userId, model, request()), undefined, "until it is known there may be some");
    await holds.changed();
    asked = 0;
    assert.equal(holds.begin(userId, model, request()), undefined);
    assert.equal(asked, 0);
    await limit(1000);
    await holds.changed();
    assert.notEqual(await holds.begin(userId, model, request()), undefined);
    holds.close();
  });

  test("requests: it looks at once whether there are budgets, and keeps what it knew while it can't tell", async () => {
    const answers = [Promise.resolve([{ isLimited: false }]), Promise.reject(new Error("gone"))];
    void answers[1]!.catch(() => {});
    const holds = create(silentLog, false, (() => answers.shift()) as unknown as Query);
    assert.equal(answers.length, 1);
    await setImmediate();
    await holds.changed();
    assert.equal(holds.begin(userId, model, request()), undefined);
  });

  test("requests: a process that works for long looks again and again", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    asked = 0;
    const [once, often] = [create(), create(silentLog, true)];
    assert.equal(asked, 2);
    context.mock.timers.tick(5000);
    assert.equal(asked, 3);
    often.close();
    context.mock.timers.tick(5000);
    assert.equal(asked, 3);
    once.close();
  });

  test("requests: what one may come to is held, and what it came to is counted instead", async () => {
    await limit(10_000);
    const holds = create();
    const one = (await holds.begin(userId, model, request()))!;
    assert.equal(one.isNear, false);
    assert.deepEqual(await held(), [{ tokens: 60, cost: 0.5, user_id: userId, lasts: true }]);
    const parts = ["text", "reasoning"].map((type) => ({ type, text: "y".repeat(40) }));
    one.read([
      ...parts,
      { type: "call-delta", arguments: "z".repeat(40) },
      { type: "finish" },
    ] as unknown as ModelPart[]);
    one.end();
    assert.deepEqual(await used(), { tokens: 40, cost: 0.5, requests: 1 });

    const tools = [{ name: "t", description: "", parameters: {} }];
    const two = (await holds.begin(userId, model, request({ tools, settings: undefined })))!;
    const [{ tokens }] = (await held()) as [{ tokens: number }];
    assert.equal(tokens, 10 + Math.ceil(JSON.stringify(tools[0]).length / 4) + 2000);
    two.record({ model: "m", inputTokens: 3, outputTokens: 4 } as unknown as ModelCallRecord);
    two.end();
    assert.deepEqual(await used(), { tokens: 47, cost: 1, requests: 2 });
  });

  test("requests: one that a budget has no room for is refused, and other faults are thrown as they are", async () => {
    await limit(59);
    await assert.rejects(create().begin(userId, model, request())!, { code: "budget_reached", status: 429 });
    const fault = new Error("gone");
    const broken = create(silentLog, false, (() => Promise.reject(fault)) as Query);
    await assert.rejects(broken.begin(userId, model, request())!, (error) => error === fault);
  });

  test("requests: a budget that comes near its end is told of, once", async () => {
    const told: unknown[] = [];
    const log = { ...silentLog, warn: (...given: unknown[]) => void told.push(given[0]) } as Log;
    await limit(1000, 0.03);
    const holds = create(log);
    const first = (await holds.begin(userId, model, request()))!;
    first.read([{ type: "text", text: "y".repeat(400) } as ModelPart]);
    first.end();
    await used();
    assert.deepEqual([first.isNear, told.length], [false, 0]);
    for (let count = 0; count < 2; count++) assert.equal((await holds.begin(userId, model, request()))!.isNear, true);
    assert.deepEqual(told, [{ userId }]);
  });

  test("requests: where nothing limits the account nothing is settled", async () => {
    const one = (await create().begin(userId, model, request()))!;
    assert.equal(one.isNear, false);
    asked = 0;
    one.end();
    assert.equal(asked, 0);
  });
});
