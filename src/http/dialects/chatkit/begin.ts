import { Conflict, InvalidInput, NotFound } from "../../../protocol/errors.ts";
import { newId } from "../../../protocol/ids.ts";
import { callIdOf, type Content, type Item, type QuestionBody } from "../../../protocol/items.ts";
import type { ThreadRecord } from "../../../protocol/runs.ts";
import type { DecisionInput, Started, StartInput } from "../../../run/runs.ts";
import type { Call } from "../../endpoint.ts";
import { idempotencyOf } from "../../idempotency.ts";
import { withinOf } from "../../within.ts";
import { defaultAgent } from "./default-agent.ts";
import { itemIdFrom, threadIdFrom } from "./ids.ts";
import { findItem, noItem } from "./pages.ts";
import { itemsBackwards, readBackwards, type Shown } from "./read-thread.ts";
import { type Metadata, type RequestOf, textOfInput, type UserInput } from "./requests.ts";
import { type StreamEvent, streamOptions } from "./stream-events.ts";
import { shownClientCall, shownThread, shownUserMessage, type ThreadItem } from "./thread-items.ts";

/** A stream: what it tells at once, and the run that it tells then; without one it ends there. */
export type Begun = {
  readonly first: readonly StreamEvent[];
  readonly run?: Pick<Started, "runId" | "threadId" | "cursor" | "pending"> & {
    /** Its message comes first. */
    readonly beginning: boolean;
    /** What the client has seen of it. */
    readonly known?: readonly Item[];
  };
};

export async function createThread(call: Call, { params, metadata }: RequestOf<"threads.create">): Promise<Begun> {
  const started = await start(call, {}, { input: params.input, metadata });
  const thread = await call.services.runs.getThread(call.caller, started.threadId);
  return { first: [{ type: "thread.created", thread: shownThread(thread) }], run: { ...started, beginning: true } };
}

export async function addUserMessage(
  call: Call,
  { params, metadata }: RequestOf<"threads.add_user_message">,
): Promise<Begun> {
  const { services, caller } = call;
  const thread = await services.runs.getThread(caller, threadIdFrom(params.thread_id));
  const [live] = await services.runs.list(caller, { threadId: thread.id, status: "waiting", limit: 1 });
  const id = newId();
  const started = await start(call, thread, {
    input: params.input,
    metadata,
    message: { id },
    // A page that sends a message has given up its tool's call, which nobody else would answer.
    mode: live?.waitReason === "client" ? "interrupt" : "queue",
  });
  if (!started.pending || started.replayed)
    return { first: started.pending ? queued : [], run: { ...started, beginning: true } };
  const place = { id, threadId: thread.id, createdAt: new Date().toISOString() };
  const item = shownUserMessage(place, textOfInput(params.input));
  return { first: [{ type: "thread.item.done", item }, ...queued], run: { ...started, beginning: false } };
}

const queued: readonly StreamEvent[] = [
  streamOptions,
  { type: "progress_update", text: "Waiting for the run before this one" },
];

type StartRequest = {
  readonly input: UserInput;
  readonly metadata: Metadata;
  readonly message?: { readonly id: string };
  readonly mode?: StartInput["mode"];
};

function start(
  call: Call,
  thread: Partial<ThreadRecord>,
  { input, metadata, message, mode }: StartRequest,
): Promise<Started> {
  const { services, caller, request } = call;
  const { inference_options: inference } = input;
  const agent = agentFor(call, metadata.agent ?? inference?.model ?? undefined, thread.agent);
  const toolChoice = inference?.tool_choice && { name: inference.tool_choice.id };
  return services.runs.start(caller, {
    agent,
    message: { ...message, content: textOfInput(input) },
    ...(thread.id !== undefined && { threadId: thread.id }),
    ...(mode && { mode }),
    options: { ...optionsOf(metadata), ...(toolChoice && { toolChoice: checkedChoice(call, toolChoice, metadata) }) },
    idempotency: idempotencyOf(request),
    ...withinOf(request),
  });
}

function optionsOf({ client_tools: clientTools }: Metadata) {
  return clientTools ? { clientTools } : {};
}

/** The one that is asked for, else the thread's own. Throws NotFound for the former. */
function agentFor(call: Call, asked: string | undefined, threads: string | null | undefined): string {
  const { agents } = call.services;
  if (asked !== undefined) return agents.get(asked).id;
  return threads && agents.has(threads) ? threads : defaultAgent(agents);
}

function checkedChoice({ services }: Call, choice: { readonly name: string }, metadata: Metadata) {
  const known = [...services.tools.list(), ...(metadata.client_tools ?? [])];
  if (known.some(({ name }) => name === choice.name)) return choice;
  throw new InvalidInput(`params.input.inference_options.tool_choice: there is no tool ${choice.name.slice(0, 100)}`, {
    param: "params.input.inference_options.tool_choice",
  });
}

