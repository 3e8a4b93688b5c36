import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bubblewrapDriver } from "../../src/sandbox/drivers/bubblewrap.ts";

const megabyte = 1024 ** 2;

// A file of its own, so a process of its own: what other tests left on the heap would be measured too.
test("1 GB of output costs the server less than 20 MB", async () => {
  const signal = AbortSignal.timeout(600_000);
  const sandbox = await bubblewrapDriver().open(signal);
  const workspace = await mkdtemp(join(tmpdir(), "colloquy-output-"));
  /** Bytes by which the process grew at most. */
  const costOf = async (size: string, bytes: number) => {
    const before = process.memoryUsage.rss();
    let largest = before;
    const timer = setInterval(() => (largest = Math.max(largest, process.memoryUsage.rss())), 10);
    const { end, stdout } = await sandbox.run({
      argv: ["bash", "-c", `head -c ${size} /dev/zero | tr '\\0' x`],
      workspace,
      signal,
      limits: { outputBytes: 2048 * megabyte, timeoutMs: 300_000 },
    });
    clearInterval(timer);
    assert.deepEqual([end, stdout.bytes], ["exited", bytes]);
    return largest - before;
  };
  try {
    // The heap takes its size.
    await costOf("256M", 256 * megabyte);
    const cost = await costOf("1G", 1024 * megabyte);
    console.log(`1 GB of output cost ${(cost / megabyte).toFixed(1)} MB`);
    assert.ok(cost < 20 * megabyte, `${cost / megabyte} MB`);
  } finally {
    await sandbox.close();
    await rm(workspace, { recursive: true, force: true });
  }
});
