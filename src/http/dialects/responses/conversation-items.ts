import { InvalidInput } from "../../../protocol/base/errors.ts";
import { callIdOf, type Item, type ItemOf, type MessageContent, textOf } from "../../../protocol/threads/items.ts";
import { isErased, isNested } from "../../../run/log/fold.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import type { KeptResponse } from "./kept-response.ts";
import { serverCallItem, textPart } from "./output-items.ts";

type CallerCall = Pick<EndpointCall, "services" | "caller">;
export type ListedItem = { readonly type: string; readonly id: string };

/** Items of a thread that are told at most. */
const most = 5000;

/** What a response answers: the messages that began its run, or the results that it goes on with. */
export async function inputItems({ services, caller }: CallerCall, kept: KeptResponse): Promise<readonly ListedItem[]> {
  const { run, seq } = kept;
  const after = await services.threads.listItems(caller, run.threadId, { after: seq, limit: 200 });
  const results = after.slice(
    0,
    Math.max(
      0,
      after.findIndex((item) => item.kind !== "result"),
    ),
  );
  if (results.length > 0) {
    const before = await services.threads.listItems(caller, run.threadId, {
      before: seq + 1,
      limit: 200,
      order: "desc",
    });
    const calls = new Map(before.flatMap((item) => (item.kind === "call" ? [[placeOf(item), item.id] as const] : [])));
    return results.flatMap((item) =>
      item.kind === "result" ? [resultItem(item, callIdOf(calls.get(placeOf(item)) ?? item.id))] : [],
    );
  }
  let last = after.findIndex((item) => item.runId === run.id && item.kind === "message" && item.step === null);
  // Calls of a client's own history, with their results, may stand behind the message.
  while (after[last + 1]?.runId === null && after[last + 1]!.parentId === after[last]?.id) last++;
  const begun = after[last];
  const branch = await services.threads.listBranch(caller, run.threadId, {
    ...(begun && { leaf: begun.id }),
    most,
  });
  const before = branch.findLastIndex((item) => item.runId !== null && item.runId !== run.id);
  return itemsOf(branch.slice(before + 1));
}

/** A conversation as it is shown, oldest first. */
export async function conversationItems(call: CallerCall, threadId: string): Promise<readonly ListedItem[]> {
  return itemsOf(await shownBranch(call, threadId));
}

export function shownBranch({ services, caller }: CallerCall, threadId: string, leaf?: string) {
  return services.threads.listBranch(caller, threadId, { most, ...(leaf !== undefined && { leaf }) });
}

export function itemsOf(items: readonly Item[]): readonly ListedItem[] {
  const results = new Map(items.flatMap((item) => (item.kind === "result" ? [[placeOf(item), item] as const] : [])));
  return items.flatMap((item): ListedItem[] => {
    if (isErased(item) || isNested(item)) return [];
    if (item.kind === "message") return messageItems(item);
    if (item.kind !== "call") return [];
    const result = results.get(placeOf(item));
    const { name, arguments: written, target } = item.body;
    if (target === "server") {
      const { content, isError = false } = result?.body ?? { content: "" };
      const call = { id: "mcp_" + bare(item.id), name, arguments: written };
      return [serverCallItem(call, result ? "completed" : "in_progress", result && { content, isError })];
    }
    const call = { type: "function_call", id: "fc_" + bare(item.id), call_id: callIdOf(item.id), name };
    return [
      { ...call, arguments: written, status: "completed" } as ListedItem,
      ...(result ? [resultItem(result, callIdOf(item.id))] : []),
    ];
  });
}

function messageItems({ id, body }: ItemOf<"message">): ListedItem[] {
  const { content } = body;
  const role = body.saidAs ?? body.role;
  if (textOf(content) === "" && role !== "user") return [];
  const parts = role === "assistant" ? [textPart(textOf(content))] : inputParts(content);
  const files = (body.files ?? []).map((file) => ({ type: "input_file", file_id: file.id, filename: file.name }));
  return [
    { type: "message", id: "msg_" + bare(id), role, status: "completed", content: [...parts, ...files] } as ListedItem,
  ];
}

function inputParts(content: MessageContent): object[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "input_text", text: content }];
  return content.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", image_url: part.url, detail: "auto" },
  );
}

function resultItem({ id, body }: ItemOf<"result">, callId: string): ListedItem {
  const fields = { call_id: callId, output: body.content, status: "completed" };
  return { type: "function_call_output", id: "fco_" + bare(id), ...fields } as ListedItem;
}

/** A page of a list that is oldest first. */
export function pageOf(
  items: readonly ListedItem[],
  {
    limit,
    order,
    after,
  }: { readonly limit: number; readonly order: "asc" | "desc"; readonly after?: string | undefined },
) {
  const sorted = order === "asc" ? items : items.toReversed();
  const place = sorted.findIndex(({ id }) => id === after);
  if (after !== undefined && place === -1) throw new InvalidInput(`The list has no item ${after}.`, { param: "after" });
  const begin = place + 1;
  const data = sorted.slice(begin, begin + limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: begin + limit < sorted.length,
  };
}

/** The item that another one is told of as. */
export function isToldAs(item: Item, id: string): boolean {
  return id.endsWith("_" + bare(item.id));
}

function bare(id: string): string {
  return id.replaceAll("-", "");
}

function placeOf({ runId, step, index }: Item): string {
  return `${runId}/${step}/${index}`;
}
