import assert from "node:assert/strict";
import { test } from "node:test";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startRaw, testCaller, testServers } from "../../../test/mcp-servers.ts";
import { createToolRegistry } from "../core/registry.ts";

const servers = 50;
const toolsEach = 20;

test("50 servers with 1,000 tools: the start waits for none, and no message lists again", async (context) => {
  const tools = (at: number) =>
    Array.from({ length: toolsEach }, (_, n) => ({
      name: `tool_${n}`,
      description: `Does thing ${n} of ${at}.`,
      inputSchema: {
        type: "object",
        properties: { [`a${at}`]: { type: "string" }, b: { type: "array", items: { type: "number" } } },
      },
      annotations: { readOnlyHint: true },
    }));
  const raws = await Promise.all(Array.from({ length: servers }, (_, at) => startRaw(tools(at), () => undefined)));
  context.after(() => Promise.all(raws.map((raw) => raw.close())));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const mcp = testServers(Object.fromEntries(raws.map(({ url }, at) => [`s${at}`, { url }])));
  const registry = createToolRegistry([], mcp.sources);
  context.after(() => mcp.close());
  const startMs = performance.now() - began;
  await Promise.all(raws.map((_, at) => mcp.until(`s${at}`, "ready")));
  delay.disable();
  const longestMs = delay.max / 1e6;
  context.diagnostic(
    `start ${startMs.toFixed(0)} ms, all ready after ${(performance.now() - began).toFixed(0)} ms, longest block ${longestMs.toFixed(0)} ms`,
  );
  assert.ok(startMs < 500);
  const asked = () => raws.reduce((sum, { seen }) => sum + seen.length, 0);
  const before = asked();
  const messages = 100;
  const from = performance.now();
  for (let n = 0; n < messages; n++) {
    await registry.prepare(["*"], testCaller);
    assert.equal(registry.select(["*"], testCaller).length, servers * toolsEach);
  }
  context.diagnostic(`${((performance.now() - from) / messages).toFixed(2)} ms for each message`);
  assert.equal(asked(), before);
});
