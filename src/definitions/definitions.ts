import type { KnownNames } from "../agents/unknown-references.ts";
import { type ModelChoice, isDefaultConfigured } from "../models/discovery/choose.ts";
import type { Caller } from "../protocol/base/callers.ts";
import type { DefaultKind, DefinitionKind, DefinitionProblem, DefaultView } from "../protocol/agents/definitions.ts";
import { Conflict } from "../protocol/base/errors.ts";
import type { Database } from "../store/driver/database.ts";
import { createDefinitionStore, type DefinitionKey, type StoredDefinition } from "../store/definitions.ts";
import { type CheckedDraft, checkDraft, type UncheckedDraft, newRow, definitionInvalid } from "./check-draft.ts";
import { createLiveDefinitions, type LiveOptions, titles, type LiveDefinitionState } from "./live-definitions.ts";
import { type DefinitionEntry, isReadOnly, defaultOf, resolveDefinitions } from "./resolve.ts";
import { isFallback, type ModelConfig } from "../models/config.ts";
import { addressOf } from "../models/registry.ts";
import type { AgentRegistry } from "../protocol/agents/agents.ts";
import type { ParsePolicy } from "./parse-definition.ts";

export type DefinitionsOptions = Omit<LiveOptions, "database"> & {
  readonly database: Database;
  readonly secret: string;
  readonly strategies: readonly string[];
  /** Why a model at this address would not be asked; undefined: it would. Never throws; absent: all are. */
  readonly whyNotAsked?: ((address: string) => Promise<string | undefined>) | undefined;
  /** What there is that an agent can name. */
  readonly knownNames: () => KnownNames;
};

/** How often others may be faster. */
const maxTries = 20;

export type Definitions = Awaited<ReturnType<typeof createDefinitions>>;

