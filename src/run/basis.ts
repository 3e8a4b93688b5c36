import { textOf, type Item } from "../protocol/items.ts";
import type { RunDefinition } from "../protocol/runs.ts";
import { defaultStrategySettings } from "../protocol/strategies.ts";
import type { RunBasis } from "./turn.ts";

/** What a strategy may know of its run: all of it was fixed at the start. */
export function basisOf(definition: RunDefinition, items: readonly Item[]): RunBasis {
  const { agent, options, limits, tools, team = [], prompts = {}, strategies = defaultStrategySettings } = definition;
  return {
    agent,
    limits,
    tools: [...tools, ...(options.clientTools ?? [])],
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
