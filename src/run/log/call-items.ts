import { newId } from "../protocol/ids.ts";
import type { ItemOf, NewItem, ResultBody } from "../protocol/items.ts";
import type { ToolQuestion, ToolResult } from "../protocol/tools.ts";

export type Call = ItemOf<"call">;

/** What a call asks a person before it does anything. */
export function questionItem(call: Call, { text, choices, schema, state }: ToolQuestion): NewItem {
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
  call: Call,
  { content, isError, data, sources, untrusted }: ToolResult,
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
      ...(outcome ? { outcome } : {}),
    },
  };
}
