import type { KnownNames } from "../../agents/stray-names.ts";
import type { ModelChoice } from "../../models/choose.ts";
import type { Caller } from "../../protocol/callers.ts";
import type { DefaultKind, DefinitionKind, DefaultView } from "../../protocol/definitions.ts";
import { Conflict } from "../../protocol/errors.ts";
import type { Database } from "../../store/database.ts";
import { createDefinitionStore, type DefinitionKey } from "../../store/definitions.ts";
import { type Checked, checkDraft, type Draft } from "./check-draft.ts";
import { leadsToItself, readDefault } from "./default-settings.ts";
import { definitionInvalid } from "./definition-invalid.ts";
import { createLiveDefinitions, type LiveOptions, titles } from "./live-definitions.ts";
import { neededBy } from "./needed-by.ts";
import { type Entry, isReadOnly } from "./resolve.ts";

export type DefinitionsOptions = Omit<LiveOptions, "database"> & {
  readonly database: Database;
  readonly secret: string;
  readonly strategies: readonly string[];
  /** What there is that an agent can name. */
  readonly knownNames: () => KnownNames;
};

/** How often others may be faster. */
const mostTries = 20;

export type Definitions = Awaited<ReturnType<typeof createDefinitions>>;

/** Agents, models and MCP servers of configuration, files and database as one, and the changes that admins make of it. */
export async function createDefinitions(options: DefinitionsOptions) {
  const { agents, models, strategies } = options;
  const store = createDefinitionStore(options.database, options.secret);
  const live = await createLiveDefinitions(store, options);
  const { entries, find, read, refresh, reconfigure, follow } = live;
  const hasRow = (kind: DefinitionKind, id: string) =>
    live.now().rows.some((row) => row.kind === kind && row.id === id);

  const check = <Kind extends DefinitionKind>(kind: Kind, draft: Draft): Checked<Kind> =>
    checkDraft(kind, draft, { now: live.now(), strategies, policy: options });

  /** What is to be kept. Throws definitionInvalid. */
  function sound(kind: DefinitionKind, draft: Draft): unknown {
    const { body, problems } = check(kind, draft);
    if (problems.length > 0) throw definitionInvalid(`The ${titles[kind]} "${draft.id}"`, problems);
    return body;
  }

  function refuseReadOnly(kind: DefinitionKind, id: string): void {
    const entry = entries(kind).find((one) => one.id === id && isReadOnly(one));
    if (entry) throw definedElsewhere(entry);
  }

  /** Does what `act` decides on all that there is at that time; begins anew if others were faster. */
  const settle = oneByOne(async (act: (stamp: string) => Promise<"done" | "stale">): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries++) {
      // What can't be taken over can be changed all the same.
      await read();
      if ((await act(live.now().stamp)) === "done") return refresh();
    }
    throw new Conflict("Others change definitions all the time just now: try again.", { code: "changed_meanwhile" });
  });

  const add = async (stamp: string, key: DefinitionKey, body: unknown, caller: Caller): Promise<"done" | "stale"> => {
    const outcome = await store.insert(stamp, key, body, caller.userId);
    if (outcome !== "too many") return outcome;
    throw new Conflict("There are too many definitions of this kind: delete some.", { code: "too_many" });
  };

  async function create(kind: DefinitionKind, draft: Draft, caller: Caller): Promise<Entry> {
    const { id } = draft;
    await settle((stamp) => {
      refuseReadOnly(kind, id);
      if (hasRow(kind, id))
        throw new Conflict(`There is a definition of the ${titles[kind]} "${id}" already: change that one.`, {
          code: "exists",
        });
      return add(stamp, { kind, id }, sound(kind, draft), caller);
    });
    return find(kind, id, true);
  }

  async function change(
    kind: DefinitionKind,
    { revision, ...draft }: Draft & { readonly revision: string },
    caller: Caller,
  ): Promise<Entry> {
    const { id } = draft;
    await settle((stamp) => {
      refuseReadOnly(kind, id);
      if (find(kind, id, true).stored?.revision !== revision) throw changedMeanwhile(titles[kind], id);
      return store.change(stamp, { kind, id }, sound(kind, draft), caller.userId);
    });
    return find(kind, id, true);
  }

  /** `force`: though others need it. */
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
    if (!isThere) return `there is no ${of} "${value}"`;
    const isCircle = of === "model" && leadsToItself(value, live.now(), options);
    return isCircle ? `"${value}" leads back to the default itself` : undefined;
  }

  return {
    entries,
    find,
    check,
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

/** Calls wait for those before them. */
function oneByOne<Argument>(task: (argument: Argument) => Promise<void>): (argument: Argument) => Promise<void> {
  let last = Promise.resolve();
  return (argument) => {
    const done = last.then(() => task(argument));
    last = done.catch(() => {});
    return done;
  };
}

function definedElsewhere({ kind, id, place: { source, where } }: Entry): Conflict {
  const place = where ?? (source === "built-in" ? "the program itself" : source);
  return new Conflict(`The ${titles[kind]} "${id}" is defined by ${place}, not here.`, { code: "read_only" });
}

function changedMeanwhile(what: string, id: string): Conflict {
  return new Conflict(`The ${what} "${id}" was changed meanwhile: read it again.`, { code: "changed_meanwhile" });
}
