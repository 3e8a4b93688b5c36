import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freshDataDirectory, temporaryFolder } from "../../../test/pglite.ts";
import { migrate } from "../schema/migrate.ts";
import { readHolder } from "./lock.ts";
import { openDatabase, keepUp } from "./open.ts";
import { openPGlite } from "./pglite.ts";

describe("PGlite", () => {
  test("every commit reaches the disk", async (context) => {
    const database = await openPGlite({ directory: join(await freshDataDirectory({ migrated: false }), "db") });
    context.after(database.close);
    await database.query("create table t (id integer)");
    const before = database.syncs();
    for (let id = 0; id < 20; id++) await database.query("insert into t values ($1)", [id]);
    assert.ok(database.syncs() - before >= 20, `${database.syncs() - before} fsyncs for 20 commits`);
    const written = database.syncs();
    await database.query("select * from t");
    assert.equal(database.syncs(), written, "reading syncs nothing");
  });

  test("what else is asked for in a transaction waits for its end", async (context) => {
    const database = await openPGlite({ directory: join(await freshDataDirectory({ migrated: false }), "db") });
    context.after(database.close);
    let answered = false;
    const outer = await database.transaction(async (query) => {
      const waiting = database.query("select 1 as one").finally(() => (answered = true));
      await query("select 1");
      await query("select 1");
      assert.equal(answered, false);
      return { waiting };
    });
    assert.deepEqual(await outer.waiting, [{ one: 1 }]);
  });

  test("its upkeep vacuums and analyses what has changed, once", async (context) => {
    const database = await openPGlite({ directory: join(await freshDataDirectory({ migrated: false }), "db") });
    context.after(database.close);
    await database.script(
      'create schema other; create table other."T 1" (id integer); create table still (id integer)',
    );
    await database.script(
      'insert into other."T 1" select generate_series(1, 1000); delete from other."T 1" where id > 500',
    );
    // Counted at most once a second.
    const changes = () => database.query("select from pg_stat_user_tables where n_dead_tup = 500");
    while ((await changes()).length === 0) await delay(50);
    assert.deepEqual(await keepUp(database), ['other."T 1"']);
    assert.deepEqual(await keepUp(database), []);
    assert.deepEqual(await database.query("select reltuples::integer from pg_class where relname = 'T 1'"), [
      { reltuples: 500 },
    ]);
  });

  test("when it fails for good, what waits and what comes later is told so", async (context) => {
    const directory = join(await freshDataDirectory({ migrated: false }), "db");
    const database = await openPGlite({ directory });
    context.after(database.close);
    await database.query("create table t (id integer)");
    rmSync(join(directory, "pg_wal"), { recursive: true });
    // The next segment of the log can't be made: PostgreSQL panics.
    const calls = [
      database.script("select pg_switch_wal(); create table u (id integer); select pg_switch_wal()"),
      database.query("insert into t values (1)"),
      database.transaction((query) => query("insert into t values (2)")),
    ];
    for (const result of await Promise.allSettled(calls)) {
      assert.equal(result.status, "rejected");
      assert.equal(result.reason.code, "database_failed");
    }
    await assert.rejects(database.query("select 1"), { code: "database_failed", status: 503, message: /pg_wal/ });
    await assert.rejects(
      database.transaction(async () => {}),
      { code: "database_failed" },
    );
  });

  test("a first start that was cut off is made anew", async (context) => {
    const dataDirectory = temporaryFolder("data");
    mkdirSync(join(dataDirectory, "db.new", "base"), { recursive: true });
    writeFileSync(join(dataDirectory, "db.new", "PG_VERSION"), "half");
    const steps: string[] = [];
    const database = await openDatabase({ dataDirectory, onStep: (text) => steps.push(text) });
    context.after(database.close);
    assert.deepEqual(steps, ["creating the database (first start, a few seconds)"]);
    assert.deepEqual(await database.query("select 1 as one"), [{ one: 1 }]);
    assert.equal(existsSync(join(dataDirectory, "db.new")), false);
  });

  test("a new database begins with what is prepared, which stays as it was and lends nobody its modes", async (context) => {
    const prepared = join(await freshDataDirectory(), "db");
    for (const entry of readdirSync(prepared, { recursive: true, withFileTypes: true }))
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
    const dataDirectory = temporaryFolder("data");
    const database = await openDatabase({ dataDirectory, prepared: () => prepared });
    context.after(database.close);
    assert.deepEqual(await migrate(database), []);
    await database.query("insert into meta (key, value) values ('mine', 'x')");
    await database.close();
    for (const entry of readdirSync(join(dataDirectory, "db"), { recursive: true, withFileTypes: true }))
      assert.equal(statSync(join(entry.parentPath, entry.name)).mode & 0o077, 0, entry.name);

    const other = await openDatabase({ dataDirectory: temporaryFolder("data"), prepared: () => prepared });
    context.after(other.close);
    assert.deepEqual(await other.query("select from meta"), []);
    const again = await openDatabase({ dataDirectory, prepared: () => assert.fail("it is there already") });
    context.after(again.close);
    assert.equal((await again.query("select from meta where key = 'mine'")).length, 1);
  });

  test("without what was to be prepared, a new database is empty", async (context) => {
    const dataDirectory = temporaryFolder("data");
    const database = await openDatabase({ dataDirectory, prepared: () => join(dataDirectory, "nothing") });
    context.after(database.close);
    assert.deepEqual(await database.query("select to_regclass('meta') as meta"), [{ meta: null }]);
  });

  test("a second process is refused; kill -9 frees the directory and loses nothing acknowledged", async (context) => {
    const dataDirectory = await freshDataDirectory({ migrated: false });
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, "../../../test/insert-until-killed.ts"), dataDirectory],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    context.after(() => child.kill("SIGKILL"));
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, "open");

    await assert.rejects(openDatabase({ dataDirectory }), {
      code: "data_in_use",
      status: 409,
      message: `The data directory ${dataDirectory} is in use by process ${child.pid}, which serves http://127.0.0.1:8000.`,
    });
    const holder = readHolder(dataDirectory);
    assert.equal(holder?.pid, child.pid);
    assert.equal(holder?.url, "http://127.0.0.1:8000");
    assert.match(holder?.token ?? "", /^ct_[\w-]{43}$/);

    const acknowledged = await killAfter(child, lines, 100);
    assert.equal(readHolder(dataDirectory), undefined);
    const database = await openDatabase({ dataDirectory });
    context.after(database.close);
    const [row] = await database.query<{ count: number; last: number }>("select count(*), max(id) as last from rows");
    assert.ok(row!.last >= acknowledged, `${row!.last} rows, ${acknowledged} acknowledged`);
    assert.equal(row!.count, row!.last);
  });
});

/** Kills with SIGKILL after that many lines; resolves to the last number that came out. */
async function killAfter(child: ChildProcess, lines: AsyncIterator<string>, many: number): Promise<number> {
  let last = 0;
  const exited = once(child, "exit");
  for (;;) {
    const { value, done } = await lines.next();
    if (done) break;
    last = Number(value);
    if (last === many) child.kill("SIGKILL");
  }
  await exited;
  return last;
}
