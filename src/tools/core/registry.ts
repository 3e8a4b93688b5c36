import { hasPermissions, type Caller } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import { matchesGlob, mayNameAny, selectsByGlobs } from "../../protocol/base/glob.ts";
import type { ToolSchema, ModelSettings } from "../../protocol/agents/models.ts";
import type { ToolSettings, ToolSetting } from "../../protocol/agents/tool-settings.ts";
import type { RightsSource, Tool, ToolRegistry, ToolSource, StepRequest } from "../../protocol/agents/tools.ts";
import { defaultTimeoutMs } from "./define-tool.ts";

export type RegistryOptions = {
  /** External systems whose permissions some tools need. */
  readonly rights?: readonly RightsSource[] | undefined;
  /** The operator's settings, by tool name. */
  readonly settings?: ToolSettings | undefined;
  /** Its tools replace all others with the same name. */
  readonly instead?: ToolSource | undefined;
};

const longestPreparationMs = 1000;
/** Of lists that are kept, for callers who see different tools. */
const maxMerged = 32;

/**
 * Creates the registry of all tools, sorted by name. Throws Conflict if two share a name. A source's tool whose name is taken
 * is left out, so that later tools can't replace what a person chose before. `sources` is read again
 * each time, so the list may change.
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
      (name) => !hasPermissions(caller, [name]),
    );
    if (system === undefined) return here;
    const held = rightsByName.get(system)?.permissions(caller) ?? [];
    return [...here, ...permissions.filter((name) => !held.includes(name))];
  };
  const systemsOf = (some: readonly Tool[]): readonly RightsSource[] => {
    const named = new Set(some.map((tool) => tool.rights));
    return rights.filter(({ name }) => named.has(name));
  };
  const byName = indexByName(tools);
  const settled = (some: Iterable<Tool>): readonly Tool[] => [...some].flatMap((tool) => settle(tool) ?? []);
  const own = settled(byName.values());
  const merge = (lists: readonly SourceTools[]): readonly Tool[] => {
    const first = new Map(byName);
    for (const { source, tools: its } of lists)
      for (const tool of its)
        if (source === instead || (!first.has(tool.name) && !isOthers(tool.name, source))) first.set(tool.name, tool);
    return settled([...first.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
  };
  const allSources = () => (instead ? [instead, ...sources] : sources);
  /** Names that begin like those of a source that must be named are its own, whether or not it is looked at. */
  const isOthers = (name: string, source: ToolSource) =>
    sources.some((other) => other.mustBeNamed && other !== source && name.startsWith(other.prefix ?? ""));
  const mayBeNamed = (globs: readonly string[], { prefix = "", mustBeNamed }: ToolSource) =>
    mayNameAny(mustBeNamed ? globs.filter(isNarrow) : globs, prefix);
  // A source gives the same list as long as nothing changes in it; some give each user another.
  const merged: { readonly lists: readonly SourceTools[]; readonly tools: readonly Tool[] }[] = [];
  const toolsOf = (some: readonly ToolSource[], caller?: Caller): readonly Tool[] => {
    if (some.length === 0) return own;
    const lists = some.map((source) => ({ source, tools: source.tools(caller) }));
    const isSame = (others: readonly SourceTools[]) =>
      others.length === lists.length &&
      others.every(({ source, tools: its }, at) => source === lists[at]!.source && its === lists[at]!.tools);
    const known = merged.find((one) => isSame(one.lists));
    if (known) return known.tools;
    const tools = merge(lists);
    merged.unshift({ lists, tools });
    merged.length = Math.min(merged.length, maxMerged);
    return tools;
  };
  const all = (caller?: Caller): readonly Tool[] => toolsOf(allSources(), caller);
  /** Those of these names that are a source's tools, or may be as soon as it has told them. */
  const namesOf = (source: ToolSource, names: readonly string[], caller: Caller): readonly string[] => {
    const its = source.tools(caller);
    const known = all(caller);
    return names.filter((name) =>
      known.some((tool) => tool.name === name)
        ? its.some((tool) => tool.name === name)
        : its.length === 0 && name.startsWith(source.prefix ?? ""),
    );
  };
  return {
    get: (name) => all().find((tool) => tool.name === name),
    select: (globs, caller) => {
      const isNamed = selectsByGlobs(globs);
      const isMeant = ({ name, mustBeNamed }: Tool) =>
        isNamed(name) && (!mustBeNamed || globs.some((glob) => isNarrow(glob) && matchesGlob(glob, name)));
      const holdsAll = hasPermissions(caller, ["*"]);
      const mayUse = (tool: Tool) => (holdsAll && tool.rights === undefined) || missing(tool, caller).length === 0;
      const named = toolsOf(
        allSources().filter((source) => mayBeNamed(globs, source)),
        caller,
      );
      return named.filter((tool) => tool.unavailable === undefined && isMeant(tool) && mayUse(tool));
    },
    list: () => all(),
    async prepare(globs, caller) {
      const isNamed = selectsByGlobs(globs);
      const asked = [
        ...allSources().filter((source) => mayBeNamed(globs, source)),
        ...systemsOf(own.filter(({ name }) => isNamed(name))),
      ];
      if (asked.length === 0) return;
      await untilReady(asked, caller);
    },
    missing,
    awaited(globs, caller) {
      const narrow = globs.filter(isNarrow);
      if (narrow.length === 0) return [];
      return allSources()
        .filter((source) => mayNameAny(narrow, source.prefix ?? "") && source.isAwaited?.(caller))
        .map(({ name }) => name);
    },
    async wait(names, caller, waiting) {
      const reasons = new Map<string, string>();
      const wait = async (source: ToolSource) => {
        const reason = await source.wait?.(caller, waiting);
        if (reason !== undefined) reasons.set(source.name, reason);
      };
      await Promise.all(allSources().map((source) => names.includes(source.name) && wait(source)));
      return reasons;
    },
    async renew(names, caller, { signal, tell }) {
      const absent = new Map<string, string>();
      const waits = allSources().flatMap((source) => {
        const its = source.wait ? namesOf(source, names, caller) : [];
        const arrival = its.length > 0 ? source.wait?.(caller, { signal, tell }) : undefined;
        const note = (reason: string | undefined) => {
          if (reason !== undefined) for (const name of its) absent.set(name, reason);
        };
        return arrival ? arrival.then(note) : [];
      });
      const named = rights.length === 0 ? [] : own.filter(({ name }) => names.includes(name));
      await Promise.all([...waits, ...systemsOf(named).map((source) => source.ready(caller, signal))]);
      return absent;
    },
  };
}

