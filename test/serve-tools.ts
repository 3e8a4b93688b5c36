import type { AddressInfo } from "node:net";
import { createToolsApp, type ToolsApp, type ToolsAppOptions } from "../src/http/tools-server/tools-app.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import type { Tool } from "../src/protocol/agents/tools.ts";

export type TestToolsServer = ToolsApp & { readonly url: string };

/** A server of these tools on loopback, on a free port unless one is given. */
export async function serveTools(
  tools: readonly Tool[],
  { port = 0, ...options }: Partial<ToolsAppOptions> & { readonly port?: number } = {},
): Promise<TestToolsServer> {
  const served = createToolsApp({
    tools,
    log: silentLog,
    sandbox: async () => ({ driver: "bubblewrap", grade: "strong" }),
    ...options,
  });
  await served.app.listen({ host: "127.0.0.1", port });
  return { ...served, url: `http://127.0.0.1:${(served.app.server.address() as AddressInfo).port}` };
}
