import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { jsonObjectSchema } from "../../src/protocol/base/shapes.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import type { Tool } from "../../src/protocol/agents/tools.ts";
import { executeTool, parseCall } from "../../src/tools/core/call-tool.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { createRemoteTools } from "../../src/tools/remote/remote-tools.ts";
import { testCaller, testContext } from "../mcp-servers.ts";
import { type AgentServing, serveAgents } from "../serve-agents.ts";
import { serveTools } from "../serve-tools.ts";

const given = '{"id":9007199254740993,"ratio":1.0,"limit":1e400,"map":{"__proto__":{"isAdmin":true}}}';

/** Says what it was called with. */
const echo: Tool = {
  ...defineTool({
    name: "echo",
    description: "Says it.",
    input: z.looseObject({}),
    effect: "read",
    execute: (input) => JSON.stringify(input),
  }),
  input: jsonObjectSchema,
  keepsNumbers: true,
};

let serving: AgentServing;
before(async () => {
  serving = await serveAgents(() => "ok", {}, { tools: [echo] });
});
after(() => serving.close());

async function post(path: string, body: string): Promise<string> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(`${serving.url}${path}`, { method: "POST", headers, body });
  return response.text();
}

test("a call over the API arrives as it was written, whichever way it is made", async () => {
  const native = JSON.parse(await post("/api/tools/echo/calls", `{"arguments":${given}}`)) as {
    result: { content: string };
  };
  assert.equal(native.result.content, given);
  const plain = JSON.parse(await post("/api/tools/echo", given)) as { answer: string };
  assert.equal(plain.answer, given);
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${given}}}`;
  // As JSON or as an event.
  assert.ok((await post("/mcp", call)).includes(`"text":${JSON.stringify(given)}`));
});

test("a call goes on to a server of tools as it was written", async () => {
  const server = await serveTools([echo]);
  const remote = createRemoteTools({ origin: server.url, log: silentLog, grantRelay: () => undefined });
  try {
    await remote.source.ready(testCaller, testContext.signal);
    const [tool] = remote.source.tools();
    const parsed = parseCall(tool!, given);
    assert.ok(parsed.ok);
    assert.equal((await executeTool(tool!, parsed.input, testContext)).content, given);
  } finally {
    await remote.close();
    await server.stop(0);
  }
});
