import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { newId } from "../../protocol/base/ids.ts";
import { createWorkspaces } from "./workspaces.ts";

let folder: string;
let template: string;
beforeEach(() => {
  const place = temporaryFolder("workspaces");
  [folder, template] = [join(place, "scratch"), join(place, "template")];
});

function makeTemplate(): void {
  mkdirSync(join(template, "data"), { recursive: true });
  writeFileSync(join(template, "data", "sales.csv"), "a,b\n1,2\n");
  writeFileSync(join(template, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
}

const shown = (path: string) => readdirSync(path, { recursive: true }).map(String).sort();

test("a workspace begins with what is in the folder for that, once", async () => {
  makeTemplate();
  symlinkSync("/etc/passwd", join(template, "link"));
  await once(spawn("bash", ["-c", "mkfifo pipe"], { cwd: template }), "exit");
  const workspaces = createWorkspaces({ folder, template });
  const thread = newId();
  assert.equal(await workspaces.find(thread), undefined);
  const [one, other] = await Promise.all([workspaces.open(thread), workspaces.open(thread)]);
  assert.equal(one.folder, other.folder);
  assert.deepEqual(shown(one.folder), ["data", "data/sales.csv", "link", "run.sh"]);
  // The link, and not what it points to.
  assert.equal(readlinkSync(join(one.folder, "link")), "/etc/passwd");
  assert.equal(lstatSync(join(one.folder, "run.sh")).mode & 0o777, 0o755);
  await one.remove("data");
  assert.deepEqual(shown((await workspaces.open(thread)).folder), ["link", "run.sh"]);
  assert.deepEqual(shown((await workspaces.open(newId())).folder), ["data", "data/sales.csv", "link", "run.sh"]);
});

test("without such a folder it begins empty; one that is too large is refused and leaves nothing", async () => {
  const empty = await createWorkspaces({ folder, template }).open(newId());
  assert.deepEqual(shown(empty.folder), []);
  makeTemplate();
  const small = createWorkspaces({ folder, template, diskBytes: 4096 });
  await assert.rejects(small.open(newId()), { code: "template_too_large" });
  assert.deepEqual(readdirSync(join(folder, ".making")), []);
});

/** Copies a template of many files in a process of its own, and is killed when the first are there. */
async function copyUntilKilled(thread: string): Promise<void> {
  const code = `
    import { createWorkspaces } from ${JSON.stringify(join(import.meta.dirname, "workspaces.ts"))};
    await createWorkspaces(${JSON.stringify({ folder, template })}).open(${JSON.stringify(thread)});
    console.log("whole");`;
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let isWhole = false;
  child.stdout!.on("data", () => (isWhole = true));
  const making = join(folder, ".making");
  while (!existsSync(making) || shown(making).length < 5) await new Promise((resolve) => setTimeout(resolve, 1));
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.ok(!isWhole, "the copy was faster than its end");
}

test("a copy that a crash broke off does not count, and is swept away", async () => {
  makeTemplate();
  for (let file = 0; file < 800; file++) writeFileSync(join(template, `file-${file}`), "x");
  const thread = newId();
  await copyUntilKilled(thread);
  const workspaces = createWorkspaces({ folder, template });
  assert.equal(await workspaces.find(thread), undefined);
  const { folder: whole } = await workspaces.open(thread);
  assert.equal(readdirSync(whole).length, 802);
  const left = readdirSync(join(folder, ".making"));
  assert.equal(left.length, 1);
  // It could be somebody's who is at work.
  await workspaces.removeLeftovers();
  assert.deepEqual(readdirSync(join(folder, ".making")), left);
  await workspaces.removeLeftovers({ olderThanMs: 0 });
  assert.deepEqual(readdirSync(join(folder, ".making")), []);
  assert.equal(readdirSync(whole).length, 802);
});

test("is removed with all that is in it, when nothing of a sandbox is left in it", async () => {
  const released: string[] = [];
  const release = async (place: string) => {
    assert.ok(existsSync(place));
    released.push(place);
  };
  const workspaces = createWorkspaces({ folder, release });
  const [thread, other] = [newId(), newId()];
  const workspace = await workspaces.open(thread);
  await workspace.write("a/b/c.txt", "x");
  await (await workspaces.open(other)).write("kept.txt", "kept");
  // What commands do to keep others out.
  chmodSync(join(workspace.folder, "a", "b"), 0);
  chmodSync(workspace.folder, 0);
  await workspaces.remove(thread);
  await workspaces.remove(thread);
  assert.deepEqual(released, [workspace.folder]);
  assert.deepEqual(shown(folder), [".making", ".removing", other, `${other}/kept.txt`]);
});

test("a command can't lock the server out of the folder", async () => {
  const workspaces = createWorkspaces({ folder });
  const thread = newId();
  const workspace = await workspaces.open(thread);
  await workspace.write("a.txt", "mine");
  chmodSync(workspace.folder, 0);
  const again = await workspaces.open(thread);
  assert.equal(readFileSync(join(again.folder, "a.txt"), "utf8"), "mine");
  assert.equal(lstatSync(workspace.folder).mode & 0o777, 0o700);
});

test("only ids of threads name a workspace, and a process without the files of the others has none", async () => {
  const workspaces = createWorkspaces({ folder });
  for (const name of ["..", ".making", "", "a/b"])
    await assert.rejects(workspaces.open(name), { code: "thread_not_found" });
  const apart = createWorkspaces({ folder, refusal: "not here" });
  await assert.rejects(apart.open(newId()), { code: "files_unavailable", message: "not here" });
});
