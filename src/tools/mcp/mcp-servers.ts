import type { AuthProvider } from "@modelcontextprotocol/client";
import type { GuardedFetch } from "../../egress/guarded-fetch.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { messageOf, NotFound } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import {
  type McpServerConfig,
  type McpServersConfig,
  type McpServerState,
  transportOf,
} from "../../protocol/agents/mcp-servers.ts";
import type { Tool, ToolSource } from "../../protocol/agents/tools.ts";
import { tokensOfTool } from "../core/tool-tokens.ts";
import { HeldCalls } from "./elicitation-calls.ts";
import type { CallAttemptOutcome } from "./failures.ts";
import { McpConnection, type ConnectionOptions } from "./connection.ts";
import { InvokeServer } from "./invoke.ts";

/** How a server is signed in to as a user; whoever has the same `user` shares a connection. */
export type UserSignIn = {
  readonly user: string;
  readonly auth: AuthProvider;
  /** Sees all that the server answers. */
  readonly watch?: (fetch: GuardedFetch["fetch"]) => GuardedFetch["fetch"];
  /** Where the user signs in. */
  readonly link?: () => string;
};

export type NamedServer = { readonly name: string; readonly config: McpServerConfig };

export type McpOptions = {
  readonly servers: McpServersConfig;
  readonly version: string;
  /** What started programs get of our environment: PATH, HOME, LANG. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Servers of this process; a configured one of the same name takes one's place. */
  readonly own?: readonly ToolSource[];
  /** False: none is connected to, for a command that only looks. */
  readonly runsJobs?: boolean;
  /** When to connect in the background, at once if absent. Whoever needs a server before connects to it then. */
  readonly after?: Promise<unknown>;
  /** Of servers that are signed in to as the user; undefined: the server is the same for all. */
  readonly credentialsFor?: (server: NamedServer, caller: Caller) => UserSignIn | undefined;
  readonly backoffMs?: readonly [first: number, most: number];
  readonly patienceMs?: number;
};

export type McpServers = {
  /** One for each server; changes with the configuration. */
  readonly sources: readonly ToolSource[];
  readonly states: () => readonly McpServerState[];
  /** As the caller sees them; asks those that are signed in to as the caller, for a second at most. */
  readonly statesFor: (caller: Caller, signal: AbortSignal) => Promise<readonly McpServerState[]>;
  /** Throws NotFound. */
  readonly named: (name: string) => NamedServer;
  /** The user's login has changed: begins anew. */
  readonly renew: (name: string, user: string) => Promise<void>;
  /** Begins anew with one: what it waits for after failures is forgotten. */
  readonly restart: (name: string) => Promise<void>;
  /** Starts what is new, restarts what has changed, stops what is gone. */
  readonly update: (servers: McpServersConfig) => Promise<void>;
  /** Calls in the middle of which its servers asked a person are cancelled. */
  readonly runEnded: (runId: string) => void;
  readonly close: () => Promise<void>;
};

/** The two servers that are always there; a configured one of the same name takes their place. */
export const defaultServers: McpServersConfig = {
  mcp_filesystem: {
    url: "http://localhost:8001",
    transport: "invoke",
    defaultTool: "list_files",
    effects: { list_files: "read" },
    confined: true,
    description: "Calls a tool of the filesystem server; list_files unless another is named.",
  },
  mcp_trader: {
    url: "http://localhost:8002",
    transport: "invoke",
    defaultTool: "backtest",
    effects: { backtest: "read" },
    confined: true,
    description: "Calls a tool of the trading server; backtest unless another is named.",
  },
};

const maxUsers = 200;

