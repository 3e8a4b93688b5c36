import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { skipDatabase } from "../test/left-out.ts";
import { startPostgres } from "../test/postgres.ts";
import { countedSettings, startPostgresMeter } from "./postgres-meter.ts";

test(
  "the meter counts what PostgreSQL did, also for a connection that has ended",
  { skip: skipDatabase("postgres") },
  async (t) => {
    const postgres = await startPostgres({ settings: countedSettings });
    const meter = await startPostgresMeter(postgres.url);
    t.after(async () => {
      await meter.stop();
      await postgres.stop();
    });

    const before = await meter.read();
    const client = new pg.Client(await postgres.createDatabase());
    await client.connect();
    await client.query("create table things (body text)");
    for (let thing = 0; thing < 20; thing++) await client.query("insert into things values ($1)", ["x".repeat(1000)]);
    await client.query(
      "create function twice() returns void language sql as $$insert into things values ('a'); insert into things values ('b')$$",
    );
    await client.query("select twice()");
    await client.query("select sum(sqrt(n)) from generate_series(1, 2000000) as s(n)");
    const working = await meter.read();
    assert.equal(await meter.calls("^insert into things"), 20 + 2);
    assert.ok(working.walBytes - before.walBytes > 20_000, `${working.walBytes - before.walBytes} bytes of WAL`);
    assert.ok(working.statements - before.statements >= 20 + 2 + 4);
    const used = working.cpuMs - before.cpuMs;
    assert.ok(used > 20, `${used} ms`);

    await client.end();
    while ((await sessions(postgres.url)) > 0);
    const after = await meter.read();
    // What has ended is told in ticks.
    assert.ok(after.cpuMs - before.cpuMs > used - 20, `${after.cpuMs - before.cpuMs} of ${used} ms`);
  },
);

/** Of other databases than ours. */
async function sessions(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query("select from pg_stat_activity where datname like 'test_%'");
  await client.end();
  return rows.length;
}
