import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { matchesGlob } from "../../protocol/base/glob.ts";
import type { ToolSchema } from "../../protocol/agents/models.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { toolSchemas } from "../../tools/core/registry.ts";
import { searchTool } from "../../tools/core/search-tools.ts";
import { estimate, schemaTokens } from "../log/estimate-tokens.ts";

/** Share of a context window that tools may fill before they must be searched for, */
const maxOfWindow = 0.4;
/** and those that are offered all the same. */
const offeredOfWindow = 0.2;

/**
 * Tokens of the tools that an agent has only because it may have all (`*`): the rest is searched for when it is needed, so that
 * a hello does not cost what the whole workshop weighs.
 */
const ofAllTokens = 900;
const ofAllOfWindow = 0.03;

/** Which tool is offered before which: 0 always, 1 was used, 2 is what the agent asks for, 3 is there since it may have all. */
export type OfferRank = 0 | 1 | 2 | 3;

export type PromptRoom = {
  /** Tokens of prompt and answer together. */
  readonly window: number;
  /** All are offered for which there is room, whatever a hello costs then. */
  readonly isGenerous?: boolean | undefined;
};

/** The tools that are offered in a prompt of this size. `isTight`: for more there is no room. */
export function chooseOffered(
  all: readonly ToolSchema[],
  { rank, window, isGenerous = false }: PromptRoom & { readonly rank: (tool: ToolSchema) => OfferRank },
): { readonly offered: ReadonlySet<ToolSchema>; readonly isTight: boolean } {
  const isTight = schemaTokens(all) > window * maxOfWindow;
  let room = isTight ? window * offeredOfWindow : Infinity;
  let ofAll = isGenerous ? Infinity : Math.min(ofAllTokens, window * ofAllOfWindow);
  const ranked = all
    .map((tool) => ({ tool, rank: rank(tool), tokens: schemaTokens([tool]) }))
    .toSorted((one, other) => one.rank - other.rank || (one.rank === 3 ? one.tokens - other.tokens : 0));
  const offered = new Set<ToolSchema>();
  for (const { tool, rank: kind, tokens } of ranked) {
    room -= tokens;
    if (kind === 3) ofAll -= tokens;
    if (kind === 0 || (room >= 0 && (kind < 3 || ofAll >= 0))) offered.add(tool);
  }
  return { offered, isTight };
}

export function rankIn(agent: Pick<AgentDefinition, "tools">, { name }: Pick<ToolSchema, "name">): OfferRank {
  return agent.tools.some((pattern) => pattern !== "*" && matchesGlob(pattern, name)) ? 2 : 3;
}

export type PromptSize = {
  readonly promptTokens: number;
  /** Of these, what describes tools. */
  readonly toolTokens: number;
};

/** About how many tokens of a prompt an agent fills before a word is said: what it is told, and its tools. */
export function promptSize(
  agent: Pick<AgentDefinition, "instructions" | "tools">,
  tools: readonly Tool[],
  room: PromptRoom,
): PromptSize {
  const all = toolSchemas(tools);
  const { offered } = chooseOffered(all, { ...room, rank: (tool) => rankIn(agent, tool) });
  const left = tools.filter((_, index) => !offered.has(all[index]!));
  const search = left.length > 0 ? toolSchemas([searchTool(left)]) : [];
  const toolTokens = schemaTokens([...offered, ...search]);
  return { promptTokens: estimate(agent.instructions) + toolTokens, toolTokens };
}
