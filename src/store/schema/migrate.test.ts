import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { Migration } from "./migration.ts";
import { openDatabase } from "../driver/open.ts";

const first: Migration = { name: "0001-first", up: "create table a (id integer); insert into a values (1)" };
const second: Migration = {
  name: "0002-second",
  up: async (query) => {
    const [row] = await query<{ id: number }>("select id from a");
    await query("insert into a values ($1)", [row!.id + 1]);
  },
};

eachDatabase((databases) => {
  test("each migration is applied once, in order", async () => {
    const database = await databases.open({ migrated: false });
    assert.deepEqual(await migrate(database, [first]), ["0001-first"]);
    assert.deepEqual(await migrate(database, [first, second]), ["0002-second"]);
    assert.deepEqual(await migrate(database, [first, second]), []);
    assert.deepEqual(await database.query("select id from a order by id"), [{ id: 1 }, { id: 2 }]);
    const names = await database.query("select name from migrations where applied_at <= now() order by name");
    assert.deepEqual(names, [{ name: "0001-first" }, { name: "0002-second" }]);
  });

  test("one that fails leaves nothing behind, and those before it stay", async () => {
    const database = await databases.open({ migrated: false });
    const broken: Migration = { name: "0002-broken", up: "create table b (); select 1/0" };
    await assert.rejects(migrate(database, [first, broken]), /division by zero/);
    assert.deepEqual(await database.query("select to_regclass('a')::text as a, to_regclass('b')::text as b"), [
      { a: "a", b: null },
    ]);
    assert.deepEqual(await migrate(database, [first, second]), ["0002-second"]);
  });

  test("a database of a newer version is refused, and named", async () => {
    const database = await databases.open({ migrated: false });
    await migrate(database, [first, second]);
    await assert.rejects(migrate(database, [first]), { code: "database_newer", status: 409, message: /0002-second/ });
  });

  test("ours apply to an empty database", async () => {
    const database = await databases.open({ migrated: false });
    assert.deepEqual(
      await migrate(database),
      migrations.map(({ name }) => name),
    );
    assert.deepEqual(await migrate(database), []);
  });

  if (databases.kind === "postgres") {
    test("nodes that start together apply each once", async () => {
      const place = await databases.place();
      const nodes = await Promise.all(Array.from({ length: 4 }, () => openDatabase(place)));
      const applied = await Promise.all(nodes.map((node) => migrate(node, [first, second])));
      assert.deepEqual(applied.flat().sort(), ["0001-first", "0002-second"]);
      await Promise.all(nodes.map((node) => node.close()));
    });
  }
});
