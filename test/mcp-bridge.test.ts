import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { bridgeMcp } from "../src/client/mcp-bridge.ts";
import type { Tool } from "../src/protocol/agents/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { serve } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const slow = defineTool({
  name: "slow",
  description: "Tells how far it is, until it is stopped.",
  input: z.object({}),
  effect: "read",
  async execute(_input, { signal, progress }) {
    while (!signal.aborted) {
      progress("on the way");
      await sleep(20);
    }
    throw signal.reason;
  },
});

const taken: string[] = [];
const take: Tool = {
  ...defineTool({
    name: "take",
    description: "Keeps what it is given.",
    input: z.looseObject({}),
    effect: "read",
    execute(given) {
      taken.push(JSON.stringify(given));
      return "taken";
    },
  }),
  keepsNumbers: true,
};

let backend: AgentServing;
before(async () => {
  backend = await serveAgents(() => "", {}, { tools: [slow, take], limits: { repeatedCall: 0 } });
});
after(() => backend.close());

type Message = { id?: unknown; method?: string; result?: Record<string, unknown>; error?: { code: number } };

/** A client's end of the pipe. */
function open(locate = async () => ({ url: backend.url })) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = bridgeMcp({ lastAnswersMs: 1000, locate, input, output });
  const received: Message[] = [];
  let text = "";
  output.on("data", (data: Buffer) => {
    const lines = (text + data.toString()).split("\n");
    text = lines.pop()!;
    received.push(...lines.map((line) => JSON.parse(line) as Message));
  });
  return {
    send: (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    async until(isIt: (message: Message) => boolean): Promise<Message> {
      for (;;) {
        const found = received.find(isIt);
        if (found) return found;
        await sleep(5);
      }
    },
    async close() {
      input.end();
      await done;
    },
    input,
  };
}

const clientInfo = { name: "test", version: "1" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function slowRuns(status: string): Promise<number> {
  const runs = await backend.runs.list(backend.caller, { limit: 100 });
  return runs.filter((run) => run.agent === "tool:slow" && run.status === status).length;
}

for (const era of ["2025-11-25", "2026-07-28"])
  test(`a call that is taken back over the pipe stops its run (${era})`, async () => {
    const pipe = open();
    const before = await slowRuns("cancelled");
    if (era === "2025-11-25") {
      pipe.send({ id: 0, method: "initialize", params: { protocolVersion: era, capabilities: {}, clientInfo } });
      await pipe.until(({ id }) => id === 0);
      pipe.send({ method: "notifications/initialized" });
    }
    const _meta = { progressToken: "p", ...(era === "2026-07-28" && envelope) };
    pipe.send({ id: 1, method: "tools/call", params: { name: "slow", arguments: {}, _meta } });
    await pipe.until(({ method }) => method === "notifications/progress");
    // Others go on beside it.
    pipe.send({ id: 2, method: "tools/list", params: era === "2026-07-28" ? { _meta: envelope } : {} });
    assert.ok((await pipe.until(({ id }) => id === 2)).result?.["tools"]);
    pipe.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    while ((await slowRuns("cancelled")) === before) await sleep(10);
    await pipe.close();
  });

for (const [era, meta] of [
  ["2025-11-25", ""],
  ["2026-07-28", `,"_meta":${JSON.stringify(envelope)}`],
] as const)
  test(`numbers go through the pipe as they were written (${era})`, async () => {
    const pipe = open();
    if (meta === "") {
      pipe.send({ id: 0, method: "initialize", params: { protocolVersion: era, capabilities: {}, clientInfo } });
      await pipe.until(({ id }) => id === 0);
    }
    const written = '{"id":9007199254740993,"price":1.50}';
    const params = `{"name":"take","arguments":${written}${meta}}`;
    pipe.input.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\n`);
    const { result } = await pipe.until(({ id }) => id === 1);
    assert.equal(result?.["isError"] ?? false, false, JSON.stringify(result));
    assert.equal(taken.pop(), written);
    await pipe.close();
  });

test("the end of the input takes back what is not answered in the newer protocol", async () => {
  const pipe = open();
  const before = await slowRuns("cancelled");
  const _meta = { progressToken: "p", ...envelope };
  pipe.send({ id: 1, method: "tools/call", params: { name: "slow", arguments: {}, _meta } });
  await pipe.until(({ method }) => method === "notifications/progress");
  await pipe.close();
  while ((await slowRuns("cancelled")) === before) await sleep(10);
});

test("a server that is started anew elsewhere is found", async () => {
  const first = await serve(backend.services);
  const places = [first.url, backend.url];
  const pipe = open(async () => ({ url: places.shift()! }));
  pipe.send({ id: 1, method: "ping" });
  await pipe.until(({ id }) => id === 1);
  await first.close();
  pipe.send({ id: 2, method: "ping" });
  assert.ok((await pipe.until(({ id }) => id === 2)).result);
  await pipe.close();
});

test("a server that is gone is an error for each request, and a line without bounds is refused", async () => {
  const pipe = open(async () => ({ url: "http://127.0.0.1:9" }));
  pipe.send({ id: 1, method: "ping" });
  assert.equal((await pipe.until(({ id }) => id === 1)).error!.code, -32603);
  const piece = "x".repeat(1_000_000);
  for (let count = 0; count < 12; count++) pipe.input.write(piece);
  pipe.input.write("\n");
  assert.equal((await pipe.until(({ id }) => id === null)).error!.code, -32700);
  await pipe.close();
});
