import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { migrate, migrationNames } from "./migrate.ts";
import type { SchemaHistory, Migration } from "./migration.ts";
import { openDatabase } from "../driver/open.ts";

const first: Migration = { name: "0001-first", up: "create table a (id integer); insert into a values (1)" };
const second: Migration = {
  name: "0002-second",
  up: async (query) => {
    const [row] = await query<{ id: number }>("select id from a");
    await query("insert into a values ($1)", [row!.id + 1]);
  },
};
const third: Migration = { name: "0003-third", up: "insert into a values (3)" };

/** With a baseline for the first two, whose rows tell which way a database came. */
const based: SchemaHistory = {
  baseline: {
    names: [first.name, second.name],
    script: () => "create table a (id integer); insert into a values (12)",
    old: async () => [first, second],
  },
  migrations: [third],
};

/** The same, for databases that must not ask for what is old, or not for new tables. */
const old = () => Promise.reject(new Error("nothing here is older than the baseline"));
const script = () => {
  throw new Error("this database has its tables");
};
const withoutOld: SchemaHistory = { ...based, baseline: { ...based.baseline!, old } };
const withoutScript: SchemaHistory = { ...based, baseline: { ...based.baseline!, script } };
const withoutBoth: SchemaHistory = { ...based, baseline: { ...based.baseline!, old, script } };

eachDatabase((databases) => {
  test("each migration is applied once, in order", async () => {
    const database = await databases.open({ migrated: false });
    assert.deepEqual(await migrate(database, { history: { migrations: [first] } }), ["0001-first"]);
    assert.deepEqual(await migrate(database, { history: { migrations: [first, second] } }), ["0002-second"]);
    assert.deepEqual(await migrate(database, { history: { migrations: [first, second] } }), []);
    assert.deepEqual(await database.query("select id from a order by id"), [{ id: 1 }, { id: 2 }]);
    const names = await database.query("select name from migrations where applied_at <= now() order by name");
    assert.deepEqual(names, [{ name: "0001-first" }, { name: "0002-second" }]);
  });

  test("one that fails leaves nothing behind, and those before it stay", async () => {
    const database = await databases.open({ migrated: false });
    const broken: Migration = { name: "0002-broken", up: "create table b (); select 1/0" };
    await assert.rejects(migrate(database, { history: { migrations: [first, broken] } }), /division by zero/);
    assert.deepEqual(await database.query("select to_regclass('a')::text as a, to_regclass('b')::text as b"), [
      { a: "a", b: null },
    ]);
    assert.deepEqual(await migrate(database, { history: { migrations: [first, second] } }), ["0002-second"]);
  });

  test("a database of a newer version is refused, and named", async () => {
    const database = await databases.open({ migrated: false });
    await migrate(database, { history: { migrations: [first, second] } });
    await assert.rejects(migrate(database, { history: { migrations: [first] } }), {
      code: "database_newer",
      status: 409,
      message: /0002-second/,
    });
  });

  test("ours apply to an empty database", async () => {
    const database = await databases.open({ migrated: false });
    assert.deepEqual(await migrate(database), migrationNames);
    assert.deepEqual(await migrate(database), []);
  });

  test("an empty database gets the baseline and what came later, and counts as one that went through all", async () => {
    const database = await databases.open({ migrated: false });
    assert.deepEqual(await migrate(database, { history: withoutOld }), ["0001-first", "0002-second", "0003-third"]);
    assert.deepEqual(await database.query("select id from a order by id"), [{ id: 3 }, { id: 12 }]);
    const names = await database.query("select name from migrations where applied_at <= now() order by name");
    assert.deepEqual(names, [{ name: "0001-first" }, { name: "0002-second" }, { name: "0003-third" }]);
    const unchanged = { history: { migrations: [first, second, third] } };
    assert.deepEqual(await migrate(database, unchanged), [], "a version from before the baseline finds all it knows");
    assert.deepEqual(await migrate(database, { history: withoutBoth }), []);
  });

  test("a database at the baseline, or beyond it, is taken on without what is old", async () => {
    const database = await databases.open({ migrated: false });
    await migrate(database, { history: { migrations: [first, second] } });
    assert.deepEqual(await migrate(database, { history: withoutBoth }), ["0003-third"]);
    assert.deepEqual(await migrate(database, { history: withoutBoth }), []);
    assert.deepEqual(await database.query("select id from a order by id"), [{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  test("an older database goes through the old migrations that it lacks", async () => {
    const database = await databases.open({ migrated: false });
    await migrate(database, { history: { migrations: [first] } });
    assert.deepEqual(await migrate(database, { history: withoutScript }), ["0002-second", "0003-third"]);
    assert.deepEqual(await database.query("select id from a order by id"), [{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  test("who wants less than the baseline gets the old migrations, and no more than asked for", async () => {
    const database = await databases.open({ migrated: false });
    const only = (name: string) => name < "0002";
    assert.deepEqual(await migrate(database, { history: withoutScript, only }), ["0001-first"]);
    assert.deepEqual(await migrate(database, { history: withoutScript, only }), []);
    await migrate(database, { history: based });
    await assert.rejects(migrate(database, { history: based, only }), {
      code: "database_newer",
      message: /0002-second/,
    });
  });

  test("a baseline that fails leaves nothing behind", async () => {
    const database = await databases.open({ migrated: false });
    const broken = { ...based, baseline: { ...based.baseline!, script: () => "create table b (); select 1/0" } };
    await assert.rejects(migrate(database, { history: broken }), /division by zero/);
    assert.deepEqual(await database.query("select to_regclass('b')::text as b, to_regclass('migrations')::text as m"), [
      { b: null, m: null },
    ]);
    await migrate(database, { history: withoutOld });
    assert.deepEqual(await database.query("select id from a order by id"), [{ id: 3 }, { id: 12 }]);
  });

  if (databases.kind === "postgres") {
    test("nodes that start together apply each once", async () => {
      const place = await databases.place();
      const nodes = await Promise.all(Array.from({ length: 4 }, () => openDatabase(place)));
      const applied = await Promise.all(
        nodes.map((node) => migrate(node, { history: { migrations: [first, second] } })),
      );
      assert.deepEqual(applied.flat().sort(), ["0001-first", "0002-second"]);
      await Promise.all(nodes.map((node) => node.close()));
    });

    test("of nodes that start together, of this version and of one from before the baseline, one makes the tables", async () => {
      const place = await databases.place();
      const nodes = await Promise.all(Array.from({ length: 6 }, () => openDatabase(place)));
      const before: SchemaHistory = { migrations: [first, second, third] };
      const applied = await Promise.all(
        nodes.map((node, at) => migrate(node, { history: at % 2 === 0 ? based : before })),
      );
      assert.deepEqual(applied.flat().sort(), ["0001-first", "0002-second", "0003-third"]);
      const rows = await nodes[0]!.query<{ id: number }>("select id from a order by id");
      assert.ok(["3,12", "1,2,3"].includes(rows.map(({ id }) => id).join(",")), "by one way, whichever was first");
      await Promise.all(nodes.map((node) => node.close()));
    });
  }
});
