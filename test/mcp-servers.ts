import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { silentLog } from "../src/protocol/base/log.ts";
import type { McpServersConfig } from "../src/protocol/agents/mcp-servers.ts";
import type { Tool, ToolContext, ToolResult } from "../src/protocol/agents/tools.ts";
import { executeTool, parseCall } from "../src/tools/core/call-tool.ts";
import { createMcpServers, type McpOptions, type McpServers } from "../src/tools/mcp/mcp-servers.ts";

export const testCaller = { userId: "u1", name: "ada", role: "admin", permissions: ["*"], via: "local" } as const;

export type TestServers = McpServers & {
  /** Waits for the server to be what is asked for. */
  until(name: string, state: string): Promise<void>;
  tool(name: string): Promise<Tool>;
  /** As a run would call it; without the mark that all their results bear. */
  call(name: string, input?: object, context?: Partial<ToolContext>): Promise<ToolResult>;
};

const onlyPath = { PATH: process.env["PATH"] ?? "" };

export function testServers(servers: McpServersConfig, options: Partial<McpOptions> = {}): TestServers {
  // Those that are always there would ask ports that are not the test's.
  const none = { mcp_filesystem: { disabled: true }, mcp_trader: { disabled: true } };
  const mcp = createMcpServers({
    servers: { ...none, ...servers },
    version: "test",
    environment: onlyPath,
    log: silentLog,
    backoffMs: [20, 100],
    ...options,
  });
  const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const until = async (name: string, state: string) => {
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(5))
      if (mcp.states().some((one) => one.name === name && one.state === state)) return;
    throw new Error(`${name} is not ${state}: ${JSON.stringify(mcp.states())}`);
  };
  const tool = async (name: string) => {
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(5)) {
      await Promise.all(mcp.sources.map((source) => source.ready(testCaller, AbortSignal.timeout(1000))));
      const found = mcp.sources.flatMap((source) => source.tools(testCaller)).find((one) => one.name === name);
      if (found) return found;
    }
    throw new Error(`There is no ${name}: ${JSON.stringify(mcp.states())}`);
  };
  return {
    ...mcp,
    until,
    tool,
    async call(name, input = {}, context = {}) {
      const found = await tool(name);
      const parsed = parseCall(found, JSON.stringify(input));
      if (!parsed.ok) return parsed.result;
      const {
        untrusted: _mark,
        from: _from,
        ...result
      } = await executeTool(found, parsed.input, { ...testContext, ...context });
      return result;
    },
  };
}

export const testContext: ToolContext = {
  caller: testCaller,
  threadId: "thread",
  rootThreadId: "thread",
  runId: "run",
  call: { step: "1", index: 0 },
  signal: new AbortController().signal,
  idempotencyKey: "key-1",
  answers: [],
  query: () => Promise.reject(new Error("no database here")),
  step: () => Promise.reject(new Error("no model here")),
  ownHeaders: () => ({}),
  progress: () => {},
};

const require = createRequire(import.meta.url);
const publishedFiles = {
  everything: require.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: require.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
};

/** One of the published servers, as a command of the configuration. */
export function published(name: keyof typeof publishedFiles, ...args: string[]) {
  return { command: process.execPath, args: [publishedFiles[name], ...args] };
}

/** The published server over HTTP, on a free port. */
export async function startEverything(
  transport: "streamableHttp" | "sse",
): Promise<{ url: string; process: ChildProcess; stop(): void }> {
  const port = await freePort();
  const { command, args } = published("everything", transport);
  const child = spawn(command, args, { env: { ...onlyPath, PORT: String(port) }, stdio: ["ignore", "pipe", "pipe"] });
  const started = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => /port \d+/.test(line) && started.resolve());
  child.once("exit", () => started.reject(new Error("server-everything has ended")));
  await started.promise;
  const path = transport === "sse" ? "/sse" : "/mcp";
  return { url: `http://127.0.0.1:${port}${path}`, process: child, stop: () => child.kill("SIGKILL") };
}

export type RawRequest = {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
};
export type RawServer = {
  readonly url: string;
  /** Every message that came, oldest first. */
  readonly seen: RawRequest[];
  /** The same as they came. */
  readonly texts: string[];
  tools: unknown[];
  close(): Promise<void>;
};

/** What becomes of a message: a result to send, or nothing if the handler has answered in its own way. */
export type RawHandler = (
  message: RawRequest,
  exchange: { request: IncomingMessage; response: ServerResponse },
) => unknown;

/** The protocol of 2025-11-25, spoken by hand, so that it can be spoken wrongly. */
export async function startRaw(tools: unknown[], handle: RawHandler, port = 0): Promise<RawServer> {
  const seen: RawRequest[] = [];
  const texts: string[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const message = JSON.parse(body) as RawRequest;
      seen.push(message);
      texts.push(body);
      if (message.id === undefined) return void response.writeHead(202).end();
      const result = handle(message, { request, response }) ?? answerOf(message);
      if (response.headersSent || response.destroyed || result === "handled") return;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result as object) }));
    });
  });
  const raw: RawServer = {
    url: "",
    seen,
    texts,
    tools,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const answerOf = ({ method, params }: RawRequest) => {
    if (method === "initialize")
      return {
        result: {
          protocolVersion: params?.["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "raw", version: "1" },
        },
      };
    if (method === "tools/list") return { result: { tools: raw.tools } };
    return { error: { code: -32601, message: `no ${method}` } };
  };
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return Object.assign(raw, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
}

/** A server of the current protocol, by its own library. */
async function startModern(
  factory: () => McpServer,
): Promise<{ url: string; requests: () => number; close(): Promise<void> }> {
  const handler = createMcpHandler(factory, { legacy: "reject" });
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const stop = new AbortController();
      response.once("close", () => stop.abort());
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1${request.url}`, {
          method: request.method!,
          headers: request.headers as Record<string, string>,
          ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
          signal: stop.signal,
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) for await (const chunk of answer.body) response.write(chunk);
      response.end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server of the current protocol with one tool, which asks a person for the size before it does anything. */
export async function startShop() {
  let tool = "order";
  const schema = { type: "object" as const, properties: { size: { type: "string" as const } }, required: ["size"] };
  const params = { mode: "form" as const, message: "Which size?", requestedSchema: schema };
  const server = await startModern(() => {
    const mcp = new McpServer({ name: "shop", version: "1" });
    const about = {
      description: "Orders.",
      inputSchema: z.object({ what: z.string() }),
      annotations: { destructiveHint: false },
    };
    mcp.registerTool(tool, about, ({ what }, { mcpReq }) => {
      const given = z
        .object({ size: z.object({ content: z.object({ size: z.string() }) }) })
        .safeParse(mcpReq.inputResponses);
      if (given.success) {
        const text = `${what} in ${given.data.size.content.size}`;
        return { content: [{ type: "text" as const, text }], structuredContent: { what } };
      }
      const inputRequests = { size: { method: "elicitation/create" as const, params } };
      return { resultType: "input_required" as const, inputRequests, requestState: "state-1" };
    });
    return mcp;
  });
  return { ...server, rename: (name: string) => void (tool = name) };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