/** Brings the result of the call that is pending; the same one sent again is only told again. */
export async function addClientToolOutput(
  call: Call,
  { params }: RequestOf<"threads.add_client_tool_output">,
): Promise<Begun> {
  const { services, caller } = call;
  const thread = await services.runs.getThread(caller, threadIdFrom(params.thread_id));
  const content = typeof params.result === "string" ? params.result : (JSON.stringify(params.result) ?? "null");
  const asked = await clientCallFor(call, thread, { content, callId: params.call_id });
  const started = await services.runs.bringResults(caller, [{ callId: callIdOf(asked.id), content }]);
  const run = await services.runs.get(caller, started.runId);
  if (run.status === "waiting" && run.waitReason === "client") {
    const next = await pendingCall(call, await services.runs.getThread(caller, thread.id));
    return { first: [streamOptions, ...(next ? [done(next.shown)] : [])] };
  }
  return await goOn(call, started);
}

async function pendingCall(call: Call, thread: ThreadRecord): Promise<Shown | undefined> {
  for await (const found of readBackwards(call, thread))
    if (found.shown.type === "client_tool_call" && found.shown.status === "pending") return found;
  return undefined;
}

/** The named one, else the one that is pending, else the last, if it has this very result. */
async function clientCallFor(
  call: Call,
  thread: ThreadRecord,
  { content, callId }: { readonly content: string; readonly callId: string | undefined },
): Promise<Item> {
  let last: Shown | undefined;
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
  call: Call,
  { params }: RequestOf<"threads.add_structured_input">,
): Promise<Begun> {
  const { services, caller } = call;
  const thread = await services.runs.getThread(caller, threadIdFrom(params.thread_id));
  const { item, shown } = await findItem(call, thread, params.item_id);
  if (item.kind !== "question" || shown.type !== "structured_input" || item.runId === null)
    throw new InvalidInput(`params.item_id: ${params.item_id} is no structured input`, { param: "params.item_id" });
  const answer = params.input.answers[shown.id];
  const skipped = params.input.status === "skipped" || answer?.skipped || !answer?.values[0];
  const input = decisionFor(item.body, skipped ? undefined : answer.values[0]);
  const cursor = { seq: thread.lastSeq, live: [] };
  if (shown.inputs[0]?.answer?.values[0] === input.decision)
    return await goOn(call, { runId: item.runId, threadId: thread.id, cursor: { seq: item.seq, live: [] } });
  const run = await services.runs.decide(caller, item.runId, { questionId: item.id, input });
  if (run.status !== "waiting") return await goOn(call, { runId: run.id, threadId: thread.id, cursor });
  const answered = await findItem(call, await services.runs.getThread(caller, thread.id), shown.id);
  return { first: [streamOptions, { type: "thread.item.replaced", item: answered.shown }] };
}

function decisionFor({ reason }: QuestionBody, value: string | undefined): DecisionInput {
  if (reason === "approval") {
    if (value === "allow" || value === "deny") return { decision: value };
    return { decision: "deny", text: value ?? "The question was skipped." };
  }
  if (reason === "limit" && (value === "continue" || value === "stop")) return { decision: value };
  if (reason === "limit" && value === undefined) return { decision: "stop" };
  if (value === "done" || value === "failed" || value === "retry") return { decision: value };
  throw new InvalidInput("params.input.answers: this question takes only its options", {
    param: "params.input.answers",
  });
}

/** Says a user's message anew: what came after it stays in the log, but the conversation goes on without it. */
export async function retryAfterItem(
  call: Call,
  { params, metadata }: RequestOf<"threads.retry_after_item">,
): Promise<Begun> {
  const { services, caller, request } = call;
  const thread = await services.runs.getThread(caller, threadIdFrom(params.thread_id));
  const message = await userMessage(call, thread, params.item_id);
  const started = await services.runs.start(caller, {
    agent: agentFor(call, metadata.agent ?? message.to, thread.agent),
    threadId: thread.id,
    instead: message.id,
    message: { content: message.content },
    options: optionsOf(metadata),
    mode: "reject",
    idempotency: idempotencyOf(request),
  });
  return {
    first: [{ type: "thread.item.removed", item_id: params.item_id }],
    run: { ...started, beginning: true },
  };
}

/** Of any branch: a retry that is sent again names a message that has been replaced. */
async function userMessage(
  call: Call,
  thread: ThreadRecord,
  shown: string,
): Promise<{ readonly id: string; readonly content: Content; readonly to?: string | undefined }> {
  const id = itemIdFrom(shown);
  for await (const item of itemsBackwards(call, thread)) {
    if (item.id !== id) continue;
    if (item.kind === "message" && item.body.role === "user")
      return { id, content: item.body.content, to: item.body.to };
    throw new InvalidInput(`params.item_id: ${shown} is no user message`, { param: "params.item_id" });
  }
  throw noItem(shown);
}

/** The stream of a run of which the client has seen all up to the cursor. */
async function goOn(call: Call, { runId, threadId, cursor }: Omit<Started, "pending" | "replayed">): Promise<Begun> {
  const { services, caller } = call;
  const { first } = await services.runs.placeOf(caller, runId);
  if (first === undefined) throw new NotFound(`There is no run ${runId}.`);
  const known: Item[] = [];
  for (let after = first - 1; after < cursor.seq;) {
    const page = await services.runs.listItems(caller, threadId, { after, before: cursor.seq + 1 });
    if (page.length === 0) break;
    known.push(...page.filter((item) => item.runId === runId));
    after = page.at(-1)!.seq;
  }
  return { first: [streamOptions], run: { runId, threadId, cursor, pending: false, beginning: false, known } };
}

function done(item: ThreadItem): StreamEvent {
  return { type: "thread.item.done", item };
}
