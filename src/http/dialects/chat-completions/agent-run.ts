import { InvalidInput, messageOf } from "../../../protocol/base/errors.ts";
import type { RunStart } from "../../../run/runs.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import type { Services } from "../../server/services.ts";
import { createAnswerImages } from "../../requests/answer-images.ts";
import { followUntil, followUntilEnough, runTarget } from "../../stream/follow-run.ts";
import { idempotencyOf, sessionNameOf, parentRunOf } from "../../requests/run-headers.ts";
import { openAiError } from "../../shapes/openai-error.ts";
import type { ChatRequest } from "./decode.ts";
import { createChunkEncoder, createCompletion, newAnswerHead } from "./encode.ts";
import { serverStops } from "../../stream/run-errors.ts";
import { createRoomEvents } from "./room-events.ts";
import { createRunReader, type RunOutcome, type ReaderOptions } from "./run-reader.ts";
import { readAgentRequest } from "./start-input.ts";

/** Answers with a durable run of an agent. A closed connection ends the stream, never the run. */
export async function runAgent(call: EndpointCall, chat: ChatRequest): Promise<string | undefined> {
  const { reply, services } = call;
  const model = services.models.get(services.agents.get(chat.model).model);
  // of a chain it is only known later which model serves; the demo says so in any case
  reply.header("x-colloquy-model", model.demo ? "demo" : model.id);
  const started = await startOrContinue(call, chat);
  reply.header("x-colloquy-run", started.runId).header("x-colloquy-thread", started.threadId);
  return chat.stream ? streamRun(call, started, chat) : await collectRun(call, started, chat);
}

async function startOrContinue(call: EndpointCall, chat: ChatRequest): Promise<RunStart> {
  const { caller, services } = call;
  const { results, start } = readAgentRequest(chat, sessionNameOf(call.request, chat.sessionId));
  const continued = results.length > 0 ? await services.runs.bringResults(caller, results) : undefined;
  if (start) {
    const idempotency = idempotencyOf(call.request);
    return await services.runs.start(caller, { ...start, held: true, idempotency, ...parentRunOf(call.request) });
  }
  if (continued) return continued;
  throw new InvalidInput("The last message must be the user's, or results of the agent's tool calls.", {
    param: "messages",
  });
}

function streamRun(call: EndpointCall, started: RunStart, chat: ChatRequest): undefined {
  const { request, reply, services, streams } = call;
  const encode = createChunkEncoder(newAnswerHead(), chat.includeUsage);
  const read = readerOf(call, started, chat);
  const stream = streams.open(reply, {
    onClose: () => follower.close(),
    farewell: () => errorEvent(serverStops(started.runId)),
    refusal: errorEvent,
  });
  stream.write(encode([{ type: "start", model: chat.model, provider: "colloquy" }]));
  const follower = followUntil(services.runs, followPosition(call, started, chat), {
    events(events) {
      const { parts, outcome } = read(events);
      const text = encode(parts);
      if (outcome) stream.end(outcome.error ? text + errorEvent(outcome.error) : text);
      else if (text !== "") stream.write(text);
      return outcome !== undefined;
    },
    error(error) {
      request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
      stream.end(errorEvent(error));
    },
    drained: stream.drained,
  });
}

async function collectRun(call: EndpointCall, started: RunStart, chat: ChatRequest): Promise<string> {
  const { reply } = call;
  const completion = createCompletion(newAnswerHead());
  completion.add([{ type: "start", model: chat.model, provider: "colloquy" }]);
  const read = readerOf(call, started, chat);
  let outcome: RunOutcome | undefined;
  // the run did work: a client library must not have it done again on its own
  reply.header("x-should-retry", "false");
  await followUntilEnough(call, started.runId, followPosition(call, started, chat), (events) => {
    const reading = read(events);
    completion.add(reading.parts);
    if (reading.model !== undefined) reply.header("x-colloquy-model", reading.model);
    outcome = reading.outcome;
    return outcome !== undefined;
  });
  reply.header("x-colloquy-status", outcome!.status);
  if (outcome!.error) throw outcome!.error;
  reply.removeHeader("x-should-retry").type("application/json; charset=utf-8");
  return JSON.stringify(completion.body());
}

/**
 * Decides what the answer contains besides the agent's final text. With a response format a program parses it, so it is only that.
 * Images are shown to people only: neither to a program nor to another run of this server that made the request.
 */
function readerOptions(call: EndpointCall, started: RunStart, chat: ChatRequest): ReaderOptions {
  const finalOnly = chat.format !== undefined;
  const isShown = !finalOnly && parentRunOf(call.request).within === undefined;
  return {
    pending: started.pending,
    finalOnly,
    isWhole: !chat.stream,
    ...(isShown && { images: createAnswerImages(call, started.threadId) }),
  };
}

/** Follows the thread instead of the run if the message is queued: the run before it may have to wait for a person. */
function followPosition({ services }: EndpointCall, started: RunStart, { model }: ChatRequest) {
  const { threadId, cursor, pending } = started;
  return { target: pending || isRoom(services, model) ? { threadId } : runTarget(started), from: cursor };
}

/** Reads a run's events. A room's members answer in runs of their own, whose events are translated into the room's. */
function readerOf(call: EndpointCall, started: RunStart, chat: ChatRequest): ReturnType<typeof createRunReader> {
  const answer = createRunReader(started.runId, readerOptions(call, started, chat));
  if (!isRoom(call.services, chat.model)) return answer;
  const translate = createRoomEvents(started.runId);
  return (events) => answer(translate(events));
}

function isRoom({ agents }: Pick<Services, "agents">, model: string): boolean {
  return agents.get(model).room !== undefined;
}

function errorEvent(error: unknown): string {
  return `data: ${JSON.stringify(openAiError(error))}\n\n`;
}
