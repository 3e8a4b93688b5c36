import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { skipDatabase } from "../../../test/left-out.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres.ts";
import { type SilentProxy, startSilentProxy } from "../../../test/silent-proxy.ts";
import type { Database } from "./database.ts";
import { openPostgres } from "./postgres.ts";

const deadlines = { heartSeconds: 0.3, listingSeconds: 60, maintenanceSeconds: 60 };

describe("A PostgreSQL that falls silent", { skip: skipDatabase("postgres"), timeout: 60_000 }, () => {
  let server: PostgresServer;
  let proxy: SilentProxy;
  let database: Database;
  let url: string;
  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    const direct = await openPostgres({ url });
    await direct.query("create table rows_of_test (id integer primary key, text text)");
    await direct.query("insert into rows_of_test values (1, '')");
    await direct.close();
  });
  const open = async (): Promise<Database> => {
    proxy = await startSilentProxy(url);
    database = await openPostgres({ url: proxy.through(url), deadlines, connections: 10 });
    return database;
  };
  afterEach(async () => {
    await database.close();
    await proxy.close();
  });
  after(() => server.stop());

  /** So many connections at once. */
  const together = (count: number) =>
    Promise.all(Array.from({ length: count }, () => database.query("select pg_sleep(0.05)")));

  test("a statement that is never answered fails, and the next one has a connection that works", async () => {
    await open();
    proxy.silenceOld();
    await assert.rejects(database.query("select 1"), { code: "database_silent", status: 503 });
    assert.deepEqual(await database.query("select 1 as one"), [{ one: 1 }]);
  });

  test("one that was silent speaks for all that were idle: each is not tried in its turn", async () => {
    await open();
    await together(5);
    proxy.silenceOld();
    await assert.rejects(database.query("select 1"), { code: "database_silent" });
    await together(5);
  });

  test("all that wait for a connection get one when those that were silent are gone", async () => {
    await open();
    await together(10);
    proxy.silenceOld();
    const asked = await Promise.allSettled(Array.from({ length: 30 }, () => database.query("select 1")));
    const failed = asked.filter(({ status }) => status === "rejected");
    assert.ok(failed.length <= 7, `${failed.length} failed: more than there are connections`);
  });

  test("in a transaction too, at any of its statements", async () => {
    await open();
    for (const at of ["begin", "update", "commit"]) {
      proxy.watch((text) => (text.includes(at) ? "one" : undefined));
      await assert.rejects(
        database.transaction((query) => query("update rows_of_test set text = 'lost' where id = 1")),
        { code: "database_silent" },
      );
      proxy.watch(undefined);
      assert.equal(await database.transaction(async () => "next"), "next");
    }
  });

  test("while no connection works, each try ends", async () => {
    await open();
    proxy.silenceAll();
    await assert.rejects(database.query("select 1"), { code: "database_silent" });
    await assert.rejects(database.query("select 1"), { code: "database_unavailable" });
    proxy.speak();
    assert.equal((await database.query("select 1")).length, 1);
  });

  test("an answer that came while this process stood still is read", async () => {
    await open();
    await database.query("select 1");
    const asked = database.query("select pg_sleep(0.1), 1 as one");
    await new Promise((sent) => setImmediate(sent));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
    assert.equal((await asked).length, 1);
  });

  test("a list that waits for what will not come ends with the silence; lists and maintenance at work go on", async () => {
    await open();
    const sent = new Set(["'lost'", "'slow'", "'upkeep'"]);
    const allSent = Promise.withResolvers<void>();
    proxy.watch((text) => {
      for (const word of sent) if (text.includes(word)) sent.delete(word);
      if (sent.size === 0) allSent.resolve();
      return /'lost'|'silent'/.test(text) ? "one" : undefined;
    });
    const lost = assert.rejects(database.listing.query("select 'lost'"), { code: "database_unavailable" });
    const list = database.listing.query("select 'slow', pg_sleep(6)");
    const upkeep = database.maintenance.query("select 'upkeep', pg_sleep(6)");
    await allSent.promise;
    await assert.rejects(database.query("select 'silent'"), { code: "database_silent" });
    await lost;
    assert.deepEqual([(await list).length, (await upkeep).length], [1, 1]);
  });

  test("a list whose rows are still on their way goes on", async () => {
    await open();
    const begun = Promise.withResolvers<void>();
    proxy.watch((text) => {
      if (text.includes("'long'")) begun.resolve();
      return text.includes("'silent'") ? "one" : undefined;
    });
    // All of it fits into what kernels keep: its backend has said everything long before it is here.
    proxy.narrow(200_000);
    const list = database.listing.query<{ text: string }>("select 'long', repeat('x', 1000000) as text");
    await begun.promise;
    await assert.rejects(database.query("select 'silent'"), { code: "database_silent" });
    assert.equal((await list)[0]!.text.length, 1_000_000);
  });

  test("the listener notices, and hears again", async () => {
    await open();
    const heard: string[] = [];
    let changed = Promise.withResolvers<void>();
    await database.listen("news", (payload) => {
      heard.push(payload);
      changed.resolve();
    });
    proxy.silenceOld();
    await changed.promise;
    changed = Promise.withResolvers<void>();
    await database.query("select pg_notify('news', 'fresh')").catch(() => {});
    await database.query("select pg_notify('news', 'fresh')");
    await changed.promise;
    assert.deepEqual(heard, ["", "fresh"]);
  });

  test("it can be closed", async () => {
    await open();
    await together(3);
    await database.listen("news", () => {});
    proxy.silenceAll();
    const never = assert.rejects(database.maintenance.query("select 1"));
    await database.close();
    await never;
    assert.ok(proxy.open() >= 0);
  });
});

