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
