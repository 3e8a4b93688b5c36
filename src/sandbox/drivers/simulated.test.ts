import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Sandbox, SandboxCommand } from "../sandbox.ts";
import { simulatedDriver } from "./simulated.ts";

suite("simulated", () => {
  let folder: string;
  let workspace: string;
  let sandbox: Sandbox;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "colloquy-simulated-"));
    workspace = await mkdtemp(join(folder, "workspace-"));
    sandbox = await simulatedDriver().open(AbortSignal.timeout(30_000));
  });
  after(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });
  const run = (script: string, options: Partial<SandboxCommand> = {}) =>
    sandbox.run({ argv: ["bash", "-c", script], workspace, signal: AbortSignal.timeout(60_000), ...options });

  test("its files are those of the workspace", async () => {
    await writeFile(join(workspace, "given"), "grüß\n");
    const script =
      "cat given; mkdir -p a/b; cp given a/b/copy; cp -r a c; mv c/b d; rm -r a; sort -r | tee sorted; exit 4";
    const { stdout, exitCode } = await run(script, { stdin: "one\ntwo\n" });
    assert.deepEqual([stdout.text, exitCode], ["grüß\ntwo\none\n", 4]);
    assert.deepEqual((await readdir(workspace)).sort(), ["c", "d", "given", "sorted"]);
    assert.equal(await readFile(join(workspace, "d", "copy"), "utf8"), "grüß\n");
    assert.equal((await run("cp -r d d/e; ls d")).stdout.text, "copy\n");
  });

  test("its Python has the files too", async () => {
    const code = 'print(6 * 7, open("given").read()); open("made", "w").write("x")';
    const argv = ["python3", "-I", "-B", "-c", code];
    // Its Python is a program of its own to start, which a busy machine takes its time for.
    const limits = { timeoutMs: 90_000 };
    const { stdout, stderr, end } = await sandbox.run({
      argv,
      workspace,
      limits,
      signal: AbortSignal.timeout(120_000),
    });
    assert.deepEqual([stdout.text, stderr.text, end], ["42 grüß\n\n", "", "exited"]);
    assert.equal((await stat(join(workspace, "made"))).size, 1);
  });

  test("links that somebody put there lead nowhere", async () => {
    await writeFile(join(folder, "canary"), "secret");
    await symlink(join(folder, "canary"), join(workspace, "link"));
    await symlink(folder, join(workspace, "above"));
    const reading = await run(`cat link above/canary ${folder}/canary ../canary; ls above`);
    assert.equal(reading.stdout.text, "");
    for (const place of ["above/made", "link"]) assert.notEqual((await run(`echo x > ${place}`)).exitCode, 0, place);
    assert.equal(await readFile(join(folder, "canary"), "utf8"), "secret");
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name === "made"),
      [],
    );
  });

  test("a loop that nothing interrupts ends in time, and when it is aborted", async () => {
    const busy = "python3 -c 'while True: pass'";
    assert.equal((await run(busy, { limits: { timeoutMs: 2500 } })).end, "timed-out");
    assert.equal((await run("while :; do :; done", { signal: AbortSignal.timeout(800) })).end, "aborted");
  });

  test("what it can't do is refused", async () => {
    const relay = { socket: "/nowhere", port: 1 };
    await assert.rejects(run("true", { relay }), /can show only the workspace/);
  });
});
