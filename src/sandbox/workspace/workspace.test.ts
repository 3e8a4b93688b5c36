import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Workspace } from "./workspace.ts";
import { workspaceOwner } from "./owner.ts";
import { createWorkspaces } from "./workspaces.ts";

const megabyte = 1024 ** 2;
let outside: string;
let scratch: string;
let workspace: Workspace;

beforeEach(async () => {
  const folder = temporaryFolder("workspace");
  [outside, scratch] = [join(folder, "outside"), join(folder, "scratch")];
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), "CANARY");
  workspace = await createWorkspaces({ folder: scratch, diskBytes: megabyte }).open(newId());
});

const here = (path: string) => join(workspace.folder, path);
const text = async (path: string) => String((await workspace.read(path, { maxBytes: megabyte })).content);

/** Runs a program in the folder, as a command in a sandbox would. */
const bash = (command: string) => execFileSync("bash", ["-c", command], { cwd: workspace.folder });

async function refusal(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => assert.fail("was not refused"),
    (failed: unknown) => failed,
  );
  assert.ok(error instanceof ColloquyError, String(error));
  assert.ok(!error.message.includes(scratch) && !error.message.includes("/proc"), error.message);
  return error.code;
}

test("what was written is read, under each form of its path", async () => {
  assert.deepEqual(await workspace.write("notes/a.txt", "one"), {
    path: "notes/a.txt",
    bytes: 3,
    change: "made",
    mediaType: "text/plain",
  });
  assert.equal((await workspace.write("/workspace/notes/../notes/./a.txt", "two")).change, "changed");
  for (const path of ["notes/a.txt", "./notes//a.txt", "/workspace/notes/a.txt"]) assert.equal(await text(path), "two");
  assert.deepEqual((await workspace.read("notes/a.txt", { maxBytes: 2 })).content, Buffer.from("tw"));
});

test("a path that leads out is refused before anything is looked at", async () => {
  for (const path of ["../outside/secret.txt", "/etc/passwd", "a/../../outside/secret.txt", "/workspacex/a", "a\0b"])
    for (const action of [() => workspace.read(path, { maxBytes: 9 }), () => workspace.write(path, "x")])
      assert.equal(await refusal(action()), "file_path_invalid");
  for (const path of ["", ".", "/workspace"]) assert.equal(await refusal(workspace.write(path, "x")), "is_a_folder");
  assert.equal(await refusal(workspace.write("n".repeat(256), "x")), "file_path_invalid");
});

test("links, pipes, sockets and devices are neither read nor waited for, and links are not written through", async () => {
  symlinkSync(join(outside, "secret.txt"), here("link"));
  symlinkSync(outside, here("folder"));
  bash("mkfifo pipe; ln -s loop loop; ln -s /dev/zero zero");
  const server = createServer().listen(here("socket"));
  await once(server, "listening");
  try {
    for (const path of ["link", "pipe", "socket", "loop", "zero"])
      assert.equal(await refusal(workspace.read(path, { maxBytes: 9 })), "not_a_file", path);
    for (const path of ["folder/secret.txt", "loop/a"])
      assert.equal(await refusal(workspace.read(path, { maxBytes: 9 })), "not_a_folder", path);
    assert.equal(await refusal(workspace.write("folder/new.txt", "x")), "not_a_folder");
    assert.equal(await refusal(workspace.remove("folder/secret.txt")), "not_a_folder");
    assert.equal(await refusal(workspace.list({ under: "folder" })), "not_a_folder");
    const { entries } = await workspace.list();
    assert.deepEqual(
      entries.map(({ path, kind }) => `${path} ${kind}`),
      ["folder link", "link link", "loop link", "pipe other", "socket other", "zero link"],
    );
    // The link itself gives way.
    assert.equal((await workspace.write("link", "mine")).change, "changed");
    assert.equal(await text("link"), "mine");
    await workspace.remove("folder");
  } finally {
    server.close();
  }
  assert.equal(readFileSync(join(outside, "secret.txt"), "utf8"), "CANARY");
  assert.deepEqual(readdirSync(outside), ["secret.txt"]);
});

test("a workspace takes no more than its room, and a file that did not fit leaves the old one", async () => {
  await workspace.write("a.txt", "old");
  const chunks = async function* () {
    for (;;) yield Buffer.alloc(64 * 1024);
  };
  for (const path of ["a.txt", "b.txt"]) assert.equal(await refusal(workspace.write(path, chunks())), "workspace_full");
  assert.equal(await text("a.txt"), "old");
  assert.ok(!existsSync(here("b.txt")));
  // A file without content takes none, however long it says it is; what is replaced makes room.
  bash("truncate -s 1T huge; head -c 900000 /dev/zero > most");
  assert.equal(await refusal(workspace.write("c.txt", Buffer.alloc(300_000))), "workspace_full");
  await workspace.write("most", Buffer.alloc(1_000_000));
  assert.equal((await workspace.read("huge", { maxBytes: 10 })).bytes, 1024 ** 4);
  assert.deepEqual(readdirSync(join(scratch, ".making")), []);
});

