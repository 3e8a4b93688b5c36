import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import { type Item, textOf } from "../../protocol/threads/items.ts";
import type { RunBasis } from "../contract/turn.ts";
import { windowIn } from "../log/estimate-tokens.ts";
import { chooseOffered, type PromptRoom, rankIn } from "../prompt/offer-tools.ts";
import type { RunWork } from "./work.ts";
import type { ToolSchema } from "../../protocol/agents/models.ts";
import { toolSchemas } from "../../tools/core/registry.ts";
import { searchName, searchTool, foundTools } from "../../tools/core/search-tools.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import { isErased } from "../log/fold.ts";

/** Returns what a strategy knows of its run. Everything was fixed at the start, except tools that were found since. */
export function basisIn(work: RunWork): RunBasis {
  return (work.basis ??= basisOf(work));
}

function basisOf(work: RunWork): RunBasis {
  const {
    agent,
    options,
    limits,
    team = [],
    prompts = {},
    strategies = defaultStrategySettings,
  } = work.taken.definition;
  return {
    agent,
    limits,
    // A strategy that lists them in words of its own has no second look: all are told for which there is room.
    tools: [
      ...offeredTools(work, { window: windowIn(work.runtime.models, agent), isGenerous: true }).tools,
      ...(options.clientTools ?? []),
    ],
    team,
    prompts,
    settings: strategies,
    input: inputOf(work.items),
  };
}

function inputOf(items: readonly Item[]): string {
  for (const item of items)
    if (item.kind === "message" && item.step === null && !("erased" in item.body)) return textOf(item.body.content);
  return "";
}

export const toolsDeferred = "tools_deferred";

export type OfferedTools = {
  readonly tools: readonly ToolSchema[];
  /** Those for which the model has no room. */
  readonly deferred: readonly ToolSchema[];
};

/**
 * The tools of a run in a prompt of this size: those that were called or found in the conversation, that the agent names, and
 * of the others the smallest, as far as they fit. Among the rest the model searches.
 */
export function offeredTools(
  work: Pick<RunWork, "taken" | "runtime" | "items" | "branch">,
  room: PromptRoom,
): OfferedTools {
  const { runtime } = work;
  const { definition } = work.taken;
  const all = [...definition.tools, ...foundIn(definition, work.branch)].filter(({ name }) => name !== searchName);
  const own = new Set(definition.tools.map(({ name }) => name));
  const wanted = new Set([...foundAmong(own, work.branch).map(({ name }) => name), ...calledIn(work.branch)]);
  // Tools that are not in the registry are the run's own, such as delegation, and can't be searched for.
  const isFixed = ({ name }: ToolSchema) => runtime.tools.get(name) === undefined;
  const rank = (tool: ToolSchema) => (isFixed(tool) ? 0 : wanted.has(tool.name) ? 1 : rankIn(definition.agent, tool));
  const { offered, isTight } = chooseOffered(all, { ...room, rank });
  const left = all.filter((tool) => !offered.has(tool));
  const sought = [...new Set([...left.map(({ name }) => name), ...(definition.deferred ?? [])])];
  const tools = all.filter((tool) => offered.has(tool));
  if (sought.length === 0) return { tools, deferred: [] };
  const search = searchTool(sought.flatMap((name) => runtime.tools.get(name) ?? []));
  return { tools: [...tools, ...toolSchemas([search])], deferred: isTight ? left : [] };
}

/** Whether tools of this run must be searched for since there was no room for them. */
export function hasDeferredTools(items: readonly Item[]): boolean {
  return items.some((item) => item.kind === "notice" && item.body.code === toolsDeferred);
}

function calledIn(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "call" ? [item.body.name] : []));
}

/** That are offered at once: the last ones. */
const maxFound = 40;

/** Returns the deferred tools that searches among these items found. */
function foundIn({ deferred }: RunDefinition, items: readonly Item[]): readonly ToolSchema[] {
  return deferred ? foundAmong(new Set(deferred), items) : [];
}

function foundAmong(names: ReadonlySet<string>, items: readonly Item[]): readonly ToolSchema[] {
  const found = new Map<string, ToolSchema>();
  for (const item of items) {
    if (item.kind !== "result" || item.author !== searchName || isErased(item)) continue;
    for (const schema of foundTools(item.body.data)) if (names.has(schema.name)) found.set(schema.name, schema);
  }
  return [...found.values()].slice(-maxFound);
}
