import { newId } from "../protocol/ids.ts";
import type { ItemOf, NewItem, ResultBody } from "../protocol/items.ts";
import type { ToolResult } from "../protocol/tools.ts";

export type Call = ItemOf<"call">;

/** The result of a call, at the place that the call has. */
export function resultItem(
  call: Call,
  { content, isError, data }: ToolResult,
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
      ...(outcome ? { outcome } : {}),
    },
  };
}
