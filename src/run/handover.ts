import type { Item, ItemOf } from "../protocol/items.ts";
import { callKey } from "./fold.ts";
import { delegateName, type DelegateInput } from "./team.ts";

/** The answer of an agent that the conversation was handed over to, if that was the last thing that happened. */
export function lastHandover(items: readonly Item[]): { readonly agent: string; readonly content: string } | undefined {
  const last = items.findLastIndex((item) => item.kind === "message");
  const since = items.slice(last + 1);
  for (const call of since) {
    if (call.kind !== "call" || call.body.name !== delegateName) continue;
    const result = since.find(
      (item): item is ItemOf<"result"> => item.kind === "result" && callKey(item) === callKey(call),
    );
    // A result says that the arguments were good.
    if (!result || result.body.isError) continue;
    const { agent, final } = JSON.parse(call.body.arguments) as DelegateInput;
    if (final) return { agent, content: result.body.content };
  }
  return undefined;
}
