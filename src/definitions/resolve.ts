import { type ModelChoice, type StoredModels, withStoredModels } from "../models/discovery/choose.ts";
import { type ModelConfig, problemsOf } from "../models/config.ts";
import type { BackendSetting } from "../models/discovery/probe.ts";
import type { AgentDefinition } from "../protocol/agents/agents.ts";
import type { DefinitionKind, DefinitionPlace, DefinitionProblem, EntryState } from "../protocol/agents/definitions.ts";
import type { McpServerConfig, McpServersConfig } from "../protocol/agents/mcp-servers.ts";
import type { StoredDefinition } from "../store/definitions.ts";
import { defaultServers } from "../tools/mcp/mcp-servers.ts";
import { parseDefinition, type DefinitionTypes, type ParsePolicy } from "./parse-definition.ts";

/** What there is without the database. */
export type ConfiguredDefinitions = {
  /** As configured. */
  readonly models: readonly ModelConfig[];
  readonly wish: BackendSetting;
  /** With what was found on this machine. */
  readonly choice: ModelChoice;
  /** The built-in ones and those of files, as they are written. */
  readonly agents: readonly AgentDefinition[];
  /** The files of those that have one. */
  readonly agentFiles: ReadonlyMap<string, string>;
  /** Ids of rooms, which are named like agents. */
  readonly rooms: readonly string[];
  readonly servers: McpServersConfig;
  /** As the configuration says. */
  readonly defaultAgent?: (DefinitionPlace & { readonly id: string }) | undefined;
  /** Where an entry of the configuration is set. */
  readonly placeOf: (kind: "model" | "mcp-server", id: string) => DefinitionPlace;
};

export type DefinitionEntry = {
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly place: DefinitionPlace;
  readonly state: EntryState;
  readonly problems: readonly DefinitionProblem[];
  /** As it was written. */
  readonly definition: unknown;
  readonly stored?: StoredDefinition;
};

export type ResolvedDefinitions = {
  readonly entries: readonly DefinitionEntry[];
  readonly choice: ModelChoice;
  /** As they are written: `model` may be a wish. */
  readonly agents: readonly AgentDefinition[];
  readonly defaultAgent: string | undefined;
  readonly servers: McpServersConfig;
};

const inDatabase: DefinitionPlace = { source: "database", where: null };

/** What counts of all that is defined: environment and files, else the database, else what is built in or was found. */
export function resolveDefinitions(
  base: ConfiguredDefinitions,
  stored: readonly StoredDefinition[],
  policy: ParsePolicy,
): ResolvedDefinitions {
  const wanted = (of: string) => defaultOf(stored.find(({ kind, id }) => kind === "default" && id === of)?.body);
  const models = resolveModels(base, rowsOf("model", stored, policy), wanted("model"));
  const modelIds = new Set(models.choice.models.map(({ id }) => id)).add("demo");
  const agents = resolveAgents(base, rowsOf("agent", stored, policy), modelIds);
  const servers = resolveServers(base, rowsOf("mcp-server", stored, policy));
  return {
    entries: [...models.entries, ...agents.entries, ...servers.entries],
    choice: models.choice,
    agents: agents.agents,
    defaultAgent: base.defaultAgent?.id ?? wanted("agent"),
    servers: servers.servers,
  };
}

/** What environment or file define, and what only the defaults say. */
export function isReadOnly({ kind, id, place }: DefinitionEntry): boolean {
  const isFromOutside = place.source === "environment" || place.source === "file";
  return isFromOutside || (kind === "model" && id === "default");
}

export function defaultOf(body: unknown): string | undefined {
  const value = typeof body === "object" && body !== null ? (body as { readonly id?: unknown }).id : undefined;
  return typeof value === "string" ? value : undefined;
}

/** A row with what it says, or why it can't. */
type DefinitionRow<Kind extends DefinitionKind> = {
  readonly stored: StoredDefinition;
  readonly definition?: DefinitionTypes[Kind];
  readonly problems: readonly DefinitionProblem[];
};

function rowsOf<Kind extends DefinitionKind>(
  kind: Kind,
  stored: readonly StoredDefinition[],
  policy: ParsePolicy,
): readonly DefinitionRow<Kind>[] {
  return stored
    .filter((row) => row.kind === kind)
    .map((row) => {
      if (row.body === undefined)
        return {
          stored: row,
          problems: [{ path: "", message: "can't be decrypted with this server's secret; enter it again" }],
        };
      const parsed = parseDefinition(kind, { id: row.id, definition: row.body }, policy);
      return parsed.ok
        ? { stored: row, definition: parsed.definition, problems: [] }
        : { stored: row, problems: parsed.problems };
    });
}

function entryOf<Kind extends DefinitionKind>(
  kind: Kind,
  { stored, problems }: DefinitionRow<Kind>,
  { state, more = [] }: { readonly state: EntryState; readonly more?: readonly DefinitionProblem[] },
): DefinitionEntry {
  const all = [...problems, ...more];
  return { kind, id: stored.id, place: inDatabase, state, problems: all, definition: stored.body, stored };
}

