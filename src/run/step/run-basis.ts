import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { type Item, textOf } from "../../protocol/threads/items.ts";
import type { RunBasis } from "../contract/turn.ts";
import { windowOf } from "../log/estimate-tokens.ts";
import { offeredTools } from "./offered-tools.ts";
import type { RunWork } from "./work.ts";

/** What a strategy may know of its run: all of it was fixed at the start, but for the tools that it has found since. */
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
    tools: [...offeredTools(work, roomOf(work, agent)).tools, ...(options.clientTools ?? [])],
    team,
    prompts,
    settings: strategies,
    input: inputOf(work.items),
  };
}

/** Of a model that is gone, or has no key, a step will say so. */
function roomOf({ runtime: { models } }: RunWork, agent: AgentDefinition): number {
  try {
    return windowOf(models.get(agent.model), agent);
  } catch (error) {
    if (error instanceof ColloquyError) return Infinity;
    throw error;
  }
}

function inputOf(items: readonly Item[]): string {
  for (const item of items)
    if (item.kind === "message" && item.step === null && !("erased" in item.body)) return textOf(item.body.content);
  return "";
}
