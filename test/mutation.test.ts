import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mutantsOf, root } from "../mutation/mutants.ts";
import { sqlChanges } from "../mutation/sql-mutants.ts";

const read = <Value>(name: string) => JSON.parse(readFileSync(join(root, "mutation", name), "utf8")) as Value;

test("mutation: its lists name files and mutants that there are", () => {
  const table = read<Record<string, readonly string[]>>("tests.json");
  const named = Object.entries(table).flatMap(([file, tests]) => [file, ...tests]);
  assert.deepEqual(
    named.filter((file) => !existsSync(join(root, file))),
    [],
  );
  let [all, listed] = [0, 0];
  for (const [file, names] of Object.entries(read<Record<string, Record<string, string>>>("equivalent.json"))) {
    assert.ok(file in table, file);
    const mutants = new Set(mutantsOf(file).map(({ name }) => name));
    const gone = Object.keys(names).filter((name) => !mutants.has(name));
    assert.deepEqual(gone, [], `${file}: name them anew in mutation/equivalent.json, or remove them`);
    all += mutants.size;
    listed += Object.keys(names).length;
  }
  assert.ok(listed <= all / 10, `${listed} of ${all} mutants are called equivalent`);
});

test("mutation: pieces of a statement are left out one at a time", () => {
  const sql =
    "with r as (select id from runs where id = $1 and epoch = $2 for share) update t set a = a + 1, b = case when c then 2 else 3 end from r where t.id = r.id and (x is null or x <= ${y})";
  const at = sql.indexOf("${y}");
  const changed = sqlChanges(sql, { start: 0, end: sql.length, holes: [[at, at + 4]] }).map(
    ({ start, end, text }) => `${sql.slice(start, end)} → ${text}`,
  );
  assert.deepEqual(changed, [
    "id = $1 and → ",
    "and epoch = $2 → ",
    "for share → ",
    "a = a + 1,  → ",
    ", b = case when c then 2 else 3 end → ",
    "+ → -",
    "case when c then 2 else 3 end → (2)",
    "case when c then 2 else 3 end → (3)",
    "t.id = r.id and → ",
    "and (x is null or x <= ${y}) → ",
    " →  not",
    "or x <= ${y} → ",
    "<= → <",
  ]);
});