describe("Deadlines", { skip: skipDatabase("postgres"), timeout: 60_000 }, () => {
  let server: PostgresServer;
  let database: Database;
  let url: string;
  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    database = await openPostgres({ url, deadlines: { ...deadlines, listingSeconds: 0.8 }, connections: 10 });
    await database.query("create table rows_of_test (id integer primary key, text text)");
    await database.query("insert into rows_of_test values (1, '')");
  });
  after(async () => {
    await database.close();
    await server.stop();
  });

  test("are set at the server for each kind, and no statement is spent on that", async () => {
    const trips: string[] = [];
    database.onTrip = (text) => trips.push(text);
    const told = async ({ query }: Database) =>
      (
        await query<{ s: string; l: string; i: string }>(
          `select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l,
             current_setting('idle_in_transaction_session_timeout') as i`,
        )
      ).map(({ s, l, i }) => `${s} ${l} ${i}`)[0];
    assert.equal(await told(database), "300ms 2s 10s");
    assert.equal(await told(database.listing), "800ms 0 10s");
    assert.equal(await told(database.maintenance.listing.maintenance), "1min 0 1min");
    assert.equal(trips.length, 3);
    delete database.onTrip;
  });

  test("a server's default isolation is not ours: what is looked at behind a lock is newer than the lock", async () => {
    const ofOthers = await server.createDatabase();
    const name = new URL(ofOthers).pathname.slice(1);
    await database.query(`alter database "${name}" set default_transaction_isolation = 'repeatable read'`);
    const strict = await openPostgres({ url: ofOthers, deadlines, connections: 2 });
    for (const { query } of [strict, strict.listing, strict.maintenance])
      assert.deepEqual(await query("show transaction_isolation"), [{ transaction_isolation: "read committed" }]);
    await strict.close();
  });

  test("of the heart and of lists break a statement off; maintenance goes on", async () => {
    const sleep = "select pg_sleep(1)";
    const slow = (key: string) => ({ code: "database_slow", status: 503, message: new RegExp(key) });
    await assert.rejects(database.query(sleep), slow("0.3 seconds .database.heartSeconds"));
    await assert.rejects(database.listing.query(sleep), slow("database.listingSeconds"));
    assert.equal((await database.maintenance.query(sleep)).length, 1);
  });

  test("a row that somebody holds is not waited for longer", async () => {
    const patient = await openPostgres({ url, connections: 10 });
    await database.maintenance.transaction(async (query) => {
      await query("update rows_of_test set text = 'held' where id = 1");
      await assert.rejects(patient.query("update rows_of_test set text = 'mine' where id = 1"), {
        code: "database_locked",
        status: 503,
      });
    });
    await patient.close();
  });

  test("signs of life wait for nobody: their connection is free while all others are busy", async () => {
    const few = await openPostgres({ url, connections: 3 });
    const all = [few, few.listing, few.maintenance];
    const held = all.map((kind) =>
      kind.transaction(async () => assert.deepEqual(await few.pulse.query("select 1 as alive"), [{ alive: 1 }])),
    );
    await Promise.all(held);
    await few.close();
  });

  test("lists that fill their connections keep nobody else waiting", async () => {
    const lists = Promise.allSettled(Array.from({ length: 10 }, () => database.listing.query("select pg_sleep(0.5)")));
    assert.equal((await database.query("select 1")).length, 1);
    assert.equal((await database.maintenance.query("select 1")).length, 1);
    await lists;
  });

  test("options in the URL stay", async () => {
    const own = new URL(url);
    own.searchParams.set("options", "-c search_path=elsewhere");
    const other = await openPostgres({ url: own.href });
    assert.deepEqual(
      await other.query("select current_setting('search_path') as path, current_setting('lock_timeout') as lock"),
      [{ path: "elsewhere", lock: "2s" }],
    );
    await other.close();
  });
});
