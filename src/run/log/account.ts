import type { Item } from "../../protocol/threads/items.ts";
import { callKey, isErased, isNested } from "./fold.ts";

/** Answer that strategies give if the model gave none. */
export const noAnswer = "[NO ANSWER]";

/** Characters shown of one call's arguments and result. */
const maxCharacters = 200;
/** Calls that are told: the last ones, which say how it came out. */
const maxCalls = 20;

/**
 * Lists what a run did, one line per call with its outcome, for a caller whose run worked but gave no answer. Undefined: it made
 * no calls.
 */
export function accountOf(items: readonly Item[]): string | undefined {
  const results = new Map(
    items.flatMap((item) => (item.kind === "result" && !isErased(item) ? [[callKey(item), item.body] as const] : [])),
  );
  const calls = items.filter((item) => item.kind === "call" && !isNested(item) && !isErased(item));
  if (calls.length === 0) return undefined;
  const lines = calls.slice(-maxCalls).flatMap((call) => {
    if (call.kind !== "call") return [];
    const result = results.get(callKey(call));
    const outcome = !result ? "no result" : `${result.isError ? "failed: " : ""}${shortLine(result.content)}`;
    return [`- ${call.body.name} ${shortLine(call.body.arguments)}: ${outcome || "done"}`];
  });
  const earlier = calls.length > lines.length ? [`- ${calls.length - lines.length} earlier calls`] : [];
  return ["It said nothing. What it did:", ...earlier, ...lines].join("\n");
}

function shortLine(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  if (line.length <= maxCharacters) return line;
  return `${line.slice(0, maxCharacters / 2).toWellFormed()} … ${line.slice(-maxCharacters / 2).toWellFormed()}`;
}
