import { newId } from "../../protocol/base/ids.ts";
import type { ItemOf, NewItem, ResultBody } from "../../protocol/threads/items.ts";
import type { ToolQuestion, ToolResult } from "../../protocol/agents/tools.ts";

export type CallItem = ItemOf<"call">;

/** Makes the item for a question that a call asks before it does anything. */
export function questionItem(call: CallItem, { text, choices, schema, state }: ToolQuestion): NewItem {
  return {
    id: newId(),
    kind: "question",
    step: call.step!,
    index: call.index!,
    body: {
      reason: "question",
      text,
      tool: call.body.name,
      ...(choices ? { choices } : {}),
      ...(schema ? { schema } : {}),
      ...(state === undefined ? {} : { state }),
    },
  };
}

/** The result of a call, at the place that the call has. */
export function resultItem(
  call: CallItem,
  { content, isError, data, sources, untrusted, from }: ToolResult,
  outcome?: ResultBody["outcome"],
): NewItem {
  return {
    id: newId(),
    kind: "result",
    step: call.step!,
    index: call.index!,
    ...(call.attempt === null ? {} : { attempt: call.attempt }),
    author: call.body.name,
    body: {
      content,
      ...(isError ? { isError } : {}),
      ...(data === undefined ? {} : { data }),
      ...(sources?.length ? { sources } : {}),
      ...(untrusted ? { untrusted } : {}),
      ...(untrusted && from?.length ? { from } : {}),
      ...(outcome ? { outcome } : {}),
    },
  };
}

/** For the result of a command that was broken off: what was kept with its claim of what it printed. */
export function printedIn(remembered: unknown): string | undefined {
  if (typeof remembered !== "object" || remembered === null || !("printed" in remembered)) return undefined;
  return printedText(String(remembered.printed));
}

export function printedText(printed: string): string | undefined {
  return printed.trim() === "" ? undefined : `What it had printed:\n${printed.trim()}`;
}
