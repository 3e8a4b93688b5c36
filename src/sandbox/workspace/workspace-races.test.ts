import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { openFolder } from "./open-folder.ts";
import type { Workspace } from "./workspace.ts";
import { createWorkspaces } from "./workspaces.ts";

/**
 * Swaps, as fast as it can: a file with a link to another, a folder with a link to another, a file with a pipe. What was
 * put in the gap between goes.
 */
const swapping = `
const { renameSync, rmSync } = require("node:fs");
console.log("begun");
for (;;) for (const name of ["file", "folder", "piped"]) {
  renameSync(name, name + ".was");
  for (let gap = true; gap;) {
    try {
      renameSync(name + ".other", name);
      gap = false;
    } catch {
      try { rmSync(name, { recursive: true, force: true }); } catch {}
    }
  }
  renameSync(name + ".was", name + ".other");
}`;

const folder = temporaryFolder("races");
const outside = join(folder, "outside");
let workspace: Workspace;
let swapper: ReturnType<typeof spawn>;

before(async () => {
  mkdirSync(outside);
  for (const name of ["a.txt", "secret.txt"]) writeFileSync(join(outside, name), "CANARY");
  workspace = await createWorkspaces({ folder: join(folder, "scratch") }).open(newId());
  const here = (path: string) => join(workspace.folder, path);
  for (const path of ["file", "folder/a.txt", "piped"]) await workspace.write(path, "mine");
  symlinkSync(join(outside, "a.txt"), here("file.other"));
  symlinkSync(outside, here("folder.other"));
  await once(spawn("bash", ["-c", "mkfifo piped.other"], { cwd: workspace.folder }), "exit");
  swapper = spawn(process.execPath, ["-e", swapping], { cwd: workspace.folder, stdio: ["ignore", "pipe", "inherit"] });
  await once(swapper.stdout!, "data");
});
after(() => swapper.kill("SIGKILL"));

/** How often of so many times it was done, and not refused. */
async function done(attempt: () => Promise<unknown>, times = 500): Promise<number> {
  let refused = 0;
  for (let tries = 0; tries < times; tries++)
    await attempt().catch((error: unknown) => {
      assert.ok(error instanceof ColloquyError, String(error));
      refused += 1;
    });
  assert.equal(swapper.exitCode, null);
  return times - refused;
}

test("what is read is never what a link points to, however fast it is put in the file's place", async () => {
  for (const path of ["file", "folder/a.txt", "piped"]) {
    const read = await done(async () => {
      const { content } = await workspace.read(path, { maxBytes: 100 });
      assert.equal(String(content), "mine");
    });
    assert.ok(read > 5 && read < 495, `${path} was read ${read} times: nothing was tried`);
  }
});

test("nothing is written, listed or removed through a link that is put in a folder's place", async () => {
  const written = await done(() => workspace.write("folder/new.txt", "mine"));
  assert.ok(written > 5 && written < 495, `was written ${written} times: nothing was tried`);
  await done(async () => {
    const { entries } = await workspace.list({ under: "folder" });
    assert.deepEqual(
      entries.map(({ path }) => path).filter((path) => !/^folder.(a|new).txt$/.test(path)),
      [],
    );
  });
  for (const name of ["new.txt", "a.txt"]) await done(() => workspace.remove(`folder/${name}`), 200);
  assert.deepEqual(readdirSync(outside), ["a.txt", "secret.txt"]);
  assert.equal(readFileSync(join(outside, "a.txt"), "utf8"), "CANARY");
});

test("where a folder can't be addressed by its handle, a link on the way is refused", async () => {
  const still = temporaryFolder("still");
  mkdirSync(join(still, "folder"));
  writeFileSync(join(still, "folder", "a.txt"), "mine");
  symlinkSync(outside, join(still, "link"));
  symlinkSync(join(outside, "a.txt"), join(still, "folder", "link"));
  const held = await openFolder(still, { byHandle: false });
  await assert.rejects(held.hold("link"), { code: "ELOOP" });
  const inner = await held.hold("folder");
  assert.equal(await inner.openFile("link"), undefined);
  const opened = await inner.openFile("a.txt");
  assert.equal(await opened?.handle.readFile("utf8"), "mine");
  await opened?.handle.close();
});
