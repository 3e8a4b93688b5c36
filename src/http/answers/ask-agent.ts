import { Conflict, InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import type { BroughtWith } from "../../run/brought-results.ts";
import type { RunStart, StartInput } from "../../run/runs.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import type { Services } from "../server/services.ts";
import { createAnswerImages } from "../requests/answer-images.ts";
import { followUntil, followUntilEnough, runTarget } from "../stream/follow-run.ts";
import { askedRequest, noteIfBroken } from "../requests/repeated-request.ts";
import { idempotencyOf, sessionNameOf, parentRunOf } from "../requests/run-headers.ts";
import type { AnswerPart } from "./answer-parts.ts";
import type { AnswerRequest } from "./answer-request.ts";
import { type AnswerWire, openingOf, type WholeAnswer } from "./answer-wire.ts";
import { createPlainAnswer } from "./plain-answer.ts";
import { serverStops } from "../stream/run-errors.ts";
import { createRoomEvents } from "./room-events.ts";
import { tellLeftOut } from "./left-out.ts";
import { unusedParameters } from "./unused-parameters.ts";
import { createRunReader, type RunOutcome, type ReaderOptions } from "./run-reader.ts";
import { type AgentRequest, foreignCall, type KeptPlace, readAgentRequest } from "./agent-request.ts";

/** Answers with a durable run of an agent. A closed connection ends the stream, never the run. */
export async function askAgent(
  call: EndpointCall,
  asked: AnswerRequest,
  wireOf: (started: RunStart) => AnswerWire,
): Promise<string | undefined> {
  const sessionKey = sessionNameOf(call.request, asked.sessionId);
  const started = await startOrContinue(call, asked, sessionKey === undefined ? undefined : { sessionKey });
  return tellRun(call, { ...asked, started }, wireOf(started));
}

/** Starts the run that answers, or brings one that waits the results of the client's calls, with what is said besides. */
export async function startOrContinue(
  call: EndpointCall,
  asked: AnswerRequest,
  place: KeptPlace | undefined,
  more: Pick<StartInput, "as" | "held" | "transient"> = {},
): Promise<RunStart> {
  const { caller, services, reply } = call;
  if (asked.tools && isRoom(services, asked.model)) {
    // Several members may speak at once, and each with a conversation of its own: none is the one that the client runs tools for.
    tellLeftOut(reply, ["tools"]);
  }
  const { results, start } = readAgentRequest(asked, place);
  if (start?.done && !readsCalls(services, asked.model)) throw foreignCall(lastCallIn(asked));
  const asksSystem = asked.messages.some(({ role }) => role === "system");
  const brought = { results, start, asksSystem, ...(asked.tools && { tools: asked.tools }) };
  const continued = await bringResults(call, brought, place);
  if (continued?.begunWith) tellLeftOut(call.reply, unusedParameters(asked, continued.begunWith, call.body));
  if (continued) {
    tellLeftOut(call.reply, continued.differing ?? []);
    return continued;
  }
  if (start) {
    const idempotency = idempotencyOf(call.request);
    const request = idempotency ? undefined : askedRequest(call.request, caller.userId);
    if (request) noteIfBroken(call.reply, request);
    return await services.runs.start(caller, {
      held: true,
      ...more,
      ...start,
      ...(request ? { request } : { idempotency }),
      ...parentRunOf(call.request),
    });
  }
  throw new InvalidInput("The last message must be the user's, or results of the agent's tool calls.", {
    param: "messages",
  });
}

/** Whether whoever answers is told the calls before its own steps; other strategies tell only what was said. */
function readsCalls({ agents }: Services, model: string): boolean {
  return !agents.has(model) || ["tools", "chat"].includes(agents.get(model).strategy);
}

function lastCallIn({ messages }: AnswerRequest): string {
  return messages.findLast((message) => message.role === "tool")?.callId ?? "";
}

/** Undefined: there are none, or no run waits for them and the message begins another one. */
async function bringResults(
  { caller, services }: EndpointCall,
  { results, start, tools, asksSystem }: AgentRequest & Pick<BroughtWith, "tools" | "asksSystem">,
  place: KeptPlace | undefined,
): Promise<RunStart | undefined> {
  if (results.length === 0) return undefined;
  const more: BroughtWith = { ...(tools && { tools }), ...(asksSystem && { asksSystem }) };
  if (!start) return services.runs.bringResults(caller, results, more);
  try {
    return await services.runs.bringResults(caller, results, { ...more, message: start.message });
  } catch (error) {
    // Of a conversation that the client keeps they are a part, whoever asked for them.
    const isForeign = error instanceof InvalidInput && place === undefined;
    if (isForeign || (error instanceof Conflict && error.code === "run_not_live")) return undefined;
    throw error;
  }
}

/** The run that answers, and how the answer is to be told. */
export type ToldRun = Pick<AnswerRequest, "model" | "stream" | "format"> &
  Pick<ReaderOptions, "isPatient"> & {
    readonly started: RunStart;
    /** What had begun before this answer and not ended: calls, and the turns of a room's members. */
    readonly begun?: readonly RunEvent[];
    /** The answer is told to its end. */
    readonly onEnd?: (outcome: RunOutcome) => void;
  };

/** Tells what a run answers, from where it was started or continued to its end or its next wait. */
export async function tellRun(call: EndpointCall, told: ToldRun, wire: AnswerWire): Promise<string | undefined> {
  const { reply, services } = call;
  const { runId, threadId } = told.started;
  const name = services.agents.has(told.model) ? services.agents.get(told.model).model : told.model;
  const model = services.models.has(name) ? services.models.get(name) : undefined;
  // of a chain it is only known later which model serves; the demo says so in any case
  if (model) reply.header("x-colloquy-model", model.demo ? "demo" : model.id);
  reply.header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
  return told.stream ? streamRun(call, told, wire) : await collectRun(call, told, wire);
}

function streamRun(call: EndpointCall, told: ToldRun, wire: AnswerWire): undefined {
  const { request, reply, services, streams } = call;
  const read = readerOf(call, told, wire);
  const stream = streams.open(reply, {
    ...openingOf(wire),
    onClose: () => follower.close(),
    farewell: () => wire.breakOff(serverStops(told.started.runId)),
  });
  stream.write(wire.encode([startOf(told)]));
  const follower = followUntil(services.runs, followPosition(call, told), {
    events(events) {
      const { parts, outcome } = read(events);
      const text = wire.encode(parts);
      if (outcome) {
        told.onEnd?.(outcome);
        stream.end(outcome.error ? text + wire.breakOff(outcome.error, outcome.status) : text);
      } else if (text !== "") stream.write(text);
      return outcome !== undefined;
    },
    error(error) {
      request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
      stream.end(wire.breakOff(error));
    },
    drained: stream.drained,
  });
}

async function collectRun(call: EndpointCall, told: ToldRun, wire: AnswerWire): Promise<string> {
  const { reply } = call;
  // the run did work: a client library must not have it done again on its own
  reply.header("x-should-retry", "false");
  const { whole, outcome } = await collectAnswer(call, told, wire);
  told.onEnd?.(outcome);
  reply.header("x-colloquy-status", outcome.status);
  if (outcome.error) throw outcome.error;
  reply.removeHeader("x-should-retry").type("application/json; charset=utf-8");
  return JSON.stringify(whole.body());
}

/** Reads what a run answers, from where it was started or continued to its end or its next wait. */
export async function collectAnswer(
  call: EndpointCall,
  told: ToldRun,
  wire: AnswerWire,
): Promise<{ readonly whole: WholeAnswer; readonly outcome: RunOutcome }> {
  const { reply } = call;
  const whole = wire.whole();
  whole.add([startOf(told)]);
  const read = readerOf(call, told, wire);
  let outcome: RunOutcome | undefined;
  await followUntilEnough(call, told.started.runId, followPosition(call, told), (events) => {
    const reading = read(events);
    whole.add(reading.parts);
    if (reading.model !== undefined) reply.header("x-colloquy-model", reading.model);
    outcome = reading.outcome;
    return outcome !== undefined;
  });
  return { whole, outcome: outcome! };
}

function startOf({ model }: ToldRun): AnswerPart {
  return { type: "start", model, provider: "colloquy" };
}

/**
 * Decides what the answer contains besides the agent's final text. With a response format a program parses it, so it is only that.
 * Images are shown to people only: neither to a program nor to another run of this server that made the request.
 */
function readerOptions(call: EndpointCall, told: ToldRun, { isResumable }: AnswerWire): ReaderOptions {
  const { started, stream, isPatient } = told;
  const { format } = started.begunWith?.options ?? told;
  const finalOnly = format !== undefined;
  const isShown = !finalOnly && parentRunOf(call.request).within === undefined;
  return {
    pending: started.pending,
    finalOnly,
    isWhole: !stream,
    inOrder: isResumable === true,
    ...(isPatient && { isPatient }),
    ...(isShown && { images: createAnswerImages(call, started.threadId) }),
  };
}

/** Follows the thread instead of the run if the message is queued: the run before it may have to wait for a person. */
function followPosition({ services }: EndpointCall, { started, model }: ToldRun) {
  const { threadId, cursor, pending } = started;
  return { target: pending || isRoom(services, model) ? { threadId } : runTarget(started), from: cursor };
}

/** Reads a run's events as what the wire takes. A room's members answer in runs of their own, whose events are translated into the room's. */
function readerOf(call: EndpointCall, told: ToldRun, wire: AnswerWire): ReturnType<typeof createRunReader> {
  const { runId } = told.started;
  const translate = isRoom(call.services, told.model) ? createRoomEvents(runId) : undefined;
  const begun = translate ? translate(told.begun ?? []) : (told.begun ?? []);
  const openCalls = begun.flatMap((event) => (event.type === "call-start" ? [event.item] : []));
  const answer = createRunReader(runId, { ...readerOptions(call, told, wire), openCalls });
  const plain = wire.isRich ? undefined : createPlainAnswer();
  return (events) => {
    const reading = answer(translate ? translate(events) : events);
    return plain ? { ...reading, parts: plain(reading.parts) } : reading;
  };
}

function isRoom({ agents }: Pick<Services, "agents">, model: string): boolean {
  return agents.has(model) && agents.get(model).room !== undefined;
}
