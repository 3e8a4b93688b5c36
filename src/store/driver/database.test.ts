import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import type { Database } from "./database.ts";
import { planIsStale, sqlState, uniqueViolation } from "./sql-state.ts";

eachDatabase((databases) => {
  let database: Database;

  before(async () => {
    database = await databases.open({ migrated: false });
    await database.script("create table notes (id integer primary key, body text); create table other (id integer)");
  });

  const ids = async (): Promise<number[]> =>
    (await database.query<{ id: number }>("select id from notes order by id")).map(({ id }) => id);

  describe("query", () => {
    test("gives the same values on both drivers", async () => {
      const time = new Date("2026-02-03T04:05:06.789Z");
      const [row] = await database.query(
        `select $1::bigint as big, array[1::bigint, null] as bigs, $2::jsonb as json, $3::timestamptz as time, $4::text[] as texts,
                $5::boolean as yes, $6::text as nothing, $7::bytea as bytes, 1.5::double precision as real, '2026-02-03'::date as day`,
        [2 ** 40, JSON.stringify({ a: [1] }), time, ["a", 'b"\\,{}', null], true, undefined, Buffer.from([0, 255])],
      );
      const { bytes, ...others } = row as { bytes: Uint8Array };
      assert.deepEqual(others, {
        big: 2 ** 40,
        bigs: [1, null],
        json: { a: [1] },
        time,
        texts: ["a", 'b"\\,{}', null],
        yes: true,
        nothing: null,
        real: 1.5,
        day: "2026-02-03",
      });
      assert.deepEqual([...bytes], [0, 255]);
    });

    test("fails with SQLSTATE, constraint and detail, and the database goes on", async () => {
      await database.query("insert into notes values (1, 'a')");
      await assert.rejects(database.query("insert into notes values ($1, 'b')", [1]), (error) => {
        assert.equal(sqlState(error), uniqueViolation);
        assert.ok(error instanceof Error && "constraint" in error && "detail" in error);
        assert.equal(error.constraint, "notes_pkey");
        assert.match(String(error.detail), /\(id\)=\(1\)/);
        return true;
      });
      await assert.rejects(database.query("selec 1"), (error) => sqlState(error) === "42601");
      assert.deepEqual(await ids(), [1]);
    });

    test("a statement used again and again gives the rows of its own values, before and after a failure", async () => {
      await database.query("create table unique_ids (id integer primary key)");
      const insert = (id: number) => database.query("insert into unique_ids values ($1) returning id", [id]);
      for (const id of [1, 2]) assert.deepEqual(await insert(id), [{ id }]);
      await assert.rejects(insert(1), (error) => sqlState(error) === uniqueViolation);
      for (const id of [3, 4]) assert.deepEqual(await insert(id), [{ id }]);
      await assert.rejects(insert(1), (error) => sqlState(error) === uniqueViolation);
      assert.deepEqual(await insert(5), [{ id: 5 }]);
    });

    test("a statement in use outlives a change of its table", async () => {
      await database.query("create table changing (a integer)");
      const select = () => database.query("select * from changing where $1::integer = 1", [1]);
      for (let time = 0; time < 3; time++) assert.deepEqual(await select(), []);
      await database.script("alter table changing add column b integer; insert into changing values (1, 2)");
      await assert.rejects(select(), (error) => sqlState(error) === planIsStale);
      for (let time = 0; time < 3; time++) assert.deepEqual(await select(), [{ a: 1, b: 2 }]);
    });

    test("many at once are each answered with their own rows", async () => {
      const asked = Array.from({ length: 200 }, (_, index) => index);
      const answers = await Promise.all(asked.map((index) => database.query("select $1::integer as index", [index])));
      assert.deepEqual(
        answers.flat(),
        asked.map((index) => ({ index })),
      );
    });
  });

  describe("script", () => {
    test("gives the rows of all statements in order", async () => {
      assert.deepEqual(await database.script("select 1 as a; create temporary table x (); select 2 as a"), [
        { a: 1 },
        { a: 2 },
      ]);
    });

    test("that fails in its own transaction leaves none behind", async () => {
      await assert.rejects(
        database.script("begin; insert into notes values (2); select 1/0; commit"),
        /division by zero/,
      );
      await database.query("insert into notes values (3)");
      assert.deepEqual(await ids(), [1, 3]);
    });
  });

  describe("transaction", () => {
    test("commits what its body did, and gives its value", async () => {
      const value = await database.transaction(async (query) => {
        await query("insert into notes values ($1)", [10]);
        await query("insert into notes values ($1)", [11]);
        return "value";
      });
      assert.equal(value, "value");
      assert.deepEqual((await ids()).slice(-2), [10, 11]);
    });

    test("rolls back when its body throws", async () => {
      const error = new Error("no");
      await assert.rejects(
        database.transaction(async (query) => {
          await query("insert into notes values (12)");
          throw error;
        }),
        error,
      );
      assert.ok(!(await ids()).includes(12));
    });

    test("rolls back and fails when a statement failed, even if the body went on", async () => {
      await assert.rejects(
        database.transaction(async (query) => {
          await query("insert into notes values (13)");
          await query("select 1/0").catch(() => {});
        }),
        /division by zero/,
      );
      assert.ok(!(await ids()).includes(13));
    });

    test("fails when its COMMIT does", async () => {
      await database.script("create table late (id integer, unique (id) deferrable initially deferred)");
      await assert.rejects(
        database.transaction(async (query) => query("insert into late values (1), (1)")),
        (error) => sqlState(error) === uniqueViolation,
      );
      assert.deepEqual(await database.query("select * from late"), []);
    });

    test("refuses a statement after its end", async () => {
      let leaked: (() => Promise<unknown>) | undefined;
      await database.transaction(async (query) => {
        leaked = () => query("insert into notes values (14)");
      });
      await assert.rejects(leaked!(), /after its transaction had ended/);
    });

    test("runs `first` in the same round trip as BEGIN", async () => {
      const trips: string[] = [];
      database.onTrip = (text) => trips.push(text);
      await database.transaction((query) => query("select 1"), { first: "select pg_advisory_xact_lock(1)" });
      database.onTrip = undefined;
      assert.deepEqual(trips, ["begin; select pg_advisory_xact_lock(1)", "select 1", "commit"]);
    });

    test("holds nothing of what others do meanwhile", async () => {
      const circular: { self?: object } = {};
      circular.self = circular;
      const opened = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const failing = database.transaction(async (query) => {
        await query("insert into notes values (20)");
        opened.resolve();
        await goOn.promise;
        throw new Error("rolled back");
      });
      await opened.promise;
      const others = [
        database.query("insert into notes values (21)"),
        assert.rejects(database.query("select $1::jsonb", [circular]), /circular/),
        database.script("insert into notes values (22)"),
        database.transaction((query) => query("insert into notes values (23)")),
      ];
      goOn.resolve();
      await assert.rejects(failing, /rolled back/);
      await Promise.all(others);
      assert.deepEqual(
        (await ids()).filter((id) => id >= 20),
        [21, 22, 23],
      );
    });

    test("one after another when many are asked for at once", async () => {
      await database.query("insert into other values (0)");
      await Promise.all(
        Array.from({ length: 20 }, () =>
          database.transaction(async (query) => {
            const [row] = await query<{ id: number }>("select id from other for update");
            await query("update other set id = $1", [row!.id + 1]);
          }),
        ),
      );
      assert.deepEqual(await database.query("select id from other"), [{ id: 20 }]);
    });
  });

  describe("listen", () => {
    test("hears what is committed, until it stops", async () => {
      const heard: string[] = [];
      const both = Promise.withResolvers<void>();
      const last = Promise.withResolvers<void>();
      const stop = await database.listen("Some channel", (payload) => {
        if (heard.push(payload) === 2) both.resolve();
      });
      const stopOther = await database.listen("other", () => last.resolve());
      await database.query("select pg_notify('Some channel', 'one')");
      await assert.rejects(
        database.transaction(async (query) => {
          await query("select pg_notify('Some channel', 'never')");
          throw new Error("no");
        }),
        /no/,
      );
      await database.transaction((query) => query("select pg_notify($1, $2)", ["Some channel", "two"]));
      await both.promise;
      await stop();
      await database.script("select pg_notify('Some channel', 'too late'); select pg_notify('other', '')");
      await last.promise;
      await stopOther();
      assert.deepEqual(heard, ["one", "two"]);
    });
  });

  test("close ends it: later calls fail", async () => {
    const other = await databases.open({ migrated: false });
    await other.close();
    await assert.rejects(other.query("select 1"), {
      code: databases.kind === "pglite" ? "database_closed" : "database_unavailable",
    });
  });
});
