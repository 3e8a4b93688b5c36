import { z } from "zod";
import { isEnded } from "../../../protocol/threads/runs.ts";
import type { RunStart } from "../../../run/runs.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { idempotencyOf, sessionNameOf, parentRunOf } from "../../requests/run-headers.ts";
import { awaitAnswer, streamRun } from "./answer-run.ts";
import { agentIn, type ChatBody, decodeChat } from "./decode.ts";
import { uiMessageStream } from "./ui-chunks.ts";

/** Who answers at `/chat` if nobody is named. */
const usualAgent = "orchestrator";

const eventSchema = z.object({
  step: z.int(),
  agent: z.string(),
  action: z.string(),
  tool: z.string().nullable(),
  target_agent: z.string().nullable(),
  thought: z.string(),
});

const answerSchema = z.object({ answer: z.string(), events: z.array(eventSchema) });

export const chat = endpoint({
  needs: "ask",
  tag: "chat",
  summary: "Ask the orchestrator",
  description:
    "Takes what assistant-ui and the AI SDK send. Answers `{answer, events}` to a body of `messages` alone; an AI SDK UI message " +
    "stream (SSE) to the bodies of `useChat` and of assistant-ui's data stream, and with `Accept: text/event-stream`.",
  takesLong: true,
  body: z.looseObject({
    messages: z.array(z.looseObject({ role: z.string() })).describe("The last message of the user counts."),
    session_id: z.string().max(255).optional().describe("The thread to continue; also x-session-id"),
    agent: z.string().optional().describe("Who is to answer; `orchestrator` when absent. Also `?agent=`"),
    id: z.string().optional().describe("The page's name for the conversation: the thread to continue"),
  }),
  decodesBody: true,
  query: z.object({ agent: z.string().optional() }),
  answers: { 200: uiMessageStream({ "application/json": { schema: answerSchema } }) },
  async handle(call) {
    const body = decodeChat(call.body, call.request.headers.accept);
    if (body.streams) call.streams.admit(call.reply, call.caller.userId);
    const started = await start(call, { agent: agentIn(call.query) ?? usualAgent, ...body });
    call.reply.header("x-colloquy-run", started.runId).header("x-colloquy-thread", started.threadId);
    return body.streams ? streamRun(call, started) : await awaitAnswer(call, started);
  },
});

export const resumeChat = endpoint({
  needs: ["threads:read", "own"],
  tag: "chat",
  summary: "Take a stream up again",
  description: "The UI message stream of the run at work in a conversation, from its start on. 204: none is.",
  params: z.object({ id: z.string().min(1).max(255).describe("The page's name of the conversation") }),
  answers: {
    200: uiMessageStream(),
    204: z.null(),
  },
  async handle(call) {
    const { caller, services, params, reply, streams } = call;
    const threadId = await services.threads.findThread(caller, params.id);
    const runs = threadId === undefined ? [] : await services.runs.list(caller, { threadId });
    // Those after it wait for its end.
    const run = runs.findLast(({ status }) => !isEnded(status));
    if (!run) {
      await reply.code(204).send();
      return;
    }
    const { first, resumedAt } = await services.runs.placeOf(caller, run.id);
    streams.admit(reply, caller.userId);
    reply.header("x-colloquy-run", run.id).header("x-colloquy-thread", run.threadId);
    const cursor = { seq: first - 1, live: [] };
    streamRun(call, {
      ...{ runId: run.id, threadId: run.threadId, cursor, pending: false },
      ...(resumedAt !== undefined && { resumedAt }),
    });
  },
});

async function start(
  call: EndpointCall,
  { agent, text, session: given, conversation, system, history }: ChatBody & { readonly agent: string },
): Promise<RunStart> {
  const { caller, request, services } = call;
  const session = sessionNameOf(request, given) ?? conversation;
  return await services.runs.start(caller, {
    agent,
    message: { content: text },
    ...(session === undefined ? { hidden: true } : { sessionKey: session, showQuestions: true }),
    ...(system === undefined ? {} : { system }),
    history,
    held: true,
    idempotency: idempotencyOf(request),
    ...parentRunOf(request),
  });
}
