import type { Item } from "../../protocol/threads/items.ts";
import { callKey, isErased, isNested } from "./fold.ts";

/** What strategies give as the answer of a model that gave none. */
export const noAnswer = "[NO ANSWER]";

/** Of what one call was given and brought. */
const mostCharacters = 200;
/** Calls that are told: the last ones, which say how it came out. */
const mostCalls = 20;

/**
 * What a run did, in a line for each call and how it came out: for whoever waits for a run that worked and said nothing.
 * Undefined: it did nothing either.
 */
export function accountOf(items: readonly Item[]): string | undefined {
  const results = new Map(
    items.flatMap((item) => (item.kind === "result" && !isErased(item) ? [[callKey(item), item.body] as const] : [])),
  );
  const calls = items.filter((item) => item.kind === "call" && !isNested(item) && !isErased(item));
  if (calls.length === 0) return undefined;
  const lines = calls.slice(-mostCalls).flatMap((call) => {
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
  if (line.length <= mostCharacters) return line;
  return `${line.slice(0, mostCharacters / 2).toWellFormed()} … ${line.slice(-mostCharacters / 2).toWellFormed()}`;
}
