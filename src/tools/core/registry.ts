import { holds } from "../protocol/callers.ts";
import { Conflict } from "../protocol/errors.ts";
import { matchesGlob } from "../protocol/glob.ts";
import { mayNameAny, selectsByGlobs } from "./glob.ts";
import type { ToolSchema } from "../protocol/models.ts";
import type { Caller } from "../protocol/callers.ts";
import type { ToolSettings } from "../protocol/tool-settings.ts";
import type { RightsSource, Tool, ToolRegistry, ToolSource } from "../protocol/tools.ts";
import { createSettler } from "./tool-settings.ts";

export type RegistryOptions = {
  /** The systems whose rights some of the tools need. */
  readonly rights?: readonly RightsSource[] | undefined;
  /** What the operator set for them by name. */
  readonly settings?: ToolSettings | undefined;
  /** Its tools take the place of all others of the same name. */
  readonly instead?: ToolSource | undefined;
};

const longestPreparationMs = 1000;
/** Of lists that are kept, for callers who see different tools. */
const mostMerged = 32;

/**
 * All tools, always in the order of their names. Throws Conflict when two share one. A source's tool whose name is taken
 * already is left out: what comes later must not take the place of what a person chose before. `sources` is looked at anew
 * each time, so it may be a list that changes.
 */
export function createToolRegistry(
  tools: readonly Tool[],
  sources: readonly ToolSource[] = [],
  { rights = [], settings = { byName: {} }, instead }: RegistryOptions = {},
): ToolRegistry {
  const settle = createSettler(settings);
  const rightsByName = new Map(rights.map((source) => [source.name, source]));
  const missing = ({ name: tool, rights: system, permissions }: Tool, caller: Caller): readonly string[] => {
    const here = [`tool:${tool}`, ...(system === undefined ? permissions : [])].filter(
      (name) => !holds(caller, [name]),
    );
    if (system === undefined) return here;
    const held = rightsByName.get(system)?.permissions(caller) ?? [];
    return [...here, ...permissions.filter((name) => !held.includes(name))];
  };
  const systemsOf = (some: readonly Tool[]): readonly RightsSource[] => {
    const named = new Set(some.map((tool) => tool.rights));
    return rights.filter(({ name }) => named.has(name));
  };
  const byName = new Map<string, Tool>();
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))) {
    const other = byName.get(tool.name);
    if (other) {
      throw new Conflict(`Two tools are named ${tool.name}: one from ${other.source}, one from ${tool.source}.`, {
        code: "duplicate_tool",
      });
    }
    byName.set(tool.name, tool);
  }
  const settled = (some: Iterable<Tool>): readonly Tool[] => [...some].flatMap((tool) => settle(tool) ?? []);
  const own = settled(byName.values());
  const merge = (lists: readonly (readonly Tool[])[]): readonly Tool[] => {
    const first = new Map(byName);
    const [before = [], ...after] = instead ? lists : [[], ...lists];
    for (const tool of before) first.set(tool.name, tool);
    for (const tool of after.flat()) if (!first.has(tool.name)) first.set(tool.name, tool);
    return settled([...first.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
  };
  const allSources = () => (instead ? [instead, ...sources] : sources);
  // A source gives the same list as long as nothing changes in it; some give each user another.
  const merged: { readonly lists: readonly (readonly Tool[])[]; readonly tools: readonly Tool[] }[] = [];
  const mergedFor = (caller: Caller | undefined): readonly Tool[] => {
    const lists = allSources().map((source) => source.tools(caller));
    const isSame = (others: readonly (readonly Tool[])[]) =>
      others.length === lists.length && others.every((list, at) => list === lists[at]);
    const known = merged.find((one) => isSame(one.lists));
    if (known) return known.tools;
    const tools = merge(lists);
    merged.unshift({ lists, tools });
    merged.length = Math.min(merged.length, mostMerged);
    return tools;
  };
  const all = (caller?: Caller): readonly Tool[] => (allSources().length === 0 ? own : mergedFor(caller));
  return {
    get: (name) => all().find((tool) => tool.name === name),
    select: (globs, caller) => {
      const isNamed = selectsByGlobs(globs);
      const isMeant = ({ name, mustBeNamed }: Tool) =>
        isNamed(name) && (!mustBeNamed || globs.some((glob) => glob !== "*" && matchesGlob(glob, name)));
      const holdsAll = holds(caller, ["*"]);
      const mayUse = (tool: Tool) => (holdsAll && tool.rights === undefined) || missing(tool, caller).length === 0;
      return all(caller).filter((tool) => tool.unavailable === undefined && isMeant(tool) && mayUse(tool));
    },
    list: () => all(),
    async prepare(globs, caller) {
      const isNamed = selectsByGlobs(globs);
      const asked = [
        ...allSources().filter(({ prefix = "" }) => mayNameAny(globs, prefix)),
        ...systemsOf(own.filter(({ name }) => isNamed(name))),
      ];
      if (asked.length === 0) return;
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), longestPreparationMs);
      const enough = new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
      await Promise.race([enough, Promise.all(asked.map((source) => source.ready(caller, stop.signal)))]);
      clearTimeout(timer);
    },
    missing,
    async renew(names, caller, signal) {
      if (rights.length === 0) return;
      const named = own.filter(({ name }) => names.includes(name));
      await Promise.all(systemsOf(named).map((source) => source.ready(caller, signal)));
    },
  };
}

/** What a model is told of the tools. */
export function toolSchemas(tools: readonly Tool[]): ToolSchema[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}