/** In the order of their names. Throws Conflict `duplicate_tool`. */
function indexByName(tools: readonly Tool[]): Map<string, Tool> {
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
  return byName;
}

/** Waits for all of them, but no longer than a preparation may take. */
async function untilReady(sources: readonly Pick<RightsSource, "ready">[], caller: Caller): Promise<void> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), longestPreparationMs);
  const enough = new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
  await Promise.race([enough, Promise.all(sources.map((source) => source.ready(caller, stop.signal)))]);
  clearTimeout(timer);
}

type SourceTools = { readonly source: ToolSource; readonly tools: readonly Tool[] };

function isNarrow(glob: string): boolean {
  return glob !== "*";
}

/** Tool schemas for the model. */
export function toolSchemas(tools: readonly Tool[]): ToolSchema[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/** Applies the operator's settings to a tool; undefined if it is disabled. Memoized per tool. */
function createSettler({ available, defaultTimeoutSeconds, byName }: ToolSettings): (tool: Tool) => Tool | undefined {
  const isAvailable = available ? selectsByGlobs(available) : () => true;
  const settled = new WeakMap<Tool, Tool>();
  return (tool) => {
    const setting = Object.hasOwn(byName, tool.name) ? byName[tool.name]! : {};
    if (setting.enabled === false || !isAvailable(tool.name)) return undefined;
    const known = settled.get(tool);
    if (known) return known;
    const made = settle(tool, setting, defaultTimeoutSeconds);
    settled.set(tool, made);
    return made;
  };
}

function settle(tool: Tool, { timeout, model, temperature }: ToolSetting, usual: number | undefined): Tool {
  // Who asks for just the usual time is taken for one that asks for none.
  const seconds = timeout ?? (tool.timeoutMs === defaultTimeoutMs ? usual : undefined);
  const timed = seconds === undefined ? tool : { ...tool, timeoutMs: Math.ceil(seconds * 1000) };
  if (model === undefined && temperature === undefined) return timed;
  const settings: ModelSettings = temperature === undefined ? {} : { temperature };
  const asSet = (request: StepRequest): StepRequest => ({
    ...request,
    ...(model === undefined ? {} : { model }),
    settings: { ...request.settings, ...settings },
  });
  return {
    ...timed,
    execute: (input, context) =>
      tool.execute(input, { ...context, step: (request, signal) => context.step(asSet(request), signal) }),
  };
}
