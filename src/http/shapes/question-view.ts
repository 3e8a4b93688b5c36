import type { QuestionView } from "../../protocol/threads/run-shapes.ts";
import { parseExactly } from "../../protocol/base/exact-json.ts";
import { decisions, type ItemOf } from "../../protocol/threads/items.ts";

export function publicQuestion({ id, runId, threadId, body, createdAt }: ItemOf<"question">): QuestionView {
  const { state: _state, ...shown } = body;
  return {
    id,
    runId: runId!,
    threadId,
    ...shown,
    ...(body.arguments === undefined ? {} : { arguments: plainArguments(body.arguments) }),
    decisions: decisions[body.reason],
    createdAt,
  };
}

/**
 * Formats arguments as the tool will read them, so that people see what they allow: duplicate keys count
 * once, whitespace hides nothing, and invisible or text-reversing characters are written as \u….
 */
export function plainArguments(text: string): string {
  return compact(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) =>
    letter
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function compact(text: string): string {
  try {
    return JSON.stringify(parseExactly(text));
  } catch {
    return text;
  }
}
