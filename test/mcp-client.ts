import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export type Era = "2025-11-25" | "2026-07-28";
export const eras: readonly Era[] = ["2025-11-25", "2026-07-28"];

/** The SDK's client, held to one era of the protocol; whoever connects closes it. */
export async function connectMcp(
  url: string,
  { era, token, ...options }: { readonly era: Era; readonly token?: string } & ClientOptions,
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { ...options, versionNegotiation: { mode: era === "2025-11-25" ? "legacy" : { pin: era } } },
  );
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** The text of a tool's answer. */
export function textIn(result: unknown): string {
  const { content = [] } = result as { content?: readonly { readonly type: string; readonly text?: string }[] };
  return content.map(({ text = "" }) => text).join("");
}

/** One request of the newer protocol, as it goes over the wire. */
export function modernCall(url: string, method: string, params: Record<string, unknown>): Promise<Response> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
}
