import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLog } from "../../src/protocol/base/log.ts";
import { createTimetable } from "../../src/run/engine/timetable.ts";
import type { Database } from "../../src/store/driver/database.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { eachDatabase } from "../databases.ts";
import { checkStatements } from "./check.ts";
import { openDescriber } from "./describe.ts";
import { neverNull, unchecked } from "./exceptions.ts";
import { sampleTexts } from "./samples.ts";
import { findStatements, type Statements } from "./statements.ts";

let ours: Statements;
let wrong: Statements;
before(async () => {
  ours = await findStatements("test/sql/tsconfig.json", "src/");
  wrong = await findStatements("test/sql/fixtures/tsconfig.json", "test/sql/fixtures/");
});
after(() => {
  ours.close();
  wrong.close();
});

function advice(problems: readonly string[]): string {
  return `SQL and its row types differ. Change the statement or the type.\n\n${problems.join("\n")}\n`;
}

function expectedProblems(kind: Database["kind"]): string[] {
  const lines = readFileSync(join(import.meta.dirname, "fixtures/wrong-rows.ts"), "utf8").split("\n");
  return [...lines.entries()].flatMap(([at, line]) => {
    const [, only, problem] = /^ +\/\/ (pglite: )?(.*)$/.exec(line) ?? [];
    const isSaid = problem !== undefined && (only === undefined || kind === "pglite");
    return isSaid ? [`test/sql/fixtures/wrong-rows.ts:${at + 2}: ${problem}`] : [];
  });
}

eachDatabase((databases) => {
  test("each statement returns the rows that the type of its call declares", async () => {
    const place = await databases.place();
    const database = await openDatabase(place);
    await migrate(database);
    // Creates the tables of pg-boss.
    await (await createTimetable({ database, log: silentLog })).stop();
    const samples = await sampleTexts(database);
    await database.close();
    const describer = await openDescriber(place);
    try {
      const found = await checkStatements(ours, { describer, samples });
      if (found.problems.length > 0) assert.fail(advice(found.problems));
      if (databases.kind === "pglite") {
        const idle = [...Object.keys(unchecked), ...Object.keys(neverNull)].filter((name) => !found.needed.has(name));
        assert.deepEqual(idle, [], "entries of test/sql/exceptions.ts that nothing needs");
      }
      const { problems } = await checkStatements(wrong, { describer });
      assert.deepEqual(
        problems.map((problem) => problem.split("\n")[0]),
        expectedProblems(databases.kind),
      );
    } finally {
      await describer.close();
    }
  });
});
