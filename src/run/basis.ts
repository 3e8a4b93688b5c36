import { textOf, type Item } from "../protocol/items.ts";
import type { RunDefinition } from "../protocol/runs.ts";
import { defaultStrategySettings } from "../protocol/strategies.ts";
import { foundIn } from "./found-tools.ts";
import type { RunBasis } from "./turn.ts";

/** What a strategy may know of its run: all of it was fixed at the start, but for the tools that it has found since. */
export function basisOf(definition: RunDefinition, items: readonly Item[], branch: readonly Item[]): RunBasis {
  const { agent, options, limits, tools, team = [], prompts = {}, strategies = defaultStrategySettings } = definition;
  return {
    agent,
    limits,
    tools: [...tools, ...foundIn(definition, branch), ...(options.clientTools ?? [])],
    team,
    prompts,
    settings: strategies,
    input: inputOf(items),
  };
}

function inputOf(items: readonly Item[]): string {
  for (const item of items)
    if (item.kind === "message" && item.step === null && !("erased" in item.body)) return textOf(item.body.content);
  return "";
}
