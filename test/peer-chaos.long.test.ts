import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tableOf } from "../chaos/peers/table.ts";
import { wreakOnPeer } from "../chaos/peers/wreak.ts";

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-peer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const harm = { seconds: 25, clients: 4, log: () => {} };

// Zeros of others mean something only if the same driver, harm and judge find fault with a server that deserves it.
test("the driver for peers finds that a careless one loses and doubles", { timeout: 240_000 }, async (t) => {
  const findings = await wreakOnPeer({ ...harm, peer: "careless", folder: folderFor(t), seed: 12 });
  const table = tableOf("careless", findings);
  assert.ok(findings.finished > 0, table);
  assert.ok(findings.lost.length > 0, table);
  assert.ok(findings.doubled.plain.length > 0, table);
  assert.ok(findings.doubled.keyed.length > 0, table);
  assert.ok(findings.unknownSilent.length > 0, table);
});

test("the same driver finds no run of ours lost, stuck, or told with a gap", { timeout: 240_000 }, async (t) => {
  const findings = await wreakOnPeer({ ...harm, peer: "colloquy", folder: folderFor(t), seed: 12 });
  const table = tableOf("colloquy", findings);
  assert.ok(findings.finished > 0, table);
  assert.deepEqual([findings.lost, findings.stuck, findings.gaps], [[], [], []], table);
});
