import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openDatabase } from "./open.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-open-"));
after(() => rmSync(folder, { recursive: true }));

test("a data directory that can't be made or used is told with the way to another", async () => {
  mkdirSync(join(folder, "used", "lock"), { recursive: true });
  for (const dataDirectory of [join(folder, "used"), "/dev/null/data"]) {
    await assert.rejects(openDatabase({ dataDirectory }), {
      code: "data_unusable",
      message: new RegExp(
        `^The data directory ${dataDirectory} can't be made or used: .+\\. COLLOQUY_DATA names another one\\.$`,
      ),
    });
  }
});
