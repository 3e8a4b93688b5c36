import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapDriver } from "../../src/sandbox/drivers/bubblewrap.ts";
import { SandboxUnusable } from "../../src/sandbox/sandbox.ts";
import { testConformanceOf } from "./conformance.ts";

const signal = AbortSignal.timeout(600_000);

// As where the server may make no control groups.
await testConformanceOf([bubblewrapDriver({}, { groups: false })]);

const sandbox = await bubblewrapDriver()
  .open(signal)
  .catch((error: unknown) => {
    if (!(error instanceof SandboxUnusable)) throw error;
  });
const skip = sandbox ? false : "bubblewrap does not work here";
const folder = await mkdtemp(join(tmpdir(), "colloquy-bubblewrap-"));
after(async () => {
  await sandbox?.close();
  await rm(folder, { recursive: true, force: true });
});
const newWorkspace = () => mkdtemp(join(folder, "w-"));

test("50 commands at once, each for itself", { skip }, async () => {
  const results = await Promise.all(
    Array.from({ length: 50 }, async (_, index) =>
      sandbox!.run({
        argv: ["bash", "-c", `echo ${index} > mine; sleep 30 & sleep 1; cat mine; ps -C sleep -o pid= | wc -l`],
        workspace: await newWorkspace(),
        signal,
        limits: { timeoutMs: 120_000 },
      }),
    ),
  );
  for (const [index, { end, exitCode, stdout }] of results.entries()) {
    // Of all that sleep at the time it sees its own.
    assert.deepEqual([end, exitCode, stdout.text], ["exited", 0, `${index}\n1\n`]);
  }
});

test("fork bombs in several sandboxes leave this machine at work, and end with their time", { skip }, async () => {
  const bombs = await Promise.all(
    Array.from({ length: 5 }, async () =>
      sandbox!.run({
        argv: ["bash", "-c", ":(){ :|:& };:; sleep 30"],
        workspace: await newWorkspace(),
        signal,
        limits: { timeoutMs: 3000, processes: 64 },
      }),
    ),
  );
  assert.deepEqual(new Set(bombs.map(({ end }) => end)), new Set(["timed-out"]));
  const { stdout } = await sandbox!.run({ argv: ["echo", "still here"], workspace: await newWorkspace(), signal });
  assert.equal(stdout.text, "still here\n");
});
