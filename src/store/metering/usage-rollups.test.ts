import assert from "node:assert/strict";
import { before, test } from "node:test";
import { usageGroups } from "../../protocol/people/overview.ts";
import { newId } from "../../protocol/base/ids.ts";
import { anyDatabase } from "../../../test/databases.ts";
import type { Database } from "../driver/database.ts";
import { createUser } from "../people/users.ts";
import { rollUpUsage, rolledTo } from "./usage-rollups.ts";
import { readModelHealth, readUsage } from "./usage.ts";

const hourMs = 3_600_000;

anyDatabase((databases) => {
  let database: Database;
  const users: string[] = [];
  const runs = Array.from({ length: 40 }, () => newId());

  /** Calls over ten days, several of each run, of two models; the last ones a moment ago. */
  async function logCalls(count: number, until: number): Promise<void> {
    for (let at = 0; at < count; at++)
      await database.query(
        `insert into model_calls (id, user_id, run_id, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, error)
         values ($1, $2, $3, 'm', $4, 'test', $5, $6, $7, 10, 2, 0.5, $8)`,
        [
          ...[newId(), users[at % 2], runs[at % runs.length], at % 3 === 0 ? "small" : "large"],
          ...[
            new Date(until - at * 2.1 * hourMs),
            100 + at,
            1000 + at * 10,
            at % 10 === 3 ? "model_unavailable" : null,
          ],
        ],
      );
  }

  before(async () => {
    database = await databases.open();
    for (const name of ["ada", "ben"]) users.push((await createUser(database.query, { name, role: "user" })).id);
    await logCalls(110, Date.now() - 60_000);
  });

  test("use is told the same from what was counted as from the log, whatever it is asked by", async () => {
    const { query } = database;
    const to = new Date();
    // In the midst of an hour.
    const from = new Date(to.getTime() - 8.01 * 24 * hourMs);
    const filters = [{}, { userId: users[0] }, { model: "small" }, { userId: users[1], model: "large" }];
    const asked = usageGroups.flatMap((by) => filters.map((filter) => ({ by, from, to, ...filter })));
    const told = () => Promise.all(asked.map((filter) => readUsage(query, filter)));
    const sure = (usages: Awaited<ReturnType<typeof readUsage>>) =>
      usages.map(({ key, requests, errors, inputTokens, outputTokens, cost }) => ({
        ...{ key, requests, errors, inputTokens, outputTokens, cost },
      }));
    const before = await told();
    assert.equal(await rolledTo(query), undefined);
    await rollUpUsage(database);
    const last = async () => (await readModelHealth(query)).map(({ requests: _, errors: __, ...model }) => model);
    const health = await last();
    const after = await told();
    for (const [at, usages] of after.entries()) {
      assert.deepEqual(sure(usages), sure(before[at]!), JSON.stringify(asked[at]));
      for (const [place, { totalP50 }] of usages.entries())
        assert.ok(Math.abs(totalP50! / before[at]![place]!.totalP50! - 1) < 0.15, JSON.stringify(asked[at]));
    }
    const [counted] = await query<{ count: number }>("select count(*) as count from usage_rollups");
    assert.ok(counted!.count > 100);
    await query("delete from meta where key = 'usage_rolled_to'");
    assert.deepEqual(await last(), health);
    await rollUpUsage(database);
  });

  test("a run counts once, where it began, and once for each model", async () => {
    const [from, to] = [new Date(Date.now() - 20 * 24 * hourMs), new Date()];
    const runsBy = async (by: "day" | "agent" | "model") =>
      (await readUsage(database.query, { by, from, to })).reduce((sum, usage) => sum + usage.runs, 0);
    assert.equal(await runsBy("day"), runs.length);
    assert.equal(await runsBy("agent"), runs.length);
    assert.ok((await runsBy("model")) > runs.length);
  });

  test("what is logged late is counted with the next hour, and nothing twice", async () => {
    const { query } = database;
    const requests = async () => {
      const [from, to] = [new Date(Date.now() - 30 * 24 * hourMs), new Date()];
      return (await readUsage(query, { by: "day", from, to })).reduce((sum, usage) => sum + usage.requests, 0);
    };
    assert.equal(await requests(), 110);
    const rolled = (await rolledTo(query))!.getTime();
    await logCalls(1, rolled - 2 * hourMs);
    // As if the last time had been an hour ago.
    await query("update meta set value = $1 where key = 'usage_rolled_to'", [new Date(rolled - hourMs).toISOString()]);
    await rollUpUsage(database);
    assert.equal(await requests(), 111);
    await rollUpUsage(database);
    assert.equal(await requests(), 111);
  });

  test("of days that the log no longer has nothing is told", async () => {
    const { query } = database;
    await query("delete from model_calls where started_at < now() - interval '3 days'");
    await query("update meta set value = (value::timestamptz - interval '1 hour')::text where key = 'usage_rolled_to'");
    await rollUpUsage(database);
    const [first] = await query<{ days: number }>(
      "select extract(epoch from now() - min(starts_at)) / 86400 as days from usage_rollups",
    );
    assert.ok(first!.days < 4.1, String(first!.days));
  });

  test("what named conversations counts as titles among agents", async () => {
    const { query } = database;
    await query("delete from model_calls");
    for (const step of ["title", null])
      await query(
        `insert into model_calls (id, user_id, step, asked, model, provider, started_at, total_ms) values ($1, $2, $3, 'm', 'm', 'test', $4, 20)`,
        [newId(), users[0], step, new Date(Date.now() - 2 * hourMs)],
      );
    const range = { from: new Date(Date.now() - 24 * hourMs), to: new Date() };
    const told = async () =>
      (await readUsage(query, { by: "agent", ...range })).map(({ key, requests }) => [key, requests]);
    await query("delete from meta where key = 'usage_rolled_to'");
    const agents = [
      ["", 1],
      ["titles", 1],
    ];
    assert.deepEqual(await told(), agents);
    await query("delete from usage_rollups");
    await rollUpUsage(database);
    assert.deepEqual(await told(), agents);
  });
});
