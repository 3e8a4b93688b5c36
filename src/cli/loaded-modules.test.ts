import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Counts the modules of a process, those of Node.js itself left out, and says the number last on standard error. */
const counting = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) loaded.add(url);
    return next(url, context);
  },
});
process.on("exit", () => console.error(loaded.size));
`)}`;

async function loadedBy(...args: readonly string[]): Promise<number> {
  const { stderr } = await promisify(execFile)(process.execPath, ["--import", counting, ...args]);
  return Number(stderr.trim().split("\n").at(-1));
}

const cli = fileURLToPath(new URL("../cli.ts", import.meta.url));

for (const words of [["--version"], ["--help"], ["help", "run"], ["user", "--help"]])
  test(`colloquy ${words.join(" ")} loads nothing of a server`, async () => {
    const loaded = await loadedBy(cli, ...words);
    assert(loaded > 0 && loaded <= 8, `${loaded} modules`);
  });

test("colloquy serve --workers loads nothing of a server into the process that watches over them", async () => {
  // Without PostgreSQL it ends, and says its number behind the worker's.
  const refused = await loadedBy(cli, "serve", "--workers", "2").catch((error: unknown) => String(error));
  assert.match(String(refused), /workers need PostgreSQL/);
  const loaded = Number(String(refused).trim().split("\n").at(-1));
  assert(loaded > 0 && loaded <= 10, `${loaded} modules`);
});

for (const name of ["run", "runs", "open", "mcp", "user", "rag/rag", "chat"])
  test(`a command of cli/${name}.ts that finds a server loads none`, async () => {
    const { href } = new URL(`${name}.ts`, import.meta.url);
    const loaded = await loadedBy("--input-type=module", "--eval", `await import(${JSON.stringify(href)})`);
    // A fifth of a server; half of it are the schemas of what is sent.
    assert(loaded > 0 && loaded <= 300, `${loaded} modules`);
  });