type ConnectedServer = {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly source: ToolSource;
  /** Without a caller: as far as it is the same for all. */
  readonly state: (caller?: Caller) => McpServerState;
  readonly renew?: (user: string) => Promise<void>;
  /** Begins no more calls, and closes when those at work have ended. */
  readonly retire: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Connects to servers in the background; programs are started when somebody needs them. */
export function createMcpServers(options: McpOptions): McpServers {
  const held = new HeldCalls<CallAttemptOutcome>();
  const servers = new Map<string, ConnectedServer>();
  const sources: ToolSource[] = [];
  /** Replaced or gone, with calls at work. */
  const retiring = new Set<ConnectedServer>();

  async function retire(server: ConnectedServer): Promise<void> {
    retiring.add(server);
    await server.retire().finally(() => retiring.delete(server));
  }

  function apply(configs: McpServersConfig): Promise<unknown> {
    const wanted = { ...defaultServers, ...configs };
    const stopped = [...servers.values()].filter(
      ({ name, config }) => JSON.stringify(wanted[name]) !== JSON.stringify(config),
    );
    for (const { name } of stopped) servers.delete(name);
    for (const [name, config] of Object.entries(wanted))
      if (!servers.has(name)) servers.set(name, startServer(name, config, { ...options, held }));
    const configured = Object.keys(wanted).flatMap((name) => servers.get(name)?.source ?? []);
    const own = (options.own ?? []).filter(({ name }) => !(name in wanted));
    sources.splice(0, sources.length, ...configured, ...own);
    return Promise.all(stopped.map(retire));
  }

  /** A name that an earlier server's tool has is that tool's; whoever looks at the later server is told. */
  function statesFor(caller?: Caller): McpServerState[] {
    const holders = new Map<string, string>();
    return sources.flatMap(({ name, tools }) => {
      const offered = tools(caller);
      const taken = offered.filter((tool) => holders.has(tool.name));
      const unusable = taken.map((tool) => ({
        tool: tool.name,
        reason: `${holders.get(tool.name)} has a tool of this name and comes first; give one of them a prefix`,
      }));
      for (const tool of offered) if (!holders.has(tool.name)) holders.set(tool.name, name);
      const state = servers.get(name)?.state(caller);
      if (!state || taken.length === 0) return state ?? [];
      return {
        ...state,
        tools: state.tools - taken.length,
        tokens: state.tokens - tokensOf(taken),
        unusable: [...state.unusable, ...unusable],
      };
    });
  }

  if (options.runsJobs ?? true) void apply(options.servers);
  return {
    sources,
    states: () => statesFor(),
    async statesFor(caller, signal) {
      await Promise.all([...servers.values()].map(({ config, source }) => config.auth && source.ready(caller, signal)));
      return statesFor(caller);
    },
    named(name) {
      const server = servers.get(name);
      if (!server) throw new NotFound(`MCP server "${name}" not found.`);
      return { name, config: server.config };
    },
    renew: async (name, user) => servers.get(name)?.renew?.(user),
    async restart(name) {
      const server = servers.get(name);
      if (!server) return;
      const anew = startServer(name, server.config, { ...options, held });
      servers.set(name, anew);
      sources.splice(sources.indexOf(server.source), 1, anew.source);
      retire(server).catch((error: unknown) =>
        options.log.warn({ server: name, error: messageOf(error) }, "an MCP server could not be closed"),
      );
    },
    runEnded: (runId) => held.runEnded(runId),
    update: async (configs) => void (await apply(configs)),
    async close() {
      sources.length = 0;
      const all = [...servers.values(), ...retiring];
      servers.clear();
      await Promise.all(all.map((server) => server.close()));
    },
  };
}

function startServer(
  name: string,
  config: McpServerConfig,
  options: McpOptions & Pick<ConnectionOptions, "held">,
): ConnectedServer {
  if (config.disabled) return idleServer(name, config);
  return transportOf(config) === "invoke" ? invokeServer(name, config, options) : mcpServer(name, config, options);
}

function idleServer(name: string, config: McpServerConfig): ConnectedServer {
  const since = new Date().toISOString();
  const none: readonly Tool[] = [];
  return {
    name,
    config,
    source: { name, prefix: prefixOf(name, config), tools: () => none, ready: async () => {} },
    state: () => ({
      ...about(name, config),
      transport: transportOf(config),
      state: "disabled",
      since,
      tools: 0,
      tokens: 0,
      unusable: [],
    }),
    retire: async () => {},
    close: async () => {},
  };
}

function invokeServer(name: string, config: McpServerConfig, { log }: Pick<McpOptions, "log">): ConnectedServer {
  const isDefault = config === defaultServers[name];
  const server = new InvokeServer(name, config, { isDefault, log });
  // One that nobody configured would be a riddle to agents that have all tools.
  const tools: readonly Tool[] = [{ ...server.tool, mustBeNamed: isDefault }];
  void server.probe();
  return {
    name,
    config,
    // Its one tool is known without asking it.
    source: { name, prefix: name, tools: () => tools, ready: async () => {} },
    state: () => ({
      ...server.state(),
      ...about(name, config),
      ...(isDefault && { isDefault }),
      tokens: tokensOf(tools),
    }),
    retire: () => server.retire(),
    close: () => server.close(),
  };
}

function mcpServer(
  name: string,
  config: McpServerConfig,
  options: McpOptions & Pick<ConnectionOptions, "held">,
): ConnectedServer {
  const { credentialsFor } = options;
  const shared = new McpConnection({ ...options, server: name, config });
  const byUser = new Map<string, McpConnection>();
  /** Too many are signed in: these had calls at work. */
  const retired = new Set<McpConnection>();
  const all = () => [shared, ...byUser.values(), ...retired];
  const connectionFor = (caller: Caller | undefined): McpConnection => {
    const credentials = caller && credentialsFor?.({ name, config }, caller);
    if (!credentials) return shared;
    const { user, auth, watch, link } = credentials;
    const known = byUser.get(user);
    const connection = known ?? new McpConnection({ ...options, server: name, config, auth, watch, signInLink: link });
    // The last one asked for is the last to go.
    byUser.delete(user);
    byUser.set(user, connection);
    if (byUser.size > maxUsers) {
      const [oldest] = byUser.keys();
      const gone = byUser.get(oldest!)!;
      retired.add(gone);
      void gone.retire().finally(() => retired.delete(gone));
      byUser.delete(oldest!);
    }
    return connection;
  };
  if (transportOf(config) !== "stdio" && !config.auth) {
    if (options.after) void options.after.then(() => shared.begin());
    else shared.begin();
  }
  return {
    name,
    config,
    source: {
      name,
      prefix: prefixOf(name, config),
      tools: (caller) => connectionFor(caller).tools(),
      ready: (caller, signal) => connectionFor(caller).ready(signal),
      isAwaited: (caller) => connectionFor(caller).isAwaited(),
      wait: (caller, waiting) => connectionFor(caller).wait(waiting),
    },
    state(caller) {
      const connection = connectionFor(caller);
      return { ...connection.state(), ...about(name, config), tokens: tokensOf(connection.tools()) };
    },
    async renew(user) {
      const connection = byUser.get(user);
      byUser.delete(user);
      await connection?.close();
    },
    retire: async () => void (await Promise.all(all().map((connection) => connection.retire()))),
    close: async () => void (await Promise.all(all().map((connection) => connection.close()))),
  };
}

function prefixOf(name: string, { prefix = name }: McpServerConfig): string {
  return prefix === "" ? "" : `${prefix}_`;
}

/** An address may hold a key in its query, a command one in its arguments. */
function about(name: string, { url, command }: McpServerConfig): { name: string; target: string } {
  const address = url === undefined ? undefined : new URL(url);
  return { name, target: address ? `${address.origin}${address.pathname}` : (command ?? "") };
}

function tokensOf(tools: readonly Tool[]): number {
  return tools.reduce((sum, tool) => sum + tokensOfTool(tool), 0);
}

/** What `colloquy doctor` says of a server. One that is away may come back by itself, so it is no trouble. */
export function findingOf(server: McpServerState): { grade: "ok" | "note"; about: string; text: string } {
  const { name, transport, target, state, reason, tools, tokens, unusable } = server;
  const offer =
    tools === 0 ? "" : `, ${tools === 1 ? "1 tool" : `${tools} tools`} (about ${tokens} tokens in a prompt)`;
  const left =
    unusable.length === 0
      ? ""
      : `; not usable: ${unusable.map(({ tool, reason: why }) => `${tool} (${why})`).join(", ")}`;
  const text = `${name} (${transport}, ${target}): ${state}${reason === undefined ? "" : `, ${reason}`}${offer}${left}`;
  return { grade: state === "failed" || unusable.length > 0 ? "note" : "ok", about: "mcp", text };
}
