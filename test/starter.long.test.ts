import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { blocksOf, patternOf, root } from "./doc-pages.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const run = promisify(execFile);
const starter = join(root, "examples/starter");

describe("examples/starter, copied as its README says", () => {
  const folder = join(temporaryFolder("starter"), "shop");
  let env: Record<string, string>;

  before(async () => {
    cpSync(starter, folder, { recursive: true });
    // What `npm install` would bring.
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    env = {
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: folder,
      COLLOQUY: join(root, "colloquy"),
      COLLOQUY_DATA: await freshDataDirectory(),
      COLLOQUY_PROBE: "false",
      COLLOQUY_LOG_LEVEL: "warn",
    };
  });

  test("its own test passes", async () => {
    await run(process.execPath, ["--test"], { cwd: folder, env });
  });

  const blocks = blocksOf("examples/starter/README.md");
  for (const [index, { language, text }] of blocks.entries()) {
    if (language !== "sh") continue;
    test(text.trim(), async () => {
      const { stdout } = await run("sh", ["-euc", `exec 2>&1\n${text}`], { cwd: folder, env });
      assert.match(stdout, patternOf(blocks[index + 1]!.text));
    });
  }

  test("its tool has the types of the server", async () => {
    await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", starter]);
  });
});
