import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { temporaryFolder } from "./pglite.ts";

const root = join(import.meta.dirname, "..");

/** scripts/run-files.mjs on files with these texts, in their order. */
function runFiles(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder("files");
  for (const [name, source] of Object.entries(files))
    writeFileSync(join(folder, name), `import { test } from "node:test";\n${source}`);
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const input = { files: Object.keys(files), concurrency: 1, execArgv: [] };
  return spawn(process.execPath, [join(root, "scripts/run-files.mjs"), JSON.stringify(input)], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

test("test files run in the order in which they are given; one that fails fails all", async () => {
  for (const [last, expected] of [
    ["", 0],
    ["throw new Error('no');", 1],
  ] as const) {
    const one = (name: string, body = "") => `test("${name}", () => { ${body} });`;
    const child = runFiles({ "c.mjs": one("third"), "a.mjs": one("first"), "b.mjs": one("second", last) });
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    assert.equal(code, expected);
    const order = [...printed.matchAll(/^[✔✖] (third|first|second) /gm)].map(([, name]) => name);
    assert.deepEqual(order.slice(0, 3), ["third", "first", "second"]);
  }
});

test("who ends the runner ends its tests", async () => {
  const child = runFiles({
    "hangs.mjs": `console.log("pid", process.pid); test("hangs", () => new Promise(() => setInterval(() => {}, 1000)));`,
  });
  let printed = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false }))
    if (/pid \d+\n/.test((printed += String(chunk)))) break;
  const pid = Number(/pid (\d+)/.exec(printed)![1]);
  child.kill("SIGTERM");
  // The test holds the pipe for as long as it lives.
  const [, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(code, 1);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("each file that is said to take long is there", () => {
  const slow = JSON.parse(readFileSync(join(root, "scripts/slow-tests.json"), "utf8")) as Record<string, number>;
  const gone = Object.keys(slow).filter((name) => !existsSync(join(root, `${name}.test.ts`)));
  assert.deepEqual(gone, []);
});
