import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testServers } from "../../../test/mcp-servers.ts";
import { until } from "../../../test/run-suite.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** A server as a program, which notes its pid and each call that it reads; `send` ends it after that, `stay` answers. */
const program = `
const { appendFileSync } = require("node:fs");
const [folder] = process.argv.slice(1);
const note = (file, text) => appendFileSync(folder + "/" + file, text + "\\n");
note("pids", process.pid);
const tool = (name) => ({ name, inputSchema: { type: "object" }, annotations: { destructiveHint: false } });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } }),
  "tools/list": () => ({ tools: [tool("send"), tool("stay")] }),
  "tools/call"({ name }) {
    note("calls", name);
    if (name === "send") process.exit(1);
    return { content: [{ type: "text", text: "stayed" }] };
  },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const rest = answer ? { result: answer(params) } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...rest }) + "\\n");
});`;

function start() {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-mcp-"));
  const mcp = testServers({ own: { command: process.execPath, args: ["-e", program, folder] } });
  cleanups.push(
    () => rmSync(folder, { recursive: true }),
    () => mcp.close(),
  );
  const linesOf = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim().split("\n") : [];
  return { mcp, calls: () => linesOf("calls"), pids: () => linesOf("pids").map(Number) };
}

/** From here it looks the same whether it had read the call or not. */
test("a program that ends after its effect and before its answer leaves the write in doubt; it is started again, and not asked again", async () => {
  const { mcp, calls, pids } = start();
  const result = await mcp.call("own_send");
  assert.equal(result.uncertain, true);
  assert.match(result.content, /The outcome of send at own is unknown: .*Check before you repeat it/);
  assert.deepEqual(await mcp.call("own_stay"), { content: "stayed" });
  assert.deepEqual(calls(), ["send", "stay"]);
  assert.equal(pids().length, 2);
});

test("a call for a program that has ended is read once, by the one that is started in its place", async () => {
  const { mcp, calls, pids } = start();
  await mcp.tool("own_stay");
  process.kill(pids()[0]!, "SIGKILL");
  await until(() => pids().length === 2);
  assert.deepEqual(await mcp.call("own_stay"), { content: "stayed" });
  assert.deepEqual(calls(), ["stay"]);
  assert.equal(pids().length, 2);
});
