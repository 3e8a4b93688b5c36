import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpServer } from "./mcp-server.ts";
import type { McpSurface } from "./surface.ts";

/** The part of `fetch` that an MCP client uses. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A way for an MCP client in this process to reach a server of ours as a certain caller: the same protocol, without a
 * connection. Nobody has to log in, nothing has to listen yet, and a call takes nobody's place in a queue.
 */
export function inProcess(surface: () => McpSurface): McpFetch {
  return (url, init) => {
    const request = new Request(url, init);
    const exchange = { cancelled: request.signal, gone: request.signal };
    return createMcpHandler(() => createMcpServer(surface(), exchange), { keepAliveMs: 0 }).fetch(request);
  };
}
