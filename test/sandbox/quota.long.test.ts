import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, link, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { messageOf } from "../../src/protocol/base/errors.ts";
import { unsafeNativeDriver } from "../../src/sandbox/drivers/unsafe-native.ts";
import { withQuota } from "../../src/sandbox/quota/with-quota.ts";
import type { Sandbox, SandboxLimits, SandboxResult } from "../../src/sandbox/sandbox.ts";
import { measure } from "../../src/sandbox/workspace/measure.ts";
import { createSpace } from "../../src/sandbox/workspace/space.ts";
import { createWorkspaces } from "../../src/sandbox/workspace/workspaces.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { drivers } from "./drivers.ts";

const megabyte = 1024 ** 2;
const most = { bytes: 8 * megabyte, entries: 2000 };
/** What file systems put around: folders, and the last block of each file. */
const around = megabyte / 4;
const signal = AbortSignal.timeout(300_000);

/** Without those that a played shell writes before they get their names. */
const names = (result: SandboxResult) =>
  result.full?.lost.map(({ path }) => path).filter((path) => !path.startsWith(".just-bash")) ?? [];
const python = (code: string) => `python3 -c '${code}'`;

for (const driver of [...drivers, unsafeNativeDriver()]) {
  const opened: Sandbox | string = await driver.open(signal).catch((error: unknown) => messageOf(error));
  const skip = typeof opened === "string" && `${driver.name} does not work here: ${opened}`;
  suite(driver.name, { skip }, () => {
    if (typeof opened === "string") return;
    const space = createSpace({ most, waitMs: 20_000 });
    const sandbox = withQuota(opened, space);
    const isReal = opened.report.runsPrograms;
    const isFiltered = isReal && driver.name !== "unsafe-native";
    const made: string[] = [];
    after(async () => {
      await sandbox.close();
      for (const folder of made) await rm(folder, { recursive: true, force: true });
    });
    const newWorkspace = async () => {
      const folder = await mkdtemp(join(tmpdir(), "colloquy-quota-"));
      await chmod(folder, 0o755);
      made.push(folder);
      return folder;
    };
    const run = (workspace: string, script: string, limits: Partial<SandboxLimits> = {}) =>
      sandbox.run({ argv: ["bash", "-c", script], workspace, signal, limits: { timeoutMs: 60_000, ...limits } });
    const held = async (workspace: string) => {
      const { bytes, entries } = await measure(workspace);
      assert.ok(bytes <= most.bytes + around, `${bytes} bytes`);
      assert.ok(entries <= most.entries, `${entries} entries`);
    };

    test("space that is asked for at once stays within what is allowed", { skip: !isReal }, async () => {
      const workspace = await newWorkspace();
      const code = `
import os
for name in range(40):
    f = open("f%d" % name, "w")
    try: os.posix_fallocate(f.fileno(), 0, 2 * 1024 ** 3)
    except OSError as error: print(error.errno)
    try: os.posix_fallocate(f.fileno(), 0, 7 * 1024 ** 2)
    except OSError as error: print(error.errno)`;
      const result = await run(workspace, `${python(code)}; sleep 1`);
      assert.equal(result.end, "disk-full");
      assert.ok(names(result).length > 0);
      await held(workspace);
    });

    test("the kernel makes no gigabytes at once", { skip: !isFiltered }, async () => {
      const code = `
import ctypes, os, fcntl
f = open("f", "w")
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate(f.fileno(), 0, ctypes.c_long(0), ctypes.c_long(4096)); print(ctypes.get_errno())
for request in (0x40305828, 0x4030582a, 0x40305839):
    try: fcntl.ioctl(f.fileno(), request, bytes(8) + (0).to_bytes(8, "little") + (4096).to_bytes(8, "little") + bytes(24)); print("done")
    except OSError as error: print(error.errno)
os.posix_fallocate(f.fileno(), 0, 4096); print(os.fstat(f.fileno()).st_size)`;
      const { stdout } = await run(await newWorkspace(), python(code));
      assert.equal(stdout.text, "95\n95\n95\n95\n4096\n");
    });

    test("twenty calls at once do not come to more, and none that lost something says it is done", async () => {
      const workspace = await newWorkspace();
      const write = isReal ? "head -c 2M /dev/zero" : `printf '%02000000d' 0`;
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => run(workspace, `${write} > f${index} && echo done`)),
      );
      await held(workspace);
      const done = results.flatMap(({ end, exitCode }, index) => (end === "exited" && exitCode === 0 ? [index] : []));
      for (const index of done) assert.ok((await stat(join(workspace, `f${index}`))).size >= 2_000_000, `f${index}`);
      assert.ok(done.length < 20);
      for (const { end, full } of results) if (end === "disk-full") assert.match(full?.words ?? "", /\w/);
    });

    test("what stood there before stays as it was, whatever a call does around it", async () => {
      const workspace = await newWorkspace();
      for (const name of ["old", "grown", "moved"])
        await writeFile(join(workspace, name), name.repeat(1000), { mode: 0o666 });
      await link(join(workspace, "old"), join(workspace, "second"));
      await symlink("old", join(workspace, "symbolic"));
      const fill = isReal
        ? "for i in 1 2 3 4 5 6 7 8 9; do head -c 2M /dev/zero > new$i; done; sleep 1"
        : "for i in 1 2 3 4 5 6 7 8 9; do printf '%02000000d' 0 > new$i; done";
      const give = isReal && process.getuid?.() === 0 ? "chmod" : "true";
      await run(workspace, `${give} 600 none 2>/dev/null; true`);
      const result = await run(workspace, `mv moved elsewhere; cp old copy; rm -f copy; ${fill}`);
      assert.equal(result.end, "disk-full");
      assert.ok(
        names(result).every((name) => name.startsWith("new")),
        names(result).join(),
      );
      await held(workspace);
      for (const [name, was] of [
        ["old", "old"],
        ["grown", "grown"],
        ["elsewhere", "moved"],
        ["second", "old"],
        ["symbolic", "old"],
      ] as const)
        assert.equal(await readFile(join(workspace, name), "utf8"), was.repeat(1000), name);
      // The newest goes first.
      assert.ok(!existsSync(join(workspace, names(result)[0]!)));
    });

    test("an old file that grew too far keeps what it was", { skip: !isReal }, async () => {
      const workspace = await newWorkspace();
      await run(workspace, "echo first > log; for i in 1 2 3; do head -c 1M /dev/zero > part$i; done");
      const grow = "cat part1 part2 part3 >> log; while :; do cat part1 >> log || break; done; sleep 1";
      const more = "for i in 4 5 6 7 8 9; do head -c 2M /dev/zero >> part1; done; sleep 1";
      const result = await run(workspace, `${grow}; ${more}`);
      assert.equal(result.end, "disk-full");
      await held(workspace);
      assert.equal((await readFile(join(workspace, "log"))).subarray(0, 6).toString(), "first\n");
      assert.ok((await stat(join(workspace, "part3"))).size === megabyte);
    });

    test(
      "a hole takes nothing until it is filled, and is one again where that was too much",
      { skip: !isReal },
      async () => {
        const workspace = await newWorkspace();
        const made = await run(workspace, "for i in 1 2 3 4; do truncate -s 7M hole$i; done");
        assert.deepEqual([made.end, made.exitCode], ["exited", 0]);
        const code = `
import mmap, glob
for name in glob.glob("hole*"):
    f = open(name, "r+b"); m = mmap.mmap(f.fileno(), 0)
    for at in range(0, len(m), 4096): m[at] = 1`;
        const result = await run(workspace, python(code));
        assert.equal(result.end, "disk-full");
        await held(workspace);
        for (const name of names(result)) assert.equal((await stat(join(workspace, name))).size, 7 * megabyte, name);
      },
    );

    test("empty files and folders count too", { skip: !isReal }, async () => {
      const workspace = await newWorkspace();
      const code = `
import os
for i in range(100000):
    if i % 10 == 0: os.mkdir("d%d" % i)
    else: open("e%d" % i, "w").close()`;
      const result = await run(workspace, python(code));
      assert.equal(result.end, "disk-full");
      assert.match(result.full!.words, /2000 files/);
      await held(workspace);
    });

    test("files without a name count while they are open", { skip: !isReal }, async () => {
      const workspace = await newWorkspace();
      const script = `for i in 4 5 6 7 8 9; do eval "exec $i> f$i"; rm f$i; head -c 7M /dev/zero >&$i; done; sleep 4; echo all`;
      const { end, stdout } = await run(workspace, script);
      assert.deepEqual([end, stdout.text], ["disk-full", ""]);
    });

    test("a full workspace takes nothing more until something is removed, which a command may do", async () => {
      const workspace = await newWorkspace();
      await writeFile(join(workspace, "large"), Buffer.alloc(most.bytes), { mode: 0o666 });
      await chmod(workspace, 0o777);
      const write = isReal ? "head -c 1M /dev/zero > more" : `printf '%01000000d' 0 > more`;
      const refused = await run(workspace, `${write}; sleep 0.3`);
      assert.ok(!existsSync(join(workspace, "more")) || (await stat(join(workspace, "more"))).size <= 64 * 1024);
      assert.ok(refused.end === "disk-full" || refused.stderr.text !== "", refused.end);
      const removed = await run(workspace, "rm -f large more; ls");
      assert.deepEqual([removed.end, removed.stdout.text], ["exited", ""]);
      const again = await run(workspace, `${write} && echo done`);
      assert.deepEqual([again.end, again.stdout.text], ["exited", "done\n"]);
    });

    test("what people bring is kept, and counts", async () => {
      const folder = await newWorkspace();
      const workspace = await createWorkspaces({ folder, diskBytes: most.bytes, space }).open(newId());
      const slow = run(
        workspace.folder,
        `${isReal ? "touch begun; while [ ! -e brought ]; do sleep 0.05; done" : "true"}; for i in 1 2 3 4 5 6 7; do ${isReal ? "head -c 2M /dev/zero" : "printf '%02000000d' 0"} > n$i; done; sleep 1`,
      );
      while (isReal && !existsSync(join(workspace.folder, "begun")))
        await new Promise((resolve) => setTimeout(resolve, 20));
      await workspace.write("brought", Buffer.alloc(megabyte, 1));
      const result = await slow;
      assert.equal(result.end, "disk-full");
      assert.equal((await workspace.read("brought", { maxBytes: 2 * megabyte })).bytes, megabyte);
      await assert.rejects(workspace.write("too-large", Buffer.alloc(9 * megabyte)), /No space left for too-large/);
      assert.ok((await readdir(folder)).includes(".making"));
      assert.deepEqual(await readdir(join(folder, ".making")), []);
    });

    test("nothing stays promised", () => assert.equal(space.reserved(), 0));
  });
}
