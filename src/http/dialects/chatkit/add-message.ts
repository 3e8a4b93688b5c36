import type { RunRecord } from "../../../protocol/threads/run-shapes.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { MessageBody } from "../../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import type { RunStart, StartInput } from "../../../run/runs.ts";
import { findAttachedFiles } from "../../requests/attach.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { idempotencyOf, parentRunOf } from "../../requests/run-headers.ts";
import { waitingText } from "../../stream/waiting-text.ts";
import { type ChatKitStream, type StreamEvent, streamOptions } from "./stream-events.ts";
import { defaultAgent, type Metadata, type RequestOf, textOfInput, type UserInput } from "./requests.ts";
import { itemIdFrom, threadIdFrom } from "./ids.ts";
import { noItem } from "./pages.ts";
import { itemsBackwards } from "./read-thread.ts";

import { uploadIdFrom } from "./attachments.ts";
import { shownThread, shownUserMessage } from "./encode.ts";

export async function createThread(
  call: EndpointCall,
  { params, metadata }: RequestOf<"threads.create">,
): Promise<ChatKitStream> {
  const started = await start(call, {}, { input: params.input, metadata });
  const thread = await call.services.threads.getThread(call.caller, started.threadId);
  return { first: [{ type: "thread.created", thread: shownThread(thread) }], run: { ...started, beginning: true } };
}

export async function addUserMessage(
  call: EndpointCall,
  { params, metadata }: RequestOf<"threads.add_user_message">,
): Promise<ChatKitStream> {
  const { services, caller } = call;
  const thread = await services.threads.getThread(caller, threadIdFrom(params.thread_id));
  const [live] = await services.runs.list(caller, { threadId: thread.id, status: "waiting", limit: 1 });
  const id = newId();
  const started = await start(call, thread, {
    input: params.input,
    metadata,
    message: { id },
    // A page that sends a message has given up its tool's call, which nobody else would answer.
    mode: live?.waitReason === "client" ? "interrupt" : "queue",
  });
  if (!started.pending) return { first: [], run: { ...started, beginning: true } };
  const place = { id, threadId: thread.id, createdAt: new Date().toISOString() };
  const item = shownUserMessage(place, await messageOf(call, params.input));
  // Of a request that is sent again the message has an id of before, so it is told when its turn comes.
  const said: StreamEvent[] = started.replayed ? [] : [{ type: "thread.item.done", item }, streamOptions];
  // What that run waits for was told before, and its wait may be long.
  if (live) return { first: [...said, await noticeOf(call, live, started)] };
  const progress: StreamEvent = { type: "progress_update", text: "Waiting for the run before this one" };
  return { first: [...said, progress], run: { ...started, beginning: started.replayed } };
}

async function noticeOf(
  { services, caller }: EndpointCall,
  live: RunRecord,
  { runId }: RunStart,
): Promise<StreamEvent> {
  const questions = await services.approvals.questions(caller, live.id);
  const waiting = waitingText({ run: live.id, questions, reason: live.waitReason ?? "" });
  const message = `Your message is queued, as run ${runId}, behind another one.\n${waiting}`;
  return { type: "notice", level: "info", title: "The run waits", message };
}

type StartRequest = {
  readonly input: UserInput;
  readonly metadata: Metadata;
  readonly message?: { readonly id: string };
  readonly mode?: StartInput["mode"];
};

async function start(
  call: EndpointCall,
  thread: Partial<ThreadRecord>,
  { input, metadata, message, mode }: StartRequest,
): Promise<RunStart> {
  const { services, caller, request } = call;
  const { inference_options: inference } = input;
  const agent = agentFor(call, metadata.agent ?? inference?.model ?? undefined, thread.agent);
  const toolChoice = inference?.tool_choice && { name: inference.tool_choice.id };
  return services.runs.start(caller, {
    agent,
    message: { ...message, ...(await messageOf(call, input)) },
    ...(thread.id !== undefined && { threadId: thread.id }),
    ...(mode && { mode }),
    options: { ...optionsOf(metadata), ...(toolChoice && { toolChoice: checkedChoice(call, toolChoice, metadata) }) },
    idempotency: idempotencyOf(request),
    ...parentRunOf(request),
  });
}

async function messageOf({ services, caller }: EndpointCall, input: UserInput) {
  const content = textOfInput(input);
  const ids = input.attachments.map(uploadIdFrom);
  return { content, ...(ids.length > 0 && { files: await findAttachedFiles({ services, caller }, ids) }) };
}

function optionsOf({ client_tools: clientTools }: Metadata) {
  return clientTools ? { clientTools } : {};
}

/** The one that is asked for, else the thread's own. Throws NotFound for the former. */
function agentFor(call: EndpointCall, asked: string | undefined, threads: string | null | undefined): string {
  const { agents } = call.services;
  if (asked !== undefined) return agents.get(asked).id;
  return threads && agents.has(threads) ? threads : defaultAgent(agents);
}

function checkedChoice({ services }: EndpointCall, choice: { readonly name: string }, metadata: Metadata) {
  const known = [...services.tools.list(), ...(metadata.client_tools ?? [])];
  if (known.some(({ name }) => name === choice.name)) return choice;
  throw new InvalidInput(`params.input.inference_options.tool_choice: tool ${choice.name.slice(0, 100)} not found`, {
    param: "params.input.inference_options.tool_choice",
  });
}

/** Says a user's message anew: what came after it stays in the log, but the conversation goes on without it. */
export async function retryAfterItem(
  call: EndpointCall,
  { params, metadata }: RequestOf<"threads.retry_after_item">,
): Promise<ChatKitStream> {
  const { services, caller, request } = call;
  const thread = await services.threads.getThread(caller, threadIdFrom(params.thread_id));
  const message = await userMessage(call, thread, params.item_id);
  const started = await services.runs.start(caller, {
    agent: agentFor(call, metadata.agent ?? message.to, thread.agent),
    threadId: thread.id,
    instead: message.id,
    message: { content: message.content, files: message.files ?? [] },
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
  call: EndpointCall,
  thread: ThreadRecord,
  shown: string,
): Promise<{ readonly id: string } & Pick<MessageBody, "content" | "files" | "to">> {
  const id = itemIdFrom(shown);
  for await (const item of itemsBackwards(call, thread)) {
    if (item.id !== id) continue;
    if (item.kind === "message" && item.body.role === "user") return { id, ...item.body };
    throw new InvalidInput(`params.item_id: ${shown} is no user message`, { param: "params.item_id" });
  }
  throw noItem(shown);
}
