import { request } from "undici";
import { silentLog } from "../src/protocol/base/log.ts";
import type { ToolContext } from "../src/protocol/agents/tools.ts";
import { executeTool, parseCall } from "../src/tools/core/call-tool.ts";
import { createMcpServers } from "../src/tools/mcp/mcp-servers.ts";
import { cpuMilliseconds, serveCommands } from "./child.ts";

/** Calls a tool of a server in one of two ways, in a process of its own: `mcp-caller.ts <bare | product> <url>`. */
export type CallInput = { readonly calls: number; readonly concurrency: number };

const [subject = "", url = ""] = process.argv.slice(2);
const words = "the quick brown fox jumps over the lazy dog ".repeat(5);
let last = 0;

/** No more than it takes: the request as text, the answer's JSON, with or without the frame of an event. */
async function bare(text: string): Promise<string> {
  const { body } = await request(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++last,
      method: "tools/call",
      params: { name: "tool_0", arguments: { text } },
    }),
  });
  const answer = await body.text();
  const { result } = JSON.parse(answer.slice(answer.indexOf("{"))) as { result: { content: [{ text: string }] } };
  return result.content[0].text;
}

/** As a run does it: the model's text is read and checked, the call has its time, the answer becomes a result. */
async function throughClient(): Promise<(text: string) => Promise<string>> {
  const off = { disabled: true };
  const mcp = createMcpServers({
    servers: { peer: { url }, mcp_filesystem: off, mcp_trader: off },
    version: "bench",
    environment: {},
    log: silentLog,
  });
  const caller = { userId: "u", name: "bench", role: "admin", permissions: ["*"], via: "local" } as const;
  const context: ToolContext = {
    caller,
    threadId: "thread",
    rootThreadId: "thread",
    runId: "run",
    call: { step: "1", index: 0 },
    signal: new AbortController().signal,
    idempotencyKey: "key",
    answers: [],
    query: () => Promise.reject(new Error("no database here")),
    step: () => Promise.reject(new Error("no model here")),
    ownHeaders: () => ({}),
    progress: () => {},
  };
  await Promise.all(mcp.sources.map((source) => source.ready(caller, AbortSignal.timeout(30_000))));
  const tool = mcp.sources.flatMap((source) => source.tools(caller)).find(({ name }) => name === "peer_tool_0");
  if (!tool) throw new Error(`The peer's tool is not there: ${JSON.stringify(mcp.states())}`);
  return async (text) => {
    const parsed = parseCall(tool, JSON.stringify({ text }));
    return (parsed.ok ? await executeTool(tool, parsed.input, context) : parsed.result).content;
  };
}

const callOnce = subject === "bare" ? bare : await throughClient();

async function measure({ calls, concurrency }: CallInput): Promise<number> {
  let begun = 0;
  const loop = async (): Promise<void> => {
    while (begun < calls) {
      const text = `${words}${begun++}`;
      const answered = await callOnce(text);
      if (answered !== text) throw new Error(`${subject}: ${answered}`);
    }
  };
  const before = cpuMilliseconds();
  await Promise.all(Array.from({ length: concurrency }, loop));
  return (cpuMilliseconds() - before) / calls;
}

serveCommands({ measure });
