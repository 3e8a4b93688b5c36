import type { Item } from "../../protocol/threads/items.ts";
import type { ModelMessage } from "../../protocol/agents/models.ts";
import { blocksOf, tokensOfBlocks, type MessageBlock } from "../log/message-blocks.ts";
import { fitBlocks } from "./fit-blocks.ts";
import { isErased, isNested } from "../log/fold.ts";

/**
 * Steps of a run for a strategy that tells them itself: each answer, what it wrote in its protocol included, with its calls
 * and their results. Of more than these tokens old results are clipped, and then the oldest steps left out, but never the last.
 */
export function messagesOfSteps(
  items: readonly Item[],
  { tokens, isWanted }: { readonly tokens: number; readonly isWanted: (step: string) => boolean },
): ModelMessage[] {
  const steps = items.filter((item) => item.step !== null && isWanted(item.step) && !isNested(item) && !isErased(item));
  const all = blocksOf(steps.map(withProtocol));
  const mustStay = (_: MessageBlock, at: number) => at === all.length - 1;
  const { blocks } = fitBlocks(all, { tokens, again: () => undefined, mustStay });
  let left = tokens - tokensOfBlocks(blocks.slice(-1));
  let first = Math.max(0, blocks.length - 1);
  while (first > 0 && (left -= blocks[first - 1]!.tokens) >= 0) first--;
  return blocks.slice(first).flatMap((block) => block.messages);
}

function withProtocol(item: Item): Item {
  if (item.kind !== "message" || item.body.protocolAt === undefined) return item;
  const { protocolAt, reasoning = "", ...body } = item.body;
  return {
    ...item,
    body: { ...body, content: reasoning.slice(protocolAt), reasoning: reasoning.slice(0, protocolAt) },
  };
}
