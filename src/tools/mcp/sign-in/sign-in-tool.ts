import { z } from "zod";
import type { McpServerConfig } from "../../../protocol/agents/mcp-servers.ts";
import type { Tool } from "../../../protocol/agents/tools.ts";
import { modelNames } from "../model-names.ts";

export type SignInToolOptions = {
  readonly server: string;
  readonly config: McpServerConfig;
  /** Where the user signs in. */
  readonly link: () => string;
};

/** Stands in for the tools of a server that tells them only to users who are signed in. */
export function signInTool({ server, config, link }: SignInToolOptions): Tool {
  const [name = server] = modelNames(config.prefix ?? server, ["sign_in"]);
  return {
    name,
    description: `The user must sign in to ${server} before its tools can be used. Gives the address to tell the user.`,
    input: z.object({}),
    parameters: { type: "object", properties: {} },
    effect: "read",
    destructive: false,
    idempotent: true,
    scope: "remote",
    sendsOut: false,
    permissions: [],
    timeoutMs: 5000,
    source: `mcp:${server}`,
    execute: async () => {
      const url = link();
      return { content: `Tell the user to open this address, sign in, and ask again: ${url}`, data: { url } };
    },
  };
}
