import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig, plainEnvironment } from "../src/config/load.ts";
import { testServers } from "./mcp-servers.ts";
import { temporaryFolder } from "./pglite.ts";

const root = join(import.meta.dirname, "..");

test("the example of mcp-client.md: the program starts, and the tools are those it says", async (context) => {
  const [, yaml] = /^```yaml\n(.*?)^```$/ms.exec(readFileSync(join(root, "docs/mcp-client.md"), "utf8"))!;
  const cwd = temporaryFolder("docs");
  writeFileSync(join(cwd, "colloquy.yaml"), yaml!);
  const { mcpServers } = loadConfig({ cwd, env: { GITHUB_TOKEN: "token" } });
  const servers = { ...mcpServers, files: { ...mcpServers["files"], cwd: root } };
  const mcp = testServers(servers, { environment: plainEnvironment() });
  context.after(() => mcp.close());
  const listed = await mcp.call("files_list_directory", { path: "." });
  assert.match(listed.content, /mcp-client\.md/);
  assert.equal((await mcp.tool("files_write_file")).destructive, false);
  assert.equal((await mcp.tool("files_edit_file")).destructive, true);
  const states = Object.fromEntries(mcp.states().map(({ name, state }) => [name, state]));
  assert.equal(states["files"], "ready");
  assert.equal(states["github"], "disabled");
  assert.equal(
    mcp.sources.flatMap((source) => source.tools()).some(({ name }) => name === "files_move_file"),
    false,
  );
});
