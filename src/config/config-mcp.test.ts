import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigInvalid, describeConfig, loadConfig } from "./load.ts";

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

function folderWith(yaml: string): string {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-config-"));
  folders.push(folder);
  writeFileSync(join(folder, "colloquy.yaml"), yaml);
  return folder;
}

function problemsOf(yaml: string): string {
  try {
    loadConfig({ cwd: folderWith(yaml), env: {} });
  } catch (error) {
    assert.ok(error instanceof ConfigInvalid);
    return error.problems.map(({ where, path, text }) => `${where} ${path} ${text}`).join("\n");
  }
  return assert.fail("no problem was found");
}

test("servers of tools: in the shape of other clients, and what is wrong with one", () => {
  const yaml = [
    "mcpServers:",
    "  files: { command: npx, args: [-y, server], env: { TOKEN: '${T}', MODE: fast }, timeoutMs: '${MS}' }",
    "  web: { type: http, url: 'https://tools.example/mcp?key=veiled', headers: { authorization: veiled } }",
    "  mcp_trader: { disabled: true }",
  ].join("\n");
  const config = loadConfig({ cwd: folderWith(yaml), env: { T: "veiled", MS: "5000" } });
  assert.deepEqual(config.mcpServers["files"], {
    command: "npx",
    args: ["-y", "server"],
    env: { TOKEN: "veiled", MODE: "fast" },
    timeoutMs: 5000,
  });
  assert.doesNotMatch(JSON.stringify(describeConfig(config)), /veiled|fast/);
  const wrong = [
    "mcpServers:",
    "  both: { command: x, url: 'http://localhost:1' }",
    "  none: {}",
    "  'a b': { command: x }",
    "  mixed: { command: x, transport: sse }",
    "  slip: { command: x, arg: [y] }",
    "  user: { url: 'http://ada:veiled@localhost' }",
  ].join("\n");
  const found = problemsOf(wrong);
  assert.match(found, /:2 mcpServers.both.command .*must stand alone/);
  assert.match(found, /:3 mcpServers.none.url .*either a command or a url/);
  assert.match(found, /:4 mcpServers.a b /);
  assert.match(found, /:5 mcpServers.mixed.transport .*does not go with a command/);
  assert.match(found, /:6 mcpServers.slip.arg is not a known key; did you mean args\?/);
  assert.match(found, /:7 mcpServers.user.url .*use headers instead/);
  assert.doesNotMatch(found, /veiled/);
});