test("names may be anything, and trees of any size are listed in part and removed whole", async () => {
  const names = ["new\nline", "ünï 🌳", "-rf", "a'b\"c", "#?%2e"];
  for (const name of names) {
    await workspace.write(`odd/${name}`, name);
    assert.equal(await text(`odd/${name}`), name);
  }
  bash("mkdir bytes && cd bytes && touch $'\\xff\\xfe' && mkdir $'\\xfd' && touch $'\\xfd/in'");
  assert.equal((await workspace.list({ under: "bytes" })).entries.length, 3);
  bash("mkdir wide && cd wide && seq 3000 | xargs touch");
  const some = await workspace.list({ under: "wide", most: 10 });
  assert.deepEqual([some.entries.length, some.more], [10, true]);
  // Its path is longer than any that may be given to the system.
  bash(
    "mkdir deep && cd deep && for i in $(seq 250); do mkdir dddddddddddddddddddddddddddddddddddddddddddddddd && cd ddd*; done",
  );
  assert.equal((await workspace.usage()).isWhole, false);
  assert.equal(await refusal(workspace.write("a.txt", "x")), "workspace_full");
  for (const path of ["deep", "wide", "bytes", "odd"]) await workspace.remove(path);
  assert.deepEqual(await workspace.list(), { entries: [], more: false });
  assert.deepEqual(readdirSync(join(scratch, ".removing")), []);
});

test("what was made, changed and removed since a moment, without what programs keep for themselves", async () => {
  for (const name of ["same", "other", "gone"]) await workspace.write(`${name}.txt`, "12345");
  const before = await workspace.snapshot();
  bash(
    "printf 54321 > other.txt; rm gone.txt; mkdir -p new .cache .colloquy/x; printf x | tee new/plot.png .cache/a .colloquy/x/b > /dev/null; ln -s / root",
  );
  const { files, more } = await workspace.changesSince(before);
  assert.deepEqual(
    files.map(({ path, bytes, change, mediaType }) => [path, bytes, change, mediaType]),
    [
      ["new/plot.png", 1, "made", "image/png"],
      ["other.txt", 5, "changed", "text/plain"],
      ["gone.txt", 0, "removed", "text/plain"],
    ],
  );
  assert.equal(more, 0);
  bash("for i in $(seq 150); do echo > f$i; done");
  const many = await workspace.changesSince(before);
  assert.deepEqual([many.files.length, many.more], [100, 53]);
});

test("a file that was changed meanwhile is not written over, if that is asked for", async () => {
  await workspace.write("a.txt", "one");
  const { version } = await workspace.read("a.txt", { maxBytes: 9 });
  bash("printf two > a.txt");
  assert.equal(await refusal(workspace.write("a.txt", "mine", { ifVersion: version })), "file_changed");
  const now = await workspace.read("a.txt", { maxBytes: 9 });
  await workspace.write("a.txt", "mine", { ifVersion: now.version });
  assert.equal(await text("a.txt"), "mine");
});

test("a file keeps its permissions, and belongs to whoever runs the commands", async () => {
  await workspace.write("bin/run.sh", "#!/bin/sh");
  bash("chmod 755 bin/run.sh");
  await workspace.write("bin/run.sh", "#!/bin/bash");
  assert.equal(statSync(here("bin/run.sh")).mode & 0o777, 0o755);
  const uid = workspaceOwner?.uid ?? process.getuid?.();
  for (const path of ["", "bin", "bin/run.sh"]) assert.equal(lstatSync(here(path)).uid, uid);
});

test("what became shorter while it was read fails instead of telling half", async () => {
  await workspace.write("a.bin", Buffer.alloc(200_000));
  const chunks = (await workspace.openFile("a.bin")).read();
  await chunks.next();
  bash("truncate -s 10 a.bin");
  await assert.rejects(async () => {
    for await (const _ of chunks);
  }, /shorter/);
});

test("an upload that breaks off leaves nothing", async () => {
  const stop = new AbortController();
  const chunks = async function* () {
    yield Buffer.from("half");
    stop.abort();
    yield Buffer.from("rest");
  };
  await assert.rejects(workspace.write("a.txt", chunks(), { signal: stop.signal }), { name: "AbortError" });
  assert.deepEqual((await workspace.list()).entries, []);
  assert.deepEqual(readdirSync(join(scratch, ".making")), []);
});
