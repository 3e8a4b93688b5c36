import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { allRows, loadOldDatabase, oldCount, withColumnsOf } from "../../../test/old-databases/load.ts";
import { differences, schemaLines } from "../../../test/schema-lines.ts";
import { createUser } from "../people/users.ts";
import { checkInvariants } from "./invariants.ts";
import { migrate, migrationNames } from "./migrate.ts";

eachDatabase((databases) => {
  test("a database from before the baseline comes to the same tables, with all its rows", async () => {
    const [database, fresh] = [await databases.open({ migrated: false }), await databases.open()];
    const { query } = database;
    await loadOldDatabase(database);
    const before = await allRows(database);
    for (const [table, rows] of before) assert.ok(rows.length > 0, `${table} has rows`);

    assert.deepEqual(await migrate(database), migrationNames.slice(oldCount));
    assert.deepEqual(await migrate(database), []);

    const after = await allRows(database);
    assert.deepEqual(withColumnsOf(before, after), before);
    assert.deepEqual(
      after.get("users")!.map(({ name, looks, alike }) => [name, looks, alike]),
      [
        ["owner", "owner", false],
        ["ann", "ann", false],
        ["аnn", "ann", true],
      ],
    );
    for (const key of after.get("api_keys")!) assert.equal(typeof key["unscoped_until"], "string");
    for (const run of after.get("runs")!) assert.deepEqual([run["retry_at"], run["origin"]], [null, null]);
    assert.deepEqual(
      (await checkInvariants(query)).filter(({ broken }) => broken > 0),
      [],
    );
    await assert.rejects(createUser(query, { name: "aոn", role: "user" }), { code: "name_alike" });

    // What a collection's own indexes need is made as it is used, and counters have counted.
    const made = (line: string) => !/^(extension|(index|relation) rag_index_\d+:)/.test(line);
    const lines = async (of: typeof query) =>
      (await schemaLines(of)).filter(made).map((line) => line.replace(/ last (none|\d+)/, ""));
    assert.deepEqual(
      differences(
        { name: "in the old database", lines: await lines(query) },
        { name: "in a new one", lines: await lines(fresh.query) },
      ),
      [],
    );
  });
});
