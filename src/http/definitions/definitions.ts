import { chooseModel, withModels } from "../../agents/choose-model.ts";
import type { KnownNames } from "../../agents/stray-names.ts";
import type { LiveAgents } from "../../agents/live-agents.ts";
import { createAgentRegistry } from "../../agents/load.ts";
import { isDefaultConfigured, type ModelChoice } from "../../models/choose.ts";
import { isFallback } from "../../models/config.ts";
import type { Models } from "../../models/registry.ts";
import type { AgentDefinition } from "../../protocol/agents.ts";
import type { Caller } from "../../protocol/callers.ts";
import type { DefaultKind, DefinitionKind, DefinitionPlace, DefinitionProblem } from "../../protocol/definitions.ts";
import { Conflict, messageOf, NotFound } from "../../protocol/errors.ts";
import type { Log } from "../../protocol/log.ts";
import { createDefinitionStore, definitionsChannel, type StoredDefinition } from "../../store/definitions.ts";
import type { Database } from "../../store/database.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";
import { definitionInvalid } from "./definition-invalid.ts";
import { parseDefinition, type Parsed, type ParsePolicy } from "./parse-definition.ts";
import { type Base, defaultOf, type Entry, type Resolved, resolveDefinitions } from "./resolve.ts";
import { withSecrets } from "./secrets.ts";

export type DefinitionsOptions = ParsePolicy & {
  readonly database: Database;
  readonly secret: string;
  readonly base: Base;
  readonly models: Pick<Models, "update" | "list" | "has">;
  readonly agents: LiveAgents;
  /** Absent: this process connects to none. */
  readonly servers?: Pick<McpServers, "update"> | undefined;
  readonly strategies: readonly string[];
  /** What there is that an agent can name. */
  readonly knownNames: () => KnownNames;
  readonly log: Log;
  /** How often changes of other nodes are looked for, beside being told; 5 s when absent. */
  readonly pollMs?: number;
};

/** What somebody wants to define. */
export type Draft = { readonly id: string; readonly definition: unknown };

export type DefaultSetting = DefinitionPlace & {
  readonly of: DefaultKind;
  /** Null: there is none; each way in has its own. */
  readonly value: string | null;
  readonly readOnly: boolean;
  readonly revision: string | null;
  readonly problem: string | null;
};

export type Definitions = Awaited<ReturnType<typeof createDefinitions>>;

const titles: Readonly<Record<DefinitionKind, string>> = {
  agent: "agent",
  model: "model",
  "mcp-server": "MCP server",
};

