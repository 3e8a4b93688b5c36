import { ColloquyError } from "../../protocol/base/errors.ts";
import type { ModelMessage } from "../../protocol/agents/models.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { isNested, isWordless, protocolText } from "../log/fold.ts";

/** Whether the run's last answer was none: neither a word nor a call. What is a strategy's protocol, and empty, is passed over. */
export function wasWordless(items: readonly Item[]): boolean {
  const last = items.findLast(
    (item): item is ItemOf<"message"> =>
      item.kind === "message" && item.step !== null && !isNested(item) && !isEmptyProtocol(item),
  );
  if (!last || protocolText(last) !== undefined || !isWordless(last)) return false;
  return !items.some((item) => item.kind === "call" && item.step === last.step);
}

function isEmptyProtocol(item: ItemOf<"message">): boolean {
  return isWordless(item) && protocolText(item)?.trim() === "";
}

/** What the model is told after an answer without a word. */
export const nudge: readonly ModelMessage[] = [
  {
    role: "user",
    content:
      "Your last answer had no words, and no call of a tool that could be read. Write your answer to the user now, in words; or call a tool, by the means that you are given for it.",
  },
];

/** Whether the run has done anything that stands without a word about it. */
export function hasWorked(items: readonly Item[]): boolean {
  return items.some((item) => item.kind === "result" && !isNested(item) && !item.body.isError);
}

/** What the person reads where the model says nothing after its work. Throws where nothing was done either. */
export function wordsForNothing(answer: ModelAnswer, items: readonly Item[]): string {
  if (hasWorked(items)) return "The model ended its work without a word about it. What it did stands above.";
  const why =
    answer.finish === "length"
      ? "it came to its length limit before the first word. Let it write longer answers (settings.maxTokens of the agent), or choose another model."
      : "neither words nor a call. Ask again, or choose another model.";
  throw new ColloquyError("empty_answer", 502, `The model ${answer.model} gave no answer, twice: ${why}`);
}

export function filtered({ model }: ModelAnswer): ColloquyError {
  const what = `The answer of the model ${model} was stopped by its provider's filter before its first word.`;
  return new ColloquyError("answer_filtered", 502, `${what} Put it in other words, or choose another model.`);
}
