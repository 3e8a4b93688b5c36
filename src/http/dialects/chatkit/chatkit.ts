import { chatkitAnswer } from "./answer-schema.ts";
import { createAttachment, uploadIdFrom } from "./attachments.ts";
import { z } from "zod";
import { InvalidInput, messageOf } from "../../../protocol/base/errors.ts";
import { isEnded } from "../../../protocol/threads/runs.ts";
import type { RequiredScope } from "../../../protocol/base/scopes.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { authorize } from "../../server/entry.ts";
import { addUserMessage, createThread, retryAfterItem } from "./add-message.ts";
import { askInConversation } from "./conversation.ts";
import { addClientToolOutput, addStructuredInput } from "./continue-thread.ts";
import { shownThreadId, threadIdFrom } from "./ids.ts";
import { findItems, listItems, listThreads } from "./pages.ts";
import { type ChatKitRequest, decodeRequest, type RequestOf, requestSchema } from "./requests.ts";
import { streamOptions, type ChatKitStream, sseOf } from "./stream-events.ts";
import { shownThread } from "./encode.ts";
import { followUntil } from "../../stream/follow-run.ts";
import { serverStops } from "../../stream/run-errors.ts";
import { createRunWatch } from "../../stream/watch-run.ts";
import { createRunEncoder } from "./run-events.ts";

export const chatkit = endpoint({
  // and what its operation needs, as in `needsOf`
  needs: ["ask", "threads:list", "threads:read", "threads:write", "threads:delete", "files:write"],
  tag: "chat",
  summary: "ChatKit",
  description:
    "The protocol of ChatKit's servers: `type` says what is done, with `params`. What starts work is answered as server-sent " +
    "events, the rest as JSON. A body of `{conversation_id, user_id, message}` is answered with `message_delta` events.",
  takesLong: true,
  body: z.union([requestSchema, z.object({ message: z.string() })]),
  decodesBody: true,
  answers: { 200: chatkitAnswer },
  async handle(call) {
    const { body } = call;
    if (typeof body !== "object" || body === null || Array.isArray(body))
      throw new InvalidInput("body: must be a JSON object", { param: "body" });
    if (!("type" in body) && "message" in body) {
      return await askInConversation({ ...call, caller: authorize(call.caller, "ask") }, body);
    }
    const request = decodeRequest(body);
    return await answer({ ...call, caller: authorize(call.caller, needsOf[request.type]) }, request);
  },
});

/** What is answered with a stream as long as a run goes on. */
const streamed: ReadonlySet<ChatKitRequest["type"]> = new Set([
  "threads.create",
  "threads.add_user_message",
  "threads.add_client_tool_output",
  "threads.add_structured_input",
  "threads.retry_after_item",
]);

/** What an operation needs. Who asks makes the thread that the answer stands in. */
const needsOf: Readonly<Record<ChatKitRequest["type"], RequiredScope>> = {
  "threads.create": "ask",
  "threads.add_user_message": "ask",
  "threads.add_client_tool_output": "ask",
  "threads.add_structured_input": "threads:write",
  "threads.retry_after_item": "ask",
  "threads.custom_action": ["threads:write", "own"],
  "threads.sync_custom_action": ["threads:write", "own"],
  "threads.get_by_id": ["threads:read", "own"],
  "threads.list": "threads:list",
  "threads.update": "threads:write",
  "threads.delete": "threads:delete",
  "items.list": ["threads:read", "own"],
  "items.feedback": "threads:write",
  "attachments.create": "files:write",
  "attachments.delete": "files:write",
  "input.transcribe": "ask",
};

async function answer(call: EndpointCall, request: ChatKitRequest): Promise<object | undefined> {
  if (streamed.has(request.type)) call.streams.admit(call.reply, call.caller.userId);
  switch (request.type) {
    case "threads.create":
      return streamRun(call, await createThread(call, request));
    case "threads.add_user_message":
      return streamRun(call, await addUserMessage(call, request));
    case "threads.add_client_tool_output":
      return streamRun(call, await addClientToolOutput(call, request));
    case "threads.add_structured_input":
      return streamRun(call, await addStructuredInput(call, request));
    case "threads.retry_after_item":
      return streamRun(call, await retryAfterItem(call, request));
    case "threads.custom_action": {
      const message = await act(call, request);
      return streamRun(call, { first: [streamOptions, { type: "notice", level: "info", message }] });
    }
    case "threads.sync_custom_action":
      await act(call, request);
      return {};
    case "attachments.create":
      return await createAttachment(call, request);
    case "attachments.delete":
      await call.services.uploads.remove(call.caller, uploadIdFrom(request.params.attachment_id));
      return {};
    case "input.transcribe":
      throw new InvalidInput("This server does not transcribe speech.", { code: "transcription_not_supported" });
    default:
      return await answerAtOnce(call, request);
  }
}