/** Agents, models and MCP servers of configuration, files and database as one, and the changes that admins make of it. */
export async function createDefinitions(options: DefinitionsOptions) {
  const { agents, models, strategies } = options;
  const store = createDefinitionStore(options.database, options.secret);
  const live = await createLiveDefinitions(store, options);
  const { entries, find, read, refresh, reconfigure, follow } = live;
  const hasRow = (kind: DefinitionKind, id: string) =>
    live.now().rows.some((row) => row.kind === kind && row.id === id);

  const check = <Kind extends DefinitionKind>(kind: Kind, draft: UncheckedDraft): CheckedDraft<Kind> =>
    checkDraft(kind, draft, { now: live.now(), strategies, policy: options });

  /** What is wrong with where a model is. */
  async function addressProblems(kind: DefinitionKind, draft: UncheckedDraft): Promise<readonly DefinitionProblem[]> {
    const address = kind === "model" ? addressIn(check("model", draft).definition) : undefined;
    const message = address === undefined ? undefined : await options.whyNotAsked?.(address);
    return message === undefined ? [] : [{ path: "baseUrl", message }];
  }

  /** The same as `check`, and where names lead to. */
  async function examine(kind: DefinitionKind, draft: UncheckedDraft): Promise<CheckedDraft<DefinitionKind>> {
    const more = await addressProblems(kind, draft);
    const checked = check(kind, draft);
    return { ...checked, problems: [...checked.problems, ...more] };
  }

  /** What is to be kept. Throws definitionInvalid. */
  function sound(kind: DefinitionKind, draft: UncheckedDraft, more: readonly DefinitionProblem[]): unknown {
    const { body, problems } = check(kind, draft);
    const all = [...problems, ...more];
    if (all.length > 0) throw definitionInvalid(`The ${titles[kind]} "${draft.id}"`, all);
    return body;
  }

  function refuseReadOnly(kind: DefinitionKind, id: string): void {
    const entry = entries(kind).find((one) => one.id === id && isReadOnly(one));
    if (entry) throw definedElsewhere(entry);
  }

  /** Does what `act` decides on all that there is at that time; begins anew if others were faster. */
  const settle = oneByOne(async (act: (stamp: string) => Promise<"done" | "stale">): Promise<void> => {
    for (let tries = 0; tries < maxTries; tries++) {
      // What can't be taken over can be changed all the same.
      await read();
      if ((await act(live.now().stamp)) === "done") return refresh();
    }
    throw new Conflict("Definitions are being changed by others. Try again.", { code: "changed_meanwhile" });
  });

  const add = async (stamp: string, key: DefinitionKey, body: unknown, caller: Caller): Promise<"done" | "stale"> => {
    const outcome = await store.insert(stamp, key, body, caller.userId);
    if (outcome !== "too many") return outcome;
    throw new Conflict("Too many definitions of this kind. Delete some first.", { code: "too_many" });
  };

  async function create(kind: DefinitionKind, draft: UncheckedDraft, caller: Caller): Promise<DefinitionEntry> {
    const { id } = draft;
    const more = await addressProblems(kind, draft);
    await settle((stamp) => {
      refuseReadOnly(kind, id);
      if (hasRow(kind, id))
        throw new Conflict(`The ${titles[kind]} "${id}" is already defined. Edit it instead.`, {
          code: "exists",
        });
      return add(stamp, { kind, id }, sound(kind, draft, more), caller);
    });
    return find(kind, id, true);
  }

  async function change(
    kind: DefinitionKind,
    { revision, ...draft }: UncheckedDraft & { readonly revision: string },
    caller: Caller,
  ): Promise<DefinitionEntry> {
    const { id } = draft;
    const more = await addressProblems(kind, draft);
    await settle((stamp) => {
      refuseReadOnly(kind, id);
      if (find(kind, id, true).stored?.revision !== revision) throw changedMeanwhile(titles[kind], id);
      return store.change(stamp, { kind, id }, sound(kind, draft, more), caller.userId);
    });
    return find(kind, id, true);
  }

  /** Deletes a definition; `force` deletes it even if others need it. */
  function remove(
    kind: DefinitionKind,
    { id, revision, force }: { readonly id: string; readonly revision?: string | undefined; readonly force: boolean },
  ): Promise<void> {
    return settle((stamp) => {
      const entry = find(kind, id);
      if (!hasRow(kind, id)) throw definedElsewhere(entry);
      if (revision !== undefined && find(kind, id, true).stored?.revision !== revision)
        throw changedMeanwhile(titles[kind], id);
      const users = force ? [] : neededBy(kind, id, { now: live.now(), agents, policy: options });
      if (users.length > 0)
        throw new Conflict(`The ${titles[kind]} "${id}" is needed by ${users.join(", ")}. Change these first.`, {
          code: "in_use",
        });
      return store.remove(stamp, { kind, id });
    });
  }

  const defaultNow = (of: DefaultKind): DefaultView => readDefault(of, live.now(), agents);

  /** Undefined: as it would be without. */
  async function setDefault(
    of: DefaultKind,
    { value, revision }: { readonly value: string | undefined; readonly revision?: string | undefined },
    caller: Caller,
  ): Promise<DefaultView> {
    await settle((stamp) => {
      const before = defaultNow(of);
      if (before.readOnly)
        throw new Conflict(`The default ${of} is set by ${before.where ?? "the configuration"}: change it there.`, {
          code: "read_only",
        });
      if (revision !== undefined && revision !== before.revision) throw changedMeanwhile("default", of);
      const key = { kind: "default", id: of } as const;
      if (value === undefined) return store.remove(stamp, key);
      const fault = faultOfDefault(of, value);
      if (fault !== undefined) throw definitionInvalid(`The default ${of}`, [{ path: "value", message: fault }]);
      const body = { id: value };
      return before.revision === null ? add(stamp, key, body, caller) : store.change(stamp, key, body, caller.userId);
    });
    return defaultNow(of);
  }

  function faultOfDefault(of: DefaultKind, value: string): string | undefined {
    const isThere = of === "agent" ? agents.has(value) : value !== "default" && models.has(value);
    if (!isThere) return `${of} "${value}" not found`;
    const isCircle = of === "model" && leadsToItself(value, live.now(), options);
    return isCircle ? `"${value}" leads back to the default itself` : undefined;
  }

  return {
    entries,
    find,
    check,
    examine,
    create,
    change,
    remove,
    readDefault: defaultNow,
    setDefault,
    knownNames: options.knownNames,
    /** What `default` stands for now. */
    choice: (): ModelChoice => live.now().resolved.choice,
    reconfigure,
    follow,
  };
}

function addressIn(model: ModelConfig | undefined): string | undefined {
  return model && addressOf(model);
}

