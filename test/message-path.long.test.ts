import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { countFunctions } from "./entered-code.ts";
import { messagePaths } from "./message-path.ts";

/** It may grow by a twentieth; more needs new figures in the page, and a line that says why. Much less needs new figures too. */
const maxGrowth = 1.05;
const leastKept = 0.85;

const page = readFileSync(new URL("../docs/architecture.md", import.meta.url), "utf8");

test("the code that one message enters is no more than docs/architecture.md says", { timeout: 120_000 }, async () => {
  const measured = await messagePaths();
  for (const [row, entered] of [
    ["a streamed message to an agent", measured.chat],
    ["a message passed straight to a model", measured.passThrough],
  ] as const) {
    const [, files, functions] = new RegExp(`^\\| ${row} \\| (\\d+) \\| (\\d+) \\|`, "m").exec(page) ?? [];
    for (const [what, now, before] of [
      ["files", entered.size, Number(files)],
      ["functions", countFunctions(entered), Number(functions)],
    ] as const) {
      const told = `${row}: ${now} ${what}, and docs/architecture.md says ${before}`;
      assert.ok(now <= before * maxGrowth, told);
      assert.ok(now >= before * leastKept, `${told}: say that it is less`);
    }
  }
});