/** Agents, models and MCP servers of configuration, files and database as one, and the changes that admins make of it. */
export async function createDefinitions(options: DefinitionsOptions) {
  const { database, models, agents, servers, strategies, log } = options;
  const store = createDefinitionStore(database.query, options.secret);
  let { base } = options;
  let rows: readonly StoredDefinition[] = [];
  let resolved = resolveDefinitions(base, rows, options);
  let stamp = "";

  async function load(): Promise<void> {
    const now = await store.stamp();
    rows = await store.list();
    stamp = now;
    apply();
  }

  /** Makes what counts now known to all who look. */
  function apply(): void {
    resolved = resolveDefinitions(base, rows, options);
    models.update(resolved.choice.models);
    agents.update(withModels(createAgentRegistry(resolved.agents, resolved.defaultAgent), models.list()));
    servers
      ?.update(resolved.servers)
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, "an MCP server could not be closed"));
  }

  const refresh = oneAfterTheOther(load);
  const refreshLater = () => {
    refresh().catch((error: unknown) =>
      log.warn({ error: messageOf(error) }, "changed definitions are not taken over yet"),
    );
  };
  const look = async () => {
    if ((await store.stamp()) !== stamp) refreshLater();
  };

  function entries(kind: DefinitionKind): readonly Entry[] {
    return resolved.entries.filter((entry) => entry.kind === kind);
  }

  /** The one that counts; with `stored` the one of the database. Throws NotFound. */
  function find(kind: DefinitionKind, id: string, stored = false): Entry {
    const all = entries(kind).filter((entry) => entry.id === id && (!stored || entry.stored));
    const found = all.find(({ state }) => state === "active") ?? all[0];
    if (!found) throw new NotFound(`There is no ${titles[kind]} ${JSON.stringify(id)}.`, { code: "not_found" });
    return found;
  }

  /** What would come of a draft: what it says, or all that is wrong with it. */
  function check<Kind extends DefinitionKind>(
    kind: Kind,
    { id, definition: given }: Draft,
  ): { readonly body: unknown; readonly definition?: Parsed[Kind]; readonly problems: readonly DefinitionProblem[] } {
    const before = rows.find((row) => row.kind === kind && row.id === id);
    const { definition: body, problems } = withSecrets(kind, given, before?.body);
    const parsed = parseDefinition(kind, { id, definition: body }, options);
    if (!parsed.ok) return { body, problems: [...problems, ...parsed.problems] };
    const draft: StoredDefinition = before
      ? { ...before, body }
      : {
          kind,
          id,
          body,
          revision: "",
          createdBy: null,
          changedBy: null,
          createdAt: new Date(),
          updatedAt: new Date(),
        };
    const others = rows.filter((row) => row !== before);
    const then = resolveDefinitions(base, [...others, draft], options);
    const entry = then.entries.find((one) => one.stored === draft);
    const refusals = entry?.state === "refused" ? entry.problems : [];
    const beside = kind === "agent" ? agentProblems(parsed.definition as AgentDefinition, then) : [];
    return { body, definition: parsed.definition, problems: [...problems, ...refusals, ...beside] };
  }

  /** Names that must be there for an agent to work at all. */
  function agentProblems(agent: AgentDefinition, then: Resolved): DefinitionProblem[] {
    const problems: DefinitionProblem[] = [];
    if (!strategies.includes(agent.strategy))
      problems.push({
        path: "strategy",
        message: `there is no strategy "${agent.strategy}"; there are: ${strategies.join(", ")}`,
      });
    const ids = new Set(then.choice.models.map(({ id }) => id));
    const model = chooseModel(agent, models.list());
    if (!models.has(model) && !ids.has(model))
      problems.push({ path: "model", message: `there is no model "${model}"; there are: ${[...ids].join(", ")}` });
    return problems;
  }

  function refuseReadOnly(kind: DefinitionKind, id: string): void {
    const entry = entries(kind).find((one) => one.id === id && isReadOnly(one));
    if (entry) {
      const { source, where } = entry.place;
      const place = where ?? `the ${source}`;
      throw new Conflict(`The ${titles[kind]} "${id}" is defined by ${place}: change it there.`, { code: "read_only" });
    }
  }

  function sound(kind: DefinitionKind, draft: Draft): unknown {
    const { body, problems } = check(kind, draft);
    if (problems.length > 0) throw definitionInvalid(`The ${titles[kind]} "${draft.id}"`, problems);
    return body;
  }

  async function create(kind: DefinitionKind, draft: Draft, caller: Caller): Promise<Entry> {
    await refresh();
    refuseReadOnly(kind, draft.id);
    const key = { kind, id: draft.id };
    if (rows.some((row) => row.kind === kind && row.id === draft.id))
      throw new Conflict(`There is a ${titles[kind]} "${draft.id}" already: change that one.`, { code: "exists" });
    if (!(await store.insert(key, sound(kind, draft), caller.userId)))
      throw new Conflict(`There is a ${titles[kind]} "${draft.id}" already, or there are too many.`, {
        code: "exists",
      });
    await refresh();
    return find(kind, draft.id, true);
  }

  async function change(
    kind: DefinitionKind,
    { revision, ...draft }: Draft & { readonly revision: string },
    caller: Caller,
  ): Promise<Entry> {
    await refresh();
    refuseReadOnly(kind, draft.id);
    const before = find(kind, draft.id, true);
    const key = { kind, id: draft.id, revision };
    if (before.stored?.revision !== revision || !(await store.change(key, sound(kind, draft), caller.userId)))
      throw changedMeanwhile(titles[kind], draft.id);
    await refresh();
    return find(kind, draft.id, true);
  }

  /** `force`: though others need it. */
  async function remove(
    kind: DefinitionKind,
    { id, revision, force }: { readonly id: string; readonly revision?: string | undefined; readonly force: boolean },
  ): Promise<void> {
    await refresh();
    const { place, stored } = find(kind, id);
    if (!stored && !rows.some((row) => row.kind === kind && row.id === id)) {
      if (place.source === "database") throw new NotFound(`There is no ${titles[kind]} "${id}".`);
      throw new Conflict(`The ${titles[kind]} "${id}" is defined by ${place.where ?? `the ${place.source}`}.`, {
        code: "read_only",
      });
    }
    const users = kind === "model" && !force ? usersOf(id) : [];
    if (users.length > 0)
      throw new Conflict(
        `The model "${id}" is needed by ${users.join(", ")}. Change these first, or add ?force=true.`,
        {
          code: "in_use",
        },
      );
    if (!(await store.remove({ kind, id, revision }))) throw changedMeanwhile(titles[kind], id);
    await refresh();
  }

  /** Who would have no model any more without this one. */
  function usersOf(id: string): string[] {
    const left = rows.filter((row) => row.kind !== "model" || row.id !== id);
    if (resolveDefinitions(base, left, options).choice.models.some((model) => model.id === id)) return [];
    const chains = resolved.choice.models.flatMap((model) =>
      isFallback(model) && model.fallback.includes(id) ? [`the model ${model.id}`] : [],
    );
    const asking = agents.list().flatMap((agent) => (agent.model === id ? [`the agent ${agent.id}`] : []));
    return [...chains, ...asking];
  }

  function readDefault(of: DefaultKind): DefaultSetting {
    const row = rows.find(({ kind, id }) => kind === "default" && id === of);
    const wanted = defaultOf(row?.body);
    if (of === "agent") {
      const isThere = wanted !== undefined && agents.has(wanted);
      const problem = wanted !== undefined && !isThere ? `there is no agent "${wanted}" any more` : null;
      const source = row ? "database" : "built-in";
      const value = isThere ? wanted : null;
      return { of, value, source, where: null, readOnly: false, revision: row?.revision ?? null, problem };
    }
    const { choice } = resolved;
    const config = choice.models.find(({ id }) => id === "default");
    const value = config && isFallback(config) ? (config.fallback[0] ?? null) : "default";
    const problem = wanted !== undefined && wanted !== value ? `"${wanted}" is set, but does not count` : null;
    const common = { of, value, revision: row?.revision ?? null, problem };
    if (isDefaultConfigured(base)) return { ...common, ...base.placeOf("model", "default"), readOnly: true };
    const source = problem === null && row ? "database" : "built-in";
    return { ...common, source, where: null, readOnly: false };
  }

  /** Undefined: as it would be without. */
  async function setDefault(
    of: DefaultKind,
    { value, revision }: { readonly value: string | undefined; readonly revision?: string | undefined },
    caller: Caller,
  ): Promise<DefaultSetting> {
    await refresh();
    const before = readDefault(of);
    if (before.readOnly)
      throw new Conflict(`The default ${of} is set by ${before.where ?? "the configuration"}: change it there.`, {
        code: "read_only",
      });
    if (revision !== undefined && revision !== before.revision) throw changedMeanwhile("default", of);
    const key = { kind: "default", id: of } as const;
    if (value === undefined) await store.remove(key);
    else {
      const isThere = of === "agent" ? agents.has(value) : value !== "default" && models.has(value);
      const message = `there is no ${of} "${value}"`;
      if (!isThere) throw definitionInvalid(`The default ${of}`, [{ path: "value", message }]);
      const circle = of === "model" ? circleThrough(value) : undefined;
      if (circle) throw definitionInvalid("The default model", [{ path: "value", message: circle }]);
      const body = { id: value };
      const done =
        before.revision === null
          ? await store.insert(key, body, caller.userId)
          : await store.change({ ...key, revision: before.revision }, body, caller.userId);
      if (!done) throw changedMeanwhile("default", of);
    }
    await refresh();
    return readDefault(of);
  }

  /** Of a chain that leads to the default itself. */
  function circleThrough(value: string): string | undefined {
    const draft = { kind: "default", id: "model", body: { id: value } } as const;
    const [some] = rows;
    const others = rows.filter((row) => row.kind !== "default" || row.id !== "model");
    const row = { ...(some ?? emptyRow), ...draft };
    const then = resolveDefinitions(base, [...others, row], options);
    const lost = then.entries.find(
      ({ kind, id, state }) => kind === "model" && state === "refused" && find("model", id).state === "active",
    );
    return lost && `"${value}" leads back to the default itself`;
  }

  await load();
  return {
    entries,
    knownNames: options.knownNames,
    find,
    check,
    create,
    change,
    remove,
    readDefault,
    setDefault,
    /** What `default` stands for now. */
    choice: (): ModelChoice => resolved.choice,
    /** The configuration names other servers now. */
    reconfigure(now: Pick<Base, "servers" | "placeOf">): void {
      base = { ...base, ...now };
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

/** What environment or file define, and what only the defaults say. */
export function isReadOnly({ kind, id, place }: Entry): boolean {
  const isFromOutside = place.source === "environment" || place.source === "file";
  return isFromOutside || (kind === "model" && id === "default");
}

const emptyRow: StoredDefinition = {
  kind: "default",
  id: "",
  revision: "",
  body: null,
  createdBy: null,
  changedBy: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

function changedMeanwhile(what: string, id: string): Conflict {
  return new Conflict(`The ${what} "${id}" was changed meanwhile: read it again.`, { code: "changed_meanwhile" });
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
