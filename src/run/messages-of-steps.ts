import type { Item } from "../protocol/items.ts";
import type { ModelMessage } from "../protocol/models.ts";
import { blocksOf } from "./blocks.ts";
import { isErased, isNested } from "./fold.ts";

/**
 * Steps of a run for a strategy that tells them itself: each answer, what it wrote in its protocol included, with its calls
 * and their results.
 */
export function messagesOfSteps(items: readonly Item[], isWanted: (step: string) => boolean): ModelMessage[] {
  const steps = items.filter((item) => item.step !== null && isWanted(item.step) && !isNested(item) && !isErased(item));
  return blocksOf(steps.map(withProtocol)).flatMap((block) => block.messages);
}

function withProtocol(item: Item): Item {
  if (item.kind !== "message" || item.body.protocolAt === undefined) return item;
  const { protocolAt, reasoning = "", ...body } = item.body;
  return {
    ...item,
    body: { ...body, content: reasoning.slice(protocolAt), reasoning: reasoning.slice(0, protocolAt) },
  };
}
