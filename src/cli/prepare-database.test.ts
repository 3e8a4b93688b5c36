import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/pglite.ts";
import { silentLog } from "../protocol/base/log.ts";
import { createTimetable } from "../run/engine/timetable.ts";
import { openDatabase } from "../store/driver/open.ts";
import { migrate } from "../store/schema/migrate.ts";
import { preparedDatabase } from "../store/schema/prepared-database.ts";

const program = join(import.meta.dirname, "prepare-database.ts");

test("what set-up prepares has all tables and no rows that a first start would make", async (context) => {
  execFileSync(process.execPath, [program]);
  const database = await openDatabase({ dataDirectory: temporaryFolder("data"), prepared: preparedDatabase });
  context.after(database.close);
  assert.deepEqual(await migrate(database), []);
  const made: string[] = [];
  database.onTrip = (text) => void (/^\s*create (table|schema|type)/i.test(text) && made.push(text));
  await (await createTimetable({ database, log: silentLog })).stop();
  assert.deepEqual(made, []);
  for (const table of ["meta", "users", "threads"])
    assert.deepEqual(await database.query(`select from ${table}`), [], table);
  assert.equal(String(execFileSync(process.execPath, [program])), "", "nothing is made twice");
});
