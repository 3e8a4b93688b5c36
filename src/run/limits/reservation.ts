import { newId } from "../../protocol/base/ids.ts";
import type { Model } from "../../protocol/agents/models.ts";
import type { ReservedSpending, ActualSpending } from "../../store/metering/spending.ts";
import { estimate, roomFor } from "../log/estimate-tokens.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import type { ReservedRequest } from "../contract/reserved-step.ts";

type CostOf = Runtime["costOf"];

/** Estimates the maximum that a request may use. */
export function expectedOf(
  model: Model,
  { input, maxTokens }: { readonly input: number; readonly maxTokens: number | undefined },
  costOf: CostOf,
): ReservedSpending {
  const usage = { inputTokens: input, outputTokens: maxTokens ?? roomFor(model.contextTokens) };
  return {
    id: newId(),
    tokens: Math.round(usage.inputTokens + usage.outputTokens),
    cost: highestCost(model, usage, costOf),
  };
}

/** Returns the cost at the most expensive model of a fallback chain, since it is not known yet which one answers. */
export function highestCost(
  model: Model,
  usage: { readonly inputTokens: number; readonly outputTokens: number },
  costOf: CostOf,
): number {
  return Math.max(0, ...[model.id, ...(model.members ?? [])].map((id) => costOf(id, usage) ?? 0));
}

/**
 * Returns what a request used, also an interrupted one: from its records, or, while there are none, estimated from what was sent
 * and received. A request that was refused or returned nothing used nothing.
 */
export function actualSpending(
  answer: Pick<ModelAnswer, "records" | "usage" | "text" | "reasoning">,
  { expected, input, model }: ReservedRequest,
  costOf: CostOf,
): ActualSpending {
  const uses = answer.records
    .filter(({ inputTokens, outputTokens }) => inputTokens !== null || outputTokens !== null)
    .map(useOf);
  if (uses.length === 0) {
    const written = estimate(answer.text) + estimate(answer.reasoning);
    const usage = answer.usage ?? (written > 0 ? { inputTokens: input, outputTokens: written } : undefined);
    if (usage) uses.push({ model, usage });
  }
  const costs = uses.map((use) => costOf(use.model, use.usage) ?? costOf(model, use.usage));
  return {
    id: expected.id,
    tokens: uses.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
    cost: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    requests: uses.length > 0 ? 1 : 0,
    isUnpriced: costs.some((cost) => cost === undefined),
  };
}

function useOf({ model, inputTokens, outputTokens }: ModelAnswer["records"][number]) {
  return { model, usage: { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 } };
}
