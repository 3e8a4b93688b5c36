import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { normaliseArguments, parseCall } from "../../tools/core/call-tool.ts";
import { errorResult } from "../../tools/core/tool-result.ts";
import type { CallItem } from "../log/call-items.ts";
import { callKey } from "../log/fold.ts";
import { decisionOn } from "../log/questions.ts";

/**
 * The earlier call of the run that this one only says again, where the tool means the same by the same arguments: one of the
 * same answer, whatever becomes of it, or one that was done. What was done before something was destroyed may be gone.
 */
export function earlierDuplicate(
  items: readonly Item[],
  call: CallItem,
  allowed: readonly Tool[],
): CallItem | undefined {
  const tool = allowed.find(({ name }) => name === call.body.name);
  if (!tool?.sameIntent) return undefined;
  const intent = intentOf(items, call, tool);
  if (intent === undefined) return undefined;
  const before = items.slice(
    0,
    items.findIndex(({ id }) => id === call.id),
  );
  const done = new Set(items.flatMap((item) => (item.kind === "result" && isDone(item) ? [callKey(item)] : [])));
  const destructive = new Set(allowed.flatMap(({ name, destructive: destroys }) => (destroys ? [name] : [])));
  const destroyed = before.findLastIndex(
    (item) => item.kind === "call" && destructive.has(item.body.name) && done.has(callKey(item)),
  );
  return before.find(
    (item, at): item is CallItem =>
      item.kind === "call" &&
      item.body.name === tool.name &&
      (item.step === call.step || (at > destroyed && done.has(callKey(item)))) &&
      intentOf(items, item, tool) === intent,
  );
}

/** Result for a call that was not made again. `data` stays with the earlier call, where it is counted. */
export function duplicateResult(items: readonly Item[], earlier: CallItem): ToolResult {
  const result = items.findLast(
    (item): item is ItemOf<"result"> => item.kind === "result" && callKey(item) === callKey(earlier),
  );
  const { content = "It has no result yet.", untrusted, from, sources } = result?.body ?? {};
  if (!result || !isDone(result))
    return errorResult(`Not done: the same call stands before it in this answer, and says:\n${content}`);
  return {
    content: `${content}\n\nThis is the result of the same call before, in this run. It was not done again.`,
    ...(untrusted ? { untrusted } : {}),
    ...(from ? { from } : {}),
    ...(sources ? { sources } : {}),
  };
}

/** The arguments as the tool reads them, or a person changed them; undefined: it can't read them. */
function intentOf(items: readonly Item[], call: CallItem, tool: Tool): string | undefined {
  const parsed = parseCall(tool, decisionOn(items, call, "approval")?.arguments ?? call.body.arguments);
  return parsed.ok ? normaliseArguments(JSON.stringify(parsed.input)) : undefined;
}

function isDone({ body }: ItemOf<"result">): boolean {
  return !body.isError && body.outcome === undefined;
}
