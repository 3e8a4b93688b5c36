import { Conflict, InvalidInput } from "../../../protocol/base/errors.ts";
import { callIdOf, type Item, type QuestionBody } from "../../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import type { RunDecision, RunStart } from "../../../run/runs.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { type ChatKitStream, streamOptions } from "./stream-events.ts";
import { threadIdFrom } from "./ids.ts";
import { findItem } from "./pages.ts";
import { readBackwards, type ShownItem } from "./read-thread.ts";
import type { RequestOf } from "./requests.ts";
import { shownClientCall } from "./encode.ts";

/** Brings the result of the call that is pending; the same one sent again is only told again. */
export async function addClientToolOutput(
  call: EndpointCall,
  { params }: RequestOf<"threads.add_client_tool_output">,
): Promise<ChatKitStream> {
  const { services, caller } = call;
  const thread = await services.threads.getThread(caller, threadIdFrom(params.thread_id));
  const content = typeof params.result === "string" ? params.result : (JSON.stringify(params.result) ?? "null");
  const asked = await clientCallFor(call, thread, { content, callId: params.call_id });
  const started = await services.runs.bringResults(caller, [{ callId: callIdOf(asked.id), content }]);
  const run = await services.runs.get(caller, started.runId);
  if (run.status === "waiting" && run.waitReason === "client") {
    const next = await pendingCall(call, await services.threads.getThread(caller, thread.id));
    return { first: [streamOptions, ...(next ? [{ type: "thread.item.done" as const, item: next.shown }] : [])] };
  }
  return await goOn(call, started);
}

async function pendingCall(call: EndpointCall, thread: ThreadRecord): Promise<ShownItem | undefined> {
  for await (const found of readBackwards(call, thread))
    if (found.shown.type === "client_tool_call" && found.shown.status === "pending") return found;
  return undefined;
}

/** The named one, else the one that is pending, else the last, if it has this very result. */
async function clientCallFor(
  call: EndpointCall,
  thread: ThreadRecord,
  { content, callId }: { readonly content: string; readonly callId: string | undefined },
): Promise<Item> {
  let last: ShownItem | undefined;
  for await (const found of readBackwards(call, thread)) {
    if (found.shown.type !== "client_tool_call") continue;
    if (callId === undefined ? found.shown.status === "pending" : found.shown.call_id === callId) return found.item;
    last ??= found;
  }
  if (callId === undefined && last?.item.kind === "call") {
    const same = shownClientCall(last.item, { ...last.item, kind: "result", body: { content } });
    if (JSON.stringify(same) === JSON.stringify(last.shown)) return last.item;
  }
  throw new Conflict(`No client tool call of thread ${thread.id} waits for a result.`, { code: "no_pending_call" });
}

/** Answers a question of a run. What is none of its options is the reason of a denial. */
export async function addStructuredInput(
  call: EndpointCall,
  { params }: RequestOf<"threads.add_structured_input">,
): Promise<ChatKitStream> {
  const { services, caller } = call;
  const thread = await services.threads.getThread(caller, threadIdFrom(params.thread_id));
  const { item, shown } = await findItem(call, thread, params.item_id);
  if (item.kind !== "question" || shown.type !== "structured_input" || item.runId === null)
    throw new InvalidInput(`params.item_id: ${params.item_id} is no structured input`, { param: "params.item_id" });
  const answer = params.input.answers[shown.id];
  const skipped = params.input.status === "skipped" || answer?.skipped || !answer?.values[0];
  const input = decisionFor(item.body, skipped ? undefined : answer.values[0]);
  const cursor = { seq: thread.lastSeq, live: [] };
  if (shown.inputs[0]?.answer?.values[0] === input.decision)
    return await goOn(call, { runId: item.runId, threadId: thread.id, cursor: { seq: item.seq, live: [] } });
  const run = await services.approvals.decide(caller, item.runId, { questionId: item.id, input });
  if (run.status !== "waiting") return await goOn(call, { runId: run.id, threadId: thread.id, cursor });
  const answered = await findItem(call, await services.threads.getThread(caller, thread.id), shown.id);
  return { first: [streamOptions, { type: "thread.item.replaced", item: answered.shown }] };
}

function decisionFor({ reason }: QuestionBody, value: string | undefined): RunDecision {
  if (reason === "approval") {
    if (value === "allow" || value === "deny") return { decision: value };
    return { decision: "deny", text: value ?? "The question was skipped." };
  }
  if (reason === "limit" && (value === "continue" || value === "stop")) return { decision: value };
  if (reason === "limit" && value === undefined) return { decision: "stop" };
  if (reason === "provider" && (value === "retry" || value === "stop")) return { decision: value };
  if (value === "done" || value === "failed" || value === "retry") return { decision: value };
  throw new InvalidInput("params.input.answers: this question takes only its options", {
    param: "params.input.answers",
  });
}

/** The stream of a run of which the client has seen all up to the cursor. */
async function goOn(
  call: EndpointCall,
  { runId, threadId, cursor }: Omit<RunStart, "pending" | "replayed">,
): Promise<ChatKitStream> {
  const { services, caller } = call;
  const { first } = await services.runs.placeOf(caller, runId);
  const known: Item[] = [];
  for (let after = first - 1; after < cursor.seq;) {
    const page = await services.threads.listItems(caller, threadId, { after, before: cursor.seq + 1 });
    if (page.length === 0) break;
    known.push(...page.filter((item) => item.runId === runId));
    after = page.at(-1)!.seq;
  }
  return { first: [streamOptions], run: { runId, threadId, cursor, pending: false, beginning: false, known } };
}
