import type { GuardedFetch } from "../../egress/guarded-fetch.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Tool, ToolSource } from "../../protocol/agents/tools.ts";
import { McpConnection } from "./connection.ts";

export type OwnServerOptions = {
  /** Its tools are named `<name>_…`. */
  readonly name: string;
  readonly version: string;
  readonly log: Log;
  /** Of its tools, those that nobody is asked about though they destroy; by its own names. */
  readonly unasked?: readonly string[];
  /** Reaches it as this caller. */
  readonly fetchFor: (caller: Caller) => GuardedFetch["fetch"];
};

export type OwnServer = { readonly source: ToolSource; readonly close: () => Promise<void> };

const maxUsers = 200;
const none: readonly Tool[] = [];

/**
 * An MCP server of this very process as a source of tools: each caller has a connection of their own. It honours the
 * idempotency key, so a call whose outcome nobody knows is made again; and an agent has its tools by a glob of their own only.
 */
export function createOwnServer({ name, version, log, unasked = [], fetchFor }: OwnServerOptions): OwnServer {
  const byUser = new Map<string, McpConnection>();
  const ownTools = new WeakMap<readonly Tool[], readonly Tool[]>();

  function connectionFor(caller: Caller): McpConnection {
    const known = byUser.get(caller.userId);
    const connection =
      known ??
      new McpConnection({
        server: name,
        // Nothing is looked up at this address: every request goes to `fetch`.
        config: { url: `http://localhost/mcp/${name}`, transport: "streamable-http", trusted: true },
        version,
        environment: {},
        log,
        fetch: fetchFor(caller),
      });
    // The last one asked for is the last to go.
    byUser.delete(caller.userId);
    byUser.set(caller.userId, connection);
    if (byUser.size > maxUsers) {
      const [[user, oldest] = []] = byUser;
      if (user !== undefined) byUser.delete(user);
      void oldest?.close();
    }
    return connection;
  }

  /** Of the same list the same one. */
  function asOwn(tools: readonly Tool[]): readonly Tool[] {
    const known = ownTools.get(tools);
    if (known) return known;
    // Nothing leaves this process.
    const own = tools.map(({ server: _none, ...tool }) => ({
      ...tool,
      ...(unasked.some((each) => tool.name === `${name}_${each}`) && { unasked: true as const }),
      idempotent: true,
      mustBeNamed: true,
    }));
    ownTools.set(tools, own);
    return own;
  }

  return {
    source: {
      name,
      prefix: `${name}_`,
      mustBeNamed: true,
      // All callers are offered the same.
      tools: (caller) => asOwn((caller ? connectionFor(caller) : [...byUser.values()].at(-1))?.tools() ?? none),
      ready: (caller, signal) => connectionFor(caller).ready(signal),
    },
    close: async () => void (await Promise.all([...byUser.values()].map((connection) => connection.close()))),
  };
}