const shadowedBy = ({ source, where }: DefinitionPlace): DefinitionProblem => ({
  path: "",
  message: `${where ?? `the ${source}`} defines this id, which counts more`,
});

const idTaken = (id: string, other: string): DefinitionProblem => ({
  path: "id",
  message: `"${id}" names ${other}: take another id`,
});

function resolveModels(
  base: ConfiguredDefinitions,
  rows: readonly DefinitionRow<"model">[],
  wanted: string | undefined,
) {
  const configured = new Set(base.models.map(({ id }) => id));
  const agents = base.agents.map(({ id }) => id);
  const refused = new Map<string, DefinitionProblem[]>();
  for (const { stored } of rows) {
    const other = agents.includes(stored.id) ? "an agent" : base.rooms.includes(stored.id) ? "a room" : undefined;
    if (other) refused.set(stored.id, [idTaken(stored.id, other)]);
  }
  const choose = (models: StoredModels) => withStoredModels(base.choice, base, models);
  const counting = () =>
    rows.flatMap(({ stored, definition }) =>
      definition && !configured.has(stored.id) && !refused.has(stored.id) ? [definition] : [],
    );
  // One that is refused may take others along that name it.
  for (;;) {
    const models = counting();
    const { models: all } = choose({ models, wanted });
    const faults = problemsOf(all, all.some(({ id }) => id === "demo") ? [] : ["demo"]).filter(({ index }) =>
      models.includes(all[index]!),
    );
    if (faults.length === 0) break;
    for (const { index, message } of faults)
      refused.set(all[index]!.id, [...(refused.get(all[index]!.id) ?? []), { path: "fallback", message }]);
  }
  const stored = counting();
  const choice = choose({ models: stored, wanted });
  const given: DefinitionEntry[] = choice.models
    .filter((config) => !stored.includes(config))
    .map(({ id, ...definition }) => ({
      kind: "model",
      id,
      place: configured.has(id)
        ? base.placeOf("model", id)
        : { source: id === "default" ? "built-in" : "found", where: null },
      state: "active",
      problems: [],
      definition,
    }));
  const hasDemo = choice.models.some(({ id }) => id === "demo");
  const demo: DefinitionEntry = {
    kind: "model",
    id: "demo",
    place: { source: "built-in", where: null },
    state: "active",
    problems: [],
    definition: { provider: "demo" },
  };
  const ours = rows.map((row) => {
    const { id } = row.stored;
    if (configured.has(id))
      return entryOf("model", row, { state: "shadowed", more: [shadowedBy(base.placeOf("model", id))] });
    const more = refused.get(id) ?? [];
    return entryOf("model", row, { state: row.definition && more.length === 0 ? "active" : "refused", more });
  });
  return { choice, entries: [...given, ...(hasDemo ? [] : [demo]), ...ours] };
}

function resolveAgents(
  base: ConfiguredDefinitions,
  rows: readonly DefinitionRow<"agent">[],
  models: ReadonlySet<string>,
) {
  const taken = new Map<string, AgentDefinition>();
  const ours = rows.map((row) => {
    const { id } = row.stored;
    const file = base.agentFiles.get(id);
    if (file !== undefined)
      return entryOf("agent", row, { state: "shadowed", more: [shadowedBy({ source: "file", where: file })] });
    const other = models.has(id) ? "a model" : base.rooms.includes(id) ? "a room" : undefined;
    if (other) return entryOf("agent", row, { state: "refused", more: [idTaken(id, other)] });
    if (row.definition) taken.set(id, row.definition);
    return entryOf("agent", row, { state: row.definition ? "active" : "refused" });
  });
  const given = base.agents.filter(({ id }) => !taken.has(id));
  const entries = given.map(({ id, ...definition }): DefinitionEntry => {
    const file = base.agentFiles.get(id);
    const place: DefinitionPlace =
      file === undefined ? { source: "built-in", where: null } : { source: "file", where: file };
    return { kind: "agent", id, place, state: "active", problems: [], definition };
  });
  return { agents: [...given, ...taken.values()], entries: [...entries, ...ours] };
}

function resolveServers(base: ConfiguredDefinitions, rows: readonly DefinitionRow<"mcp-server">[]) {
  const taken: Record<string, McpServerConfig> = {};
  const ours = rows.map((row) => {
    const { id } = row.stored;
    if (Object.hasOwn(base.servers, id))
      return entryOf("mcp-server", row, { state: "shadowed", more: [shadowedBy(base.placeOf("mcp-server", id))] });
    if (row.definition) taken[id] = row.definition;
    return entryOf("mcp-server", row, { state: row.definition ? "active" : "refused" });
  });
  const given = Object.entries({ ...defaultServers, ...base.servers })
    .filter(([id]) => !Object.hasOwn(taken, id))
    .map(([id, definition]): DefinitionEntry => {
      const place: DefinitionPlace = Object.hasOwn(base.servers, id)
        ? base.placeOf("mcp-server", id)
        : { source: "built-in", where: null };
      return { kind: "mcp-server", id, place, state: "active", problems: [], definition };
    });
  return { servers: { ...taken, ...base.servers }, entries: [...given, ...ours] };
}
