import type { KnownNames } from "../../agents/stray-names.ts";
import type { ModelChoice } from "../../models/choose.ts";
import type { Caller } from "../../protocol/callers.ts";
import type { DefaultKind, DefinitionKind } from "../../protocol/definitions.ts";
import { Conflict } from "../../protocol/errors.ts";
import type { Database } from "../../store/database.ts";
import { createDefinitionStore } from "../../store/definitions.ts";
import { type Checked, checkDraft, type Draft } from "./check-draft.ts";
import { type DefaultSetting, leadsToItself, readDefault } from "./default-settings.ts";
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

export type Definitions = Awaited<ReturnType<typeof createDefinitions>>;

/** Agents, models and MCP servers of configuration, files and database as one, and the changes that admins make of it. */
export async function createDefinitions(options: DefinitionsOptions) {
  const { agents, models, strategies } = options;
  const store = createDefinitionStore(options.database.query, options.secret);
  const live = await createLiveDefinitions(store, options);
  const { entries, find, refresh, reconfigure, follow } = live;
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

  async function create(kind: DefinitionKind, draft: Draft, caller: Caller): Promise<Entry> {
    await refresh();
    const { id } = draft;
    refuseReadOnly(kind, id);
    const exists = `There is a definition of the ${titles[kind]} "${id}" already: change that one.`;
    if (hasRow(kind, id)) throw new Conflict(exists, { code: "exists" });
    const outcome = await store.insert({ kind, id }, sound(kind, draft), caller.userId);
    if (outcome === "exists") throw new Conflict(exists, { code: "exists" });
    if (outcome === "too many")
      throw new Conflict(`There are too many definitions of this kind: delete some.`, { code: "too_many" });
    await refresh();
    return find(kind, id, true);
  }

  async function change(
    kind: DefinitionKind,
    { revision, ...draft }: Draft & { readonly revision: string },
    caller: Caller,
  ): Promise<Entry> {
    await refresh();
    const { id } = draft;
    refuseReadOnly(kind, id);
    const isSame = find(kind, id, true).stored?.revision === revision;
    if (!isSame || !(await store.change({ kind, id, revision }, sound(kind, draft), caller.userId)))
      throw changedMeanwhile(titles[kind], id);
    await refresh();
    return find(kind, id, true);
  }

  /** `force`: though others need it. */
  async function remove(
    kind: DefinitionKind,
    { id, revision, force }: { readonly id: string; readonly revision?: string | undefined; readonly force: boolean },
  ): Promise<void> {
    await refresh();
    const entry = find(kind, id);
    if (!hasRow(kind, id)) throw definedElsewhere(entry);
    const users = force ? [] : neededBy(kind, id, { now: live.now(), agents, policy: options });
    if (users.length > 0)
      throw new Conflict(
        `The ${titles[kind]} "${id}" is needed by ${users.join(", ")}. Change these first, or add ?force=true.`,
        { code: "in_use" },
      );
    if (!(await store.remove({ kind, id, revision }))) throw changedMeanwhile(titles[kind], id);
    await refresh();
  }

  /** Undefined: as it would be without. */
  async function setDefault(
    of: DefaultKind,
    { value, revision }: { readonly value: string | undefined; readonly revision?: string | undefined },
    caller: Caller,
  ): Promise<DefaultSetting> {
    await refresh();
    const before = readDefault(of, live.now(), agents);
    if (before.readOnly)
      throw new Conflict(`The default ${of} is set by ${before.where ?? "the configuration"}: change it there.`, {
        code: "read_only",
      });
    if (revision !== undefined && revision !== before.revision) throw changedMeanwhile("default", of);
    const key = { kind: "default", id: of } as const;
    if (value === undefined) await store.remove(key);
    else {
      const isThere = of === "agent" ? agents.has(value) : value !== "default" && models.has(value);
      const fault = !isThere
        ? `there is no ${of} "${value}"`
        : of === "model" && leadsToItself(value, live.now(), options)
          ? `"${value}" leads back to the default itself`
          : undefined;
      if (fault !== undefined) throw definitionInvalid(`The default ${of}`, [{ path: "value", message: fault }]);
      const body = { id: value };
      const done =
        before.revision === null
          ? (await store.insert(key, body, caller.userId)) === "done"
          : await store.change({ ...key, revision: before.revision }, body, caller.userId);
      if (!done) throw changedMeanwhile("default", of);
    }
    await refresh();
    return readDefault(of, live.now(), agents);
  }

  return {
    entries,
    find,
    check,
    create,
    change,
    remove,
    readDefault: (of: DefaultKind): DefaultSetting => readDefault(of, live.now(), agents),
    setDefault,
    knownNames: options.knownNames,
    /** What `default` stands for now. */
    choice: (): ModelChoice => live.now().resolved.choice,
    reconfigure,
    follow,
  };
}

function definedElsewhere({ kind, id, place: { source, where } }: Entry): Conflict {
  const place = where ?? (source === "built-in" ? "the program itself" : source);
  return new Conflict(`The ${titles[kind]} "${id}" is defined by ${place}, not here.`, { code: "read_only" });
}

function changedMeanwhile(what: string, id: string): Conflict {
  return new Conflict(`The ${what} "${id}" was changed meanwhile: read it again.`, { code: "changed_meanwhile" });
}
