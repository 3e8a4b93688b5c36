import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpServer } from "./mcp-server.ts";
import type { McpSurface } from "./surface.ts";

/** What MCP clients take instead of the network. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A way for an MCP client in this process to reach a server of ours as a certain caller, over the same protocol but without a
 * connection: nobody has to log in, and nothing has to listen yet.
 */
export function inProcess(surface: McpSurface): FetchLike {
  return (url, init) => {
    const request = new Request(url, init);
    const exchange = { cancelled: request.signal, gone: request.signal };
    return createMcpHandler(() => createMcpServer(surface, exchange), { keepAliveMs: 0 }).fetch(request);
  };
}