/** Calls wait for those before them. */
function oneByOne<Argument>(task: (argument: Argument) => Promise<void>): (argument: Argument) => Promise<void> {
  let last = Promise.resolve();
  return (argument) => {
    const done = last.then(() => task(argument));
    last = done.catch(() => {});
    return done;
  };
}

function definedElsewhere({ kind, id, place: { source, where } }: DefinitionEntry): Conflict {
  const place = where ?? (source === "built-in" ? "the program itself" : source);
  return new Conflict(`The ${titles[kind]} "${id}" is defined by ${place}, not here.`, { code: "read_only" });
}

function changedMeanwhile(what: string, id: string): Conflict {
  return new Conflict(`The ${what} "${id}" was changed in the meantime. Read it again.`, { code: "changed_meanwhile" });
}

function readDefault(of: DefaultKind, now: LiveDefinitionState, agents: AgentRegistry): DefaultView {
  const row = now.rows.find(({ kind, id }) => kind === "default" && id === of);
  const wanted = defaultOf(row?.body);
  const revision = row?.revision ?? null;
  if (of === "agent" && now.base.defaultAgent) {
    const { id, ...place } = now.base.defaultAgent;
    const isThere = agents.has(id);
    const problem = isThere ? null : `agent "${id}" not found`;
    return { of, value: isThere ? id : null, ...place, readOnly: true, revision, problem };
  }
  if (of === "agent") {
    const isThere = wanted !== undefined && agents.has(wanted);
    const problem = wanted !== undefined && !isThere ? `agent "${wanted}" no longer exists` : null;
    const source = row ? "database" : "built-in";
    return { of, value: isThere ? wanted : null, source, where: null, readOnly: false, revision, problem };
  }
  const config = now.resolved.choice.models.find(({ id }) => id === "default");
  const value = config && isFallback(config) ? (config.fallback[0] ?? null) : "default";
  const problem = wanted !== undefined && wanted !== value ? `"${wanted}" is set, but does not count` : null;
  if (isDefaultConfigured(now.base))
    return { of, value, ...now.base.placeOf("model", "default"), readOnly: true, revision, problem };
  const source = row && problem === null ? "database" : "built-in";
  return { of, value, source, where: null, readOnly: false, revision, problem };
}

/** Whether a model, as the default, would lead back to the default: a chain that names it. */
function leadsToItself(value: string, { base, rows, resolved }: LiveDefinitionState, policy: ParsePolicy): boolean {
  const row: StoredDefinition = { ...newRow, kind: "default", id: "model", body: { id: value } };
  const others = rows.filter(({ kind, id }) => kind !== "default" || id !== "model");
  const refused = (entries: typeof resolved.entries) => entries.filter(({ state }) => state === "refused").length;
  return refused(resolveDefinitions(base, [...others, row], policy).entries) > refused(resolved.entries);
}

/** Who names a model or an agent that would not be there any more without its row in the database. */
function neededBy(
  kind: DefinitionKind,
  id: string,
  {
    now,
    agents,
    policy,
  }: { readonly now: LiveDefinitionState; readonly agents: AgentRegistry; readonly policy: ParsePolicy },
): string[] {
  if (kind === "mcp-server") return [];
  const left = now.rows.filter((row) => row.kind !== kind || row.id !== id);
  const then = resolveDefinitions(now.base, left, policy);
  const named = (some: readonly { readonly id: string }[]) => some.some((one) => one.id === id);
  const isDefault = now.rows.some((row) => row.kind === "default" && row.id === kind && defaultOf(row.body) === id);
  const defaults = isDefault ? ["the defaults"] : [];
  if (kind === "model") {
    if (named(then.choice.models)) return [];
    const chains = now.resolved.choice.models.filter(
      (model) => model.id !== "default" && isFallback(model) && model.fallback.includes(id),
    );
    const asking = agents.list().filter(({ model }) => model === id);
    return [
      ...defaults,
      ...chains.map((chain) => `the model ${chain.id}`),
      ...asking.map((agent) => `the agent ${agent.id}`),
    ];
  }
  if (named(then.agents)) return [];
  const teams = agents.list().filter((agent) => agent.id !== id && agent.agents.includes(id));
  return [...defaults, ...teams.map((agent) => `the agent ${agent.id}`)];
}
