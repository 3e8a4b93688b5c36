import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveCommands } from "./child.ts";

/**
 * Servers of the Model Context Protocol that do as little as can be, so that what is measured is the client:
 * `mcp-peer.ts <servers> <tools of each> <dialect>`. Every tool gives its `text` back.
 */
export type Dialect = "2025-11-25" | "2025-11-25-events" | "2026-07-28";

type Message = {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly text?: string } };
};

const [count = "1", toolsEach = "1", dialect = "2025-11-25"] = process.argv.slice(2);
const isModern = dialect === "2026-07-28";
const complete = isModern ? { resultType: "complete" } : {};
const about = { capabilities: { tools: {} }, serverInfo: { name: "peer", version: "1" } };
let requests = 0;
let listings = 0;

/** Each schema differs from all others, as those of different servers do. */
function toolsOf(server: number): readonly object[] {
  return Array.from({ length: Number(toolsEach) }, (_, at) => ({
    name: `tool_${at}`,
    description: `Gives its text back: number ${at} of server ${server}.`,
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string", maxLength: 10_000 },
        [`option_${server}_${at}`]: { type: "array", items: { type: "number" } },
      },
      required: ["text"],
    },
    annotations: { readOnlyHint: true },
  }));
}

function answerTo({ method, params }: Message, tools: readonly object[]): object {
  switch (method) {
    case "tools/call":
      return { result: { ...complete, content: [{ type: "text", text: params?.arguments?.text ?? "" }] } };
    case "tools/list":
      listings++;
      return { result: { ...complete, tools, ttlMs: 3_600_000, cacheScope: "private" } };
    case "initialize":
      return { result: { protocolVersion: params?.protocolVersion, ...about } };
    case "server/discover":
      if (isModern)
        return {
          result: { ...complete, supportedVersions: [dialect], ...about, ttlMs: 3_600_000, cacheScope: "private" },
        };
  }
  return { error: { code: -32601, message: `no ${method}` } };
}

function serve(tools: readonly object[]): HttpServer {
  return createServer((request, response) => {
    requests++;
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const message = JSON.parse(body) as Message;
      if (message.id === undefined) return void response.writeHead(202).end();
      const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answerTo(message, tools) });
      const isStream = dialect === "2025-11-25-events" && message.method === "tools/call";
      response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
      response.end(isStream ? `event: message\ndata: ${answer}\n\n` : answer);
    });
  });
}

const servers = Array.from({ length: Number(count) }, (_, at) => serve(toolsOf(at)).listen(0, "127.0.0.1"));
await Promise.all(servers.map((server) => server.listening || once(server, "listening")));

serveCommands({
  urls: () => servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
  requests: () => requests,
  listings: () => listings,
});
