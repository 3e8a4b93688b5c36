import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { skipDatabase } from "./left-out.ts";

const root = join(import.meta.dirname, "..");

test(
  "mutation: of small faults in the heart that a seed picks, tests notice 95 %",
  {
    skip: skipDatabase("postgres"),
  },
  (context) => {
    const run = join(root, "mutation", "run.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, [run, "--sample", "60"], {
      cwd: root,
      encoding: "utf8",
      timeout: 1_500_000,
      // A shared database server, or a seed's whole, is for other tests.
      env: {
        ...process.env,
        COLLOQUY_TEST_ALL: undefined,
        COLLOQUY_TEST_POSTGRES: undefined,
        NODE_TEST_CONTEXT: undefined,
      },
    });
    for (const line of stdout.split("\n").filter((one) => /^(?:COLLOQUY|survived| *[\d.]+ %)/.test(one)))
      context.diagnostic(line);
    assert.equal(status, 0, `${stdout}\n${stderr}`);
  },
);