type PlainRequest = RequestOf<
  "threads.get_by_id" | "threads.list" | "threads.update" | "threads.delete" | "items.list" | "items.feedback"
>;

async function answerAtOnce(call: EndpointCall, { type, params }: PlainRequest): Promise<object> {
  const { services, caller } = call;
  if (type === "threads.list") {
    const after = params.after ? threadIdFrom(params.after) : undefined;
    const { threads, hasMore } = await listThreads(call, { ...params, after });
    const last = threads.at(-1);
    return {
      data: threads.map((thread) => shownThread(thread)),
      has_more: hasMore,
      ...(hasMore && last && { after: shownThreadId(last.id) }),
    };
  }
  const threadId = threadIdFrom(params.thread_id);
  const thread = await services.threads.getThread(caller, threadId);
  switch (type) {
    case "threads.get_by_id":
      return shownThread(thread, await listItems(call, thread, { order: "asc" }));
    case "threads.update":
      return shownThread(await services.threads.renameThread(caller, threadId, params.title));
    case "threads.delete":
      await services.threads.deleteThread(caller, threadId);
      return {};
    case "items.list":
      return await listItems(call, thread, params);
    case "items.feedback": {
      const itemIds = (await findItems(call, thread, params.item_ids)).map(({ item }) => item.id);
      await services.threads.rate(caller, threadId, { itemIds, kind: params.kind });
      return {};
    }
  }
}

/** Actions are the page's own commands; of the server's there is one. Resolves to what came of it, for a person. */
async function act(
  { services, caller }: EndpointCall,
  { params }: RequestOf<"threads.custom_action" | "threads.sync_custom_action">,
): Promise<string> {
  const { id } = await services.threads.getThread(caller, threadIdFrom(params.thread_id));
  if (params.action.type !== "colloquy.cancel")
    throw new InvalidInput(
      `params.action.type: action ${params.action.type.slice(0, 100)} not found; the only action is colloquy.cancel`,
      {
        code: "unknown_action",
        param: "params.action.type",
      },
    );
  const runs = await services.runs.list(caller, { threadId: id, limit: 100 });
  const live = runs.filter(({ status }) => !isEnded(status));
  for (const run of live) await services.runs.cancel(caller, run.id);
  return live.length === 0 ? "No live run to stop." : "The run was stopped.";
}

/** Tells a run until it ends or waits. A closed connection ends the telling, never the run. */
function streamRun({ request, reply, services, streams }: EndpointCall, { first, run }: ChatKitStream): undefined {
  if (!run) {
    streams.open(reply).end(sseOf(first));
    return;
  }
  const { runId, threadId, cursor, pending } = run;
  reply.header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
  const watch = createRunWatch(runId, pending);
  const tell = createRunEncoder(run);
  const stream = streams.open(reply, {
    onClose: () => follower.close(),
    farewell: () => errorText(serverStops(runId).message),
    refusal: ({ message }) => errorText(message),
  });
  stream.write(sseOf(first));
  // Behind another run its thread is followed, since that one may have to wait for a person.
  const place = { target: pending ? { threadId } : { threadId, runId }, from: cursor };
  const follower = followUntil(services.runs, place, {
    events(batch) {
      const { events, ended } = tell(watch(batch));
      const text = sseOf(events);
      if (ended) stream.end(text);
      else if (text !== "") stream.write(text);
      return ended;
    },
    error(error) {
      request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
      stream.end(errorText("The stream was interrupted; the run continues."));
    },
    drained: stream.drained,
  });
}

/** Not to be tried again: the run goes on. */
function errorText(message: string): string {
  return sseOf([{ type: "error", code: "custom", message, allow_retry: false }]);
}
