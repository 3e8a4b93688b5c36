import { withModels } from "../agents/choose-model.ts";
import type { LiveAgents } from "../agents/registry.ts";
import { createAgentRegistry } from "../agents/registry.ts";
import type { Models } from "../models/registry.ts";
import type { DefinitionKind } from "../protocol/agents/definitions.ts";
import { messageOf, NotFound } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Database } from "../store/driver/database.ts";
import { type DefinitionStore, definitionsChannel, type StoredDefinition } from "../store/definitions.ts";
import type { McpServers } from "../tools/mcp/mcp-servers.ts";
import type { ParsePolicy } from "./parse-definition.ts";
import {
  type ConfiguredDefinitions,
  type DefinitionEntry,
  type ResolvedDefinitions,
  resolveDefinitions,
} from "./resolve.ts";

export type LiveOptions = ParsePolicy & {
  readonly database: Pick<Database, "kind" | "listen">;
  readonly base: ConfiguredDefinitions;
  readonly models: Pick<Models, "update" | "list" | "has">;
  readonly agents: LiveAgents;
  /** Absent: this process connects to none. */
  readonly servers?: Pick<McpServers, "update"> | undefined;
  readonly log: Log;
  /** How often changes of other nodes are looked for, beside being told; 5 s when absent. */
  readonly pollMs?: number;
};

/** What counts now, and from what it comes. */
export type LiveDefinitionState = {
  readonly base: ConfiguredDefinitions;
  readonly rows: readonly StoredDefinition[];
  readonly resolved: ResolvedDefinitions;
  /** Goes with `rows`, or is older; not all of them need to be in use. */
  readonly stamp: string;
};

export const titles: Readonly<Record<DefinitionKind, string>> = {
  agent: "agent",
  model: "model",
  "mcp-server": "MCP server",
};

/** The definitions of this node as they are now: read at the start, and again after each change here or elsewhere. */
export async function createLiveDefinitions(store: DefinitionStore, options: LiveOptions) {
  const { database, models, agents, servers, log } = options;
  let { base } = options;
  let rows: readonly StoredDefinition[] = [];
  let resolved = resolveDefinitions(base, rows, options);
  let stamp = "";
  /** Of what is in use; another one than `stamp` when that could not be taken over, which is tried again. */
  let inUse = "";
  let fault: { readonly error: unknown } | undefined;

  async function load(): Promise<void> {
    const now = await store.stamp();
    rows = await store.list();
    stamp = now;
    try {
      apply();
      inUse = now;
      fault = undefined;
    } catch (error) {
      fault = { error };
    }
  }

  /** Makes what counts now known to all who look. */
  function apply(): void {
    resolved = resolveDefinitions(base, rows, options);
    models.update(resolved.choice.models, resolved.choice.ofAdmins);
    agents.update(withModels(createAgentRegistry(resolved.agents, resolved.defaultAgent), models.list()));
    servers
      ?.update(resolved.servers)
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, "an MCP server could not be closed"));
  }

  const read = oneAfterTheOther(load);
  const refresh = async (): Promise<void> => {
    await read();
    if (fault) throw fault.error;
  };
  const refreshLater = () => {
    refresh().catch((error: unknown) =>
      log.warn({ error: messageOf(error) }, "could not apply changed definitions yet"),
    );
  };
  const look = async () => {
    if ((await store.stamp()) !== inUse) refreshLater();
  };
  const entries = (kind: DefinitionKind): readonly DefinitionEntry[] =>
    resolved.entries.filter((entry) => entry.kind === kind);

  await load();
  // Admins can mend it as soon as the server is up.
  if (fault)
    log.error(
      { error: messageOf(fault.error) },
      "could not apply the database's definitions; using those of the configuration",
    );
  return {
    now: (): LiveDefinitionState => ({ base, rows, resolved, stamp }),
    entries,

    /** The one that counts; with `stored` the one of the database. Throws NotFound. */
    find(kind: DefinitionKind, id: string, stored = false): DefinitionEntry {
      const all = entries(kind).filter((entry) => entry.id === id && (!stored || entry.stored));
      const found = all.find(({ state }) => state === "active") ?? all[0];
      if (!found) throw new NotFound(`The ${titles[kind]} ${JSON.stringify(id)} was not found.`);
      return found;
    },

    /** Reads the database again, begun after this call. */
    read,

    /** The same; throws if what was read can't be taken over. */
    refresh,

    /** The configuration names other servers now. */
    reconfigure(change: Pick<ConfiguredDefinitions, "servers" | "placeOf">): void {
      base = { ...base, ...change };
      apply();
    },

    /** Hears of changes that other nodes make. Returns what ends it. */
    async follow(): Promise<() => void> {
      if (database.kind === "pglite") return () => {};
      const unlisten = await database.listen(definitionsChannel, refreshLater);
      const timer = setInterval(() => {
        look().catch((error: unknown) => log.debug({ error: messageOf(error) }, "changes were not looked for"));
      }, options.pollMs ?? 5000).unref();
      refreshLater();
      return () => {
        clearInterval(timer);
        // A database that is away does not hold up the end.
        unlisten().catch(() => {});
      };
    },
  };
}

/** Runs `task` for each call, begun after it; calls that wait for the same begin share it. */
function oneAfterTheOther(task: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const done = task();
      running = done.catch(() => {});
      return done;
    });
    return next;
  };
}
