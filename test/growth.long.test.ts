import assert from "node:assert/strict";
import { test } from "node:test";
import { fill } from "../bench/growth/fill.ts";
import { looks } from "../bench/growth/looks.ts";
import { countLook, excess } from "../bench/growth/count-look.ts";
import { eachDatabase } from "./databases.ts";

/** `npm run bench -- growth` does the same with more rows, and looks at times, too. */
eachDatabase(({ open }) => {
  test("no list, search, count or start of a run reads much more than it returns", async () => {
    const database = await open();
    const world = { database, filled: await fill(database, 6) };
    const problems: string[] = [];
    for (const look of looks) {
      const problem = excess(look, await countLook(world, look));
      if (problem !== undefined) problems.push(`${look.name}: ${problem}`);
    }
    assert.deepEqual(problems, []);
  });
});
