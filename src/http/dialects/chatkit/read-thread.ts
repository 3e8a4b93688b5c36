import type { CallItem } from "../../../run/log/call-items.ts";
import type { Item, ItemOf } from "../../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import { callKey, isErased, isNested } from "../../../run/log/fold.ts";
import type { EndpointCall as Request } from "../../server/endpoint.ts";
import { runCancelled, runFailed } from "../../stream/run-errors.ts";
import {
  shownAnswer,
  shownCalls,
  shownClientCall,
  shownEnd,
  shownQuestion,
  shownThought,
  shownUserMessage,
} from "./encode.ts";
import type { ThreadItem } from "./thread-items.ts";

/** One item of this dialect, and the first of ours that it stands for. */
export type ShownItem = { readonly shown: ThreadItem; readonly item: Item };

/** How many items one read brings. */
const pageItems = 200;

/** All items of a thread, newest first. */
export async function* itemsBackwards(
  { services, caller }: Pick<Request, "services" | "caller">,
  { id, lastSeq }: ThreadRecord,
): AsyncGenerator<Item> {
  for (let before = lastSeq + 1; before > 1;) {
    const page = await services.threads.listItems(caller, id, { before, limit: pageItems, order: "desc" });
    if (page.length === 0) return;
    yield* page;
    before = page.at(-1)!.seq;
  }
}

/** Those of the branch that counts, without what is nobody's to see. */
export async function* branchBackwards(
  request: Pick<Request, "services" | "caller">,
  thread: ThreadRecord,
): AsyncGenerator<Item> {
  let next = thread.leaf;
  for await (const item of itemsBackwards(request, thread)) {
    if (item.id !== next) continue;
    next = item.parentId;
    if (!isErased(item) && !isNested(item)) yield item;
  }
}

/**
 * What this dialect shows of the branch that counts, newest first. Read backwards, a result comes before its call and a
 * decision before its question, so only what is open is kept.
 */
export async function* readBackwards(
  request: Pick<Request, "services" | "caller">,
  thread: ThreadRecord,
): AsyncGenerator<ShownItem> {
  const results = new Map<string, ItemOf<"result">>();
  const decisions = new Map<string, ItemOf<"decision">>();
  const ended = new Set<string | null>();
  let calls: CallItem[] = [];
  for await (const item of branchBackwards(request, thread)) {
    if (calls.length > 0 && !(item.kind === "call" && stepOf(item) === stepOf(calls[0]!))) {
      yield* shownStep(calls, results);
      for (const call of calls) results.delete(itemOrderKey(call));
      calls = [];
    }
    switch (item.kind) {
      case "call":
        calls.unshift(item);
        break;
      case "result":
        results.set(itemOrderKey(item), item);
        break;
      case "decision":
        decisions.set(item.body.question, item);
        break;
      case "question":
        yield { shown: shownQuestion(item, decisions.get(item.id), ended.has(item.runId)), item };
        decisions.delete(item.id);
        break;
      case "message":
        yield* shownMessage(item);
        break;
      case "state":
        if (item.body.type !== "run-end") break;
        ended.add(item.runId);
        if (item.body.status !== "done" && item.runId !== null) {
          const { status, error } = item.body;
          const end = { runId: item.runId, threadId: item.threadId, createdAt: item.createdAt };
          const { message } = status === "failed" ? runFailed(item.runId, error) : runCancelled(item.runId, error);
          yield { shown: shownEnd(end, { status, message }), item };
        }
    }
  }
  if (calls.length > 0) yield* shownStep(calls, results);
}

function* shownMessage(item: ItemOf<"message">): Generator<ShownItem> {
  if (item.body.role === "system") return;
  if (item.body.role === "user") {
    yield { shown: shownUserMessage(item, item.body), item };
    return;
  }
  for (const shown of [shownAnswer(item), shownThought(item)]) if (shown) yield { shown, item };
}

/** The calls of a step, last first. Of those that the client runs, one at a time is pending: the protocol knows no two. */
function* shownStep(calls: readonly CallItem[], results: ReadonlyMap<string, ItemOf<"result">>): Generator<ShownItem> {
  const resultOf = (call: CallItem) => results.get(itemOrderKey(call));
  const own = calls.filter(({ body }) => body.target === "client");
  const pending = own.find((call) => !resultOf(call));
  for (const call of own.toReversed())
    if (resultOf(call) || call === pending) yield { shown: shownClientCall(call, resultOf(call)), item: call };
  const [first, ...rest] = calls.filter(({ body }) => body.target === "server");
  if (first) yield { shown: shownCalls([first, ...rest], resultOf), item: first };
}

function stepOf({ runId, step }: Item): string {
  return `${runId} ${step}`;
}

function itemOrderKey(item: Item): string {
  return `${item.runId} ${callKey(item)}`;
}
