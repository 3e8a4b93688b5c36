import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { landlockDriver, readablePaths } from "./landlock.ts";

import { type Sandbox, type SandboxCommand, SandboxFailed, SandboxUnusable } from "../sandbox.ts";

const present = await landlockDriver()
  .open(AbortSignal.timeout(20_000))
  .catch((error: unknown) => {
    if (!(error instanceof SandboxUnusable)) throw error;
    console.log(`LEFT OUT: landlock does not work here: ${error.message}`);
    return undefined;
  });
await present?.close();

suite("landlock", { skip: present ? false : "it does not work here" }, () => {
  let folder: string;
  let sandbox: Sandbox;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "colloquy-landlock-"));
    sandbox = await landlockDriver().open(AbortSignal.timeout(20_000));
  });
  after(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });
  const run = async (script: string, options: Partial<SandboxCommand> = {}) => {
    const workspace = await mkdtemp(join(folder, "workspace-"));
    return sandbox.run({ argv: ["bash", "-c", script], workspace, signal: AbortSignal.timeout(30_000), ...options });
  };

  test("variables of a command reach no program but its own", async () => {
    const env = { LD_PRELOAD: "/nowhere.so", PYTHONPATH: "/nowhere", BASH_ENV: "/nowhere" };
    const { stdout, stderr } = await run("echo $PYTHONPATH", { env });
    assert.equal(stdout.text, "/nowhere\n");
    assert.equal(stderr.text.match(/ERROR: ld\.so/g)?.length, 1, stderr.text);
  });

  test("a command has nothing open but its three", async () => {
    const script = `python3 -c '
import os
for descriptor in range(300):
    try: os.fstat(descriptor); print(descriptor)
    except OSError: pass'`;
    assert.equal((await run(script)).stdout.text, "0\n1\n2\n");
  });

  test("programs find a folder for what is temporary, which goes with them", async () => {
    const { stdout, exitCode } = await run(
      'python3 -c "import tempfile; print(tempfile.mkdtemp())"; cat <<< here; cat <(echo there)',
    );
    const [made = "", ...rest] = stdout.text.trim().split("\n");
    assert.deepEqual([exitCode, rest], [0, ["here", "there"]]);
    await assert.rejects(readdir(made), { code: "ENOENT" });
    assert.match((await run("echo x > /tmp/colloquy-x")).stderr.text, /Permission denied/);
  });

  test("a folder that stands under its own path may be shown, another may not", async () => {
    const shown = await mkdtemp(join(folder, "shown-"));
    await writeFile(join(shown, "text"), "shown", { mode: 0o644 });
    await Promise.all([chmod(folder, 0o755), chmod(shown, 0o755)]);
    const script = `cat ${shown}/text; echo x > ${shown}/text`;
    assert.equal((await run(script)).stdout.text, "");
    const result = await run(script, { mounts: [{ source: shown, target: shown }] });
    assert.equal(result.stdout.text, "shown");
    assert.match(result.stderr.text, /Permission denied/);
    await assert.rejects(run("true", { mounts: [{ source: shown, target: "/other" }] }), SandboxFailed);
  });

  test("what is hidden among programs is left out, with nothing else", async () => {
    const paths = readablePaths(["/usr/share/doc", "/nowhere"]);
    assert.ok(!paths.includes("/usr") && !paths.includes("/usr/share") && !paths.includes("/usr/share/doc"));
    for (const path of ["/usr/bin", "/usr/lib"]) assert.ok(paths.includes(path), path);
    assert.ok(readablePaths([]).includes("/usr"));
  });
});
