import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataDirectory } from "../../../test/pglite.ts";

/** V8 tells each function of WASM that it compiles, with the most memory that the optimizing compiler took for it. */
const optimized = /using TurboFan, took \d+ ms and (\d+) \/ \d+ max\/total bytes/g;

test("no function of PostgreSQL takes much memory to compile, however much is parsed", async () => {
  const folder = await freshDataDirectory({ migrated: false });
  const program = join(folder, "parse.mjs");
  writeFileSync(
    program,
    `import { openPGlite } from ${JSON.stringify(new URL("pglite.ts", import.meta.url).href)};
    const database = await openPGlite({ directory: ${JSON.stringify(join(folder, "db"))} });
    for (let count = 0; count < 5000; count++) await database.query("select 'a' as a where 1 = " + count);
    await database.close();`,
  );
  const told = execFileSync(process.execPath, ["--trace-wasm-compilation-times", program], { maxBuffer: 2 ** 26 });
  const took = [...told.toString().matchAll(optimized)].map(([, bytes]) => Number(bytes));
  assert.ok(took.length > 5, `${took.length} functions were optimized`);
  assert.ok(Math.max(...took) < 100e6, `${Math.max(...took)} bytes for one of them`);
});
