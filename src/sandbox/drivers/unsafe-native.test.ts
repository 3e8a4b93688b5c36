import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox, SandboxCommand } from "../sandbox.ts";
import { unsafeNativeDriver } from "./unsafe-native.ts";

// Nothing of the hostile probes: what they may do, they do.
suite("unsafe-native", () => {
  let workspace: string;
  let sandbox: Sandbox;
  before(async () => {
    workspace = await mkdtemp(join(tmpdir(), "colloquy-native-"));
    sandbox = await unsafeNativeDriver().open(AbortSignal.timeout(10_000));
  });
  after(async () => {
    await sandbox.close();
    await rm(workspace, { recursive: true, force: true });
  });
  const run = (script: string, options: Partial<SandboxCommand> = {}) =>
    sandbox.run({ argv: ["bash", "-c", script], workspace, signal: AbortSignal.timeout(30_000), ...options });

  test("says loudly what it is", () => {
    assert.equal(sandbox.report.grade, "none");
    assert.match(sandbox.report.gaps[0]!, /^COMMANDS ARE NOT ISOLATED FROM THIS MACHINE/);
  });

  test("commands run in the workspace, without the server's environment", async () => {
    process.env["COLLOQUY_TEST_SECRET"] = "secret";
    const { stdout, exitCode } = await run("pwd; env; exit 3", { env: { GIVEN: "yes" } });
    delete process.env["COLLOQUY_TEST_SECRET"];
    assert.equal(exitCode, 3);
    assert.ok(stdout.text.startsWith(`${workspace}\n`));
    assert.match(stdout.text, /^GIVEN=yes$/m);
    assert.doesNotMatch(stdout.text, /secret/);
    assert.equal(
      (await sandbox.run({ argv: ["no-such-program"], workspace, signal: AbortSignal.timeout(9000) })).exitCode,
      127,
    );
  });

  test("what left its session ends with it: at its end, by time-out and by abort", async () => {
    const beating =
      "setsid sh -c 'while :; do echo >> beat; sleep 0.02; done' >/dev/null 2>&1 & until [ -s beat ]; do :; done";
    const stop = new AbortController();
    const ways: [string, Partial<SandboxCommand>][] = [
      ["exited", {}],
      ["timed-out", { limits: { timeoutMs: 400 } }],
      ["aborted", { signal: stop.signal, onOutput: () => stop.abort() }],
    ];
    for (const [expected, options] of ways) {
      const { end } = await run(`${beating}; ${expected === "exited" ? "" : "echo ready; sleep 20"}`, options);
      const { size } = await stat(join(workspace, "beat"));
      await sleep(100);
      assert.deepEqual([end, (await readFile(join(workspace, "beat"))).length], [expected, size]);
      await rm(join(workspace, "beat"));
    }
  });
});
