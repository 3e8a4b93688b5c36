import { createMcpHandler } from "@modelcontextprotocol/server";
import type { GuardedFetch } from "../../egress/guarded-fetch.ts";
import { parseExactly } from "../../protocol/base/exact-json.ts";
import { argumentsIn, createMcpServer } from "./mcp-server.ts";
import type { McpSurface } from "./server-features.ts";

/**
 * A way for an MCP client in this process to reach a server of ours as a certain caller: the same protocol, without a
 * connection. Nobody has to log in, nothing has to listen yet, and a call takes nobody's place in a queue.
 */
export function inProcess(surface: () => McpSurface): GuardedFetch["fetch"] {
  return (url, { method = "GET", headers, body, signal } = {}) => {
    const text = typeof body === "string" ? { body } : {};
    const request = new Request(url, { method, ...text, ...(headers && { headers }), ...(signal && { signal }) });
    const given = typeof body === "string" ? argumentsIn(parseExactly(body)) : undefined;
    const exchange = { cancelled: request.signal, gone: request.signal, arguments: given };
    return createMcpHandler(() => createMcpServer(surface(), exchange), { keepAliveMs: 0 }).fetch(request);
  };
}
