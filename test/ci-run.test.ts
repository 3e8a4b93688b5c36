import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { temporaryFolder } from "./pglite.ts";

const root = join(import.meta.dirname, "..");

const files = {
  "passes.test.mjs": `test("one", () => {}); test("two", () => {}); test("left out", { skip: "no curl" }, () => {});`,
  "suite.test.mjs": `suite("left out", { skip: "no Chromium" }, () => { test("one", () => {}); test("two", () => {}); });`,
  "empty.test.mjs": ``,
  "fails.test.mjs": `test("one", () => { throw new Error("no"); }); test("to do", { todo: true }, () => { throw new Error("not yet"); });
    test("too slow", { timeout: 20 }, () => new Promise((resolve) => setTimeout(resolve, 300)));`,
  "dies.test.mjs": `test("never said", () => process.exit(3));`,
};

/** .ci/run in a project whose tests are these. */
async function ciRun(chosen: readonly (keyof typeof files)[], gates = "5 gates passed, 0 failed") {
  const folder = temporaryFolder("ci");
  cpSync(join(root, ".ci"), join(folder, ".ci"), { recursive: true });
  mkdirSync(join(folder, "long"));
  for (const file of chosen) {
    writeFileSync(join(folder, file), `import { suite, test } from "node:test";\n${files[file]}`);
  }
  writeFileSync(
    join(folder, "long/slow.test.mjs"),
    `import { test } from "node:test"; test("slow", (t, done) => setTimeout(done, 600));`,
  );
  const runner = `"${process.execPath}" --test --test-reporter=spec --test-reporter-destination=stdout --test-reporter="${join(root, "scripts/test-tally.mjs")}" --test-reporter-destination=$COLLOQUY_TEST_TALLY`;
  const scripts = { check: `echo '${gates}'`, test: `${runner} ${chosen.join(" ")}`, "test:long": `${runner} long/*` };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", scripts }));

  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(join(folder, ".ci/run"), { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines = (await text(child.stdout)).trimEnd().split("\n");
  const [code] = await exited;
  const shares = lines.findIndex((line) => line.startsWith("the parts, on "));
  const slowest = lines.slice(lines.indexOf("the slowest files:") + 1, shares - 1);
  return { code, lines, slowest, shares: lines.slice(shares + 1, -2) };
}

test(".ci/run: what is left out counts as skipped, a suite and an empty file as one", async () => {
  const { code, lines, slowest, shares } = await ciRun(["passes.test.mjs", "suite.test.mjs", "empty.test.mjs"]);
  assert.deepEqual([code, lines.at(-1)], [0, "8 passed, 0 failed, 3 skipped"]);
  assert.match(slowest[0]!, /^ +\d+\.\d s {2}long\/slow\.test\.mjs$/);
  assert.equal(slowest.length, 4);
  assert.equal(shares.length, 3);
  assert.match(shares[2]!, /^ +\d+ s +\d+ % of the CPU {2}test:long$/);
});

test(".ci/run: what is cancelled or dies counts as failed, what is still to do as skipped", async () => {
  const { code, lines } = await ciRun(["fails.test.mjs", "dies.test.mjs"], "4 gates passed, 1 failed: format");
  assert.deepEqual([code, lines.at(-1)], [1, "5 passed, 4 failed, 1 skipped"]);
  const told = lines.slice(lines.indexOf("what failed:"), lines.indexOf("the slowest files:")).join("\n");
  assert.match(told, /^✖ one \(fails\.test\.mjs:2\)\nError: no\n/m);
  assert.match(told, /^✖ too slow /m);
  assert.match(told, /^✖ .*dies\.test\.mjs/m);
  assert.doesNotMatch(told, /to do/);
});
