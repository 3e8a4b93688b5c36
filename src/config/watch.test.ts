import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { watchConfig } from "./watch.ts";
import { loadConfig } from "./load.ts";
import type { McpServersConfig } from "../protocol/agents/mcp-servers.ts";

test("a changed file tells of its servers; one with faults, and one that is the same, of nothing", async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "colloquy-watch-"));
  const file = join(cwd, "colloquy.yaml");
  writeFileSync(file, "mcpServers: { one: { command: x } }\n");
  const told: McpServersConfig[] = [];
  const warnings: string[] = [];
  let wake = () => {};
  const until = async (isThere: () => boolean) => {
    while (!isThere()) await new Promise<void>((resolve) => (wake = resolve));
  };
  const note = (list: unknown[]) => (entry: unknown) => {
    list.push(entry);
    wake();
  };
  const log = { debug() {}, info() {}, error() {}, warn: (_: object, text: string) => note(warnings)(text) };
  const options = { env: {}, cwd };
  const stop = watchConfig(loadConfig(options), {
    log,
    intervalMs: 20,
    onServers: ({ mcpServers }) => note(told)(mcpServers),
  });
  t.after(() => {
    stop();
    rmSync(cwd, { recursive: true });
  });
  // A timer of the test's own, since watching a file does not keep a process alive.
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));

  writeFileSync(file, "mcpServers: { one: { command: x }, two: { commando: y } }\n");
  await until(() => warnings.length === 1);
  assert.match(warnings[0]!, /could not apply the changed configuration/);
  assert.deepEqual(told, []);

  // As editors do it.
  writeFileSync(`${file}.new`, "mcpServers: { two: { command: y } }\nlog: { level: error }\n");
  renameSync(`${file}.new`, file);
  await until(() => told.length === 1);
  assert.deepEqual(told[0], { two: { command: "y" } });
  await until(() => warnings.length === 2);
  assert.match(warnings[1]!, /need a restart/);

  writeFileSync(file, "# the same\nmcpServers: { two: { command: y } }\nlog: { level: error }\n");
  writeFileSync(file, "mcpServers: {}\nlog: { level: error }\n\n");
  await until(() => told.length === 2);
  assert.deepEqual(told[1], {});
});
