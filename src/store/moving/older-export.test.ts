import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { allRows, loadOldDatabase, oldCount, withColumnsOf } from "../../../test/old-databases/load.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { migrationNames } from "../schema/migrate.ts";
import { exportAll } from "./export.ts";
import { importAll } from "./import.ts";
import { tableRules } from "./moved-tables.ts";

eachDatabase((databases) => {
  test("an export from before the baseline is imported into a new database, and taken on", async () => {
    const [source, target] = [await databases.open({ migrated: false }), await databases.open({ migrated: false })];
    const folder = join(temporaryFolder("export"), "export");
    await loadOldDatabase(source);
    const { migrations } = await exportAll(source, { dataDirectory: temporaryFolder("data"), folder });
    assert.deepEqual(migrations, migrationNames.slice(0, oldCount));

    await importAll(target, { dataDirectory: temporaryFolder("data"), folder });
    const names = await target.query<{ name: string }>("select name from migrations order by name");
    assert.deepEqual(
      names.map(({ name }) => name),
      migrationNames,
    );
    const [before, after] = [await allRows(source), await allRows(target)];
    const now = withColumnsOf(before, after);
    for (const { table, rows } of tableRules) {
      if (table === "migrations") continue;
      // The marker of the data directory belongs to where it was written.
      const moved = (before.get(table) ?? []).filter(({ key }) => table !== "meta" || key !== "data_marker");
      assert.deepEqual(now.get(table) ?? [], rows === "all" ? moved : [], table);
    }
  });
});
