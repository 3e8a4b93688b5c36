import { tellLeftOut } from "./left-out.ts";
import type { FastifyReply } from "fastify";
import { messageOf } from "../../protocol/base/errors.ts";
import type { ModelPart, ModelRequest } from "../../protocol/agents/models.ts";
import type { RequestReservation } from "../../run/limits/reserve-spending.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { type SseStream, whenClosed } from "../stream/sse.ts";
import { modelMessages } from "./attach.ts";
import type { AnswerRequest } from "./answer-request.ts";
import { type AnswerWire, openingOf } from "./answer-wire.ts";

/**
 * Asks a model directly: no run, and nothing is stored except the call log. The caller's closed connection aborts the model.
 * Nothing is sent before the first real part, so that a failure until then is a proper HTTP error.
 */
export async function askModel(
  call: EndpointCall,
  asked: AnswerRequest,
  wire: AnswerWire,
): Promise<string | undefined> {
  const { reply, request: received, services, caller } = call;
  // Libraries send a key with every request, so it is no reason to refuse one.
  if (received.headers["idempotency-key"] !== undefined) reply.header("x-colloquy-idempotency", "ignored");
  const model = services.models.get(asked.model);
  const abort = new AbortController();
  whenClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) abort.abort();
  });
  const { messages, tools, toolChoice, format, settings, extra } = asked;
  if (extra && model.provider !== "openai") tellLeftOut(reply, Object.keys(extra));
  const request: ModelRequest = {
    messages: await modelMessages(call, messages),
    tools,
    toolChoice,
    format,
    settings,
    ...(extra && { extra }),
    origin: { userId: caller.userId },
    onCall(record) {
      services.callLog.add(record);
      reserved?.record(record);
    },
  };
  const reserved = await services.spending?.holds.begin(caller.userId, model, request);
  if (reserved?.isNear) reply.header("x-colloquy-budget", "nearly used up");
  const stream = model.stream(request, abort.signal);
  const batches = reserved ? metered(stream, reserved) : stream;
  if (asked.stream) return await streamAnswer(call, batches, wire);

  const whole = wire.whole();
  for await (const parts of batches) {
    const started = parts.find((part) => part.type === "start");
    if (started) tellStart(reply, started);
    whole.add(parts);
  }
  reply.type("application/json; charset=utf-8");
  return JSON.stringify(whole.body());
}

/** Passes the answer through and counts it against what was reserved for it, however it ends. */
async function* metered(batches: AsyncIterable<readonly ModelPart[]>, reserved: RequestReservation) {
  try {
    for await (const parts of batches) {
      reserved.read(parts);
      yield parts;
    }
  } finally {
    reserved.end();
  }
}

async function streamAnswer(
  call: EndpointCall,
  batches: AsyncIterable<readonly ModelPart[]>,
  wire: AnswerWire,
): Promise<undefined> {
  const { reply, request, streams } = call;
  let stream: SseStream | undefined;
  let unsent = "";
  try {
    for await (const parts of batches) {
      unsent += wire.encode(parts);
      if (!stream) {
        const started = parts.find((part) => part.type === "start");
        if (started) tellStart(reply, started);
        if (parts.every((part) => part.type === "start")) continue;
        stream = streams.open(reply, openingOf(wire));
      }
      if (parts.at(-1)?.type === "finish") stream.end(unsent);
      else {
        stream.write(unsent);
        const drained = stream.drained();
        if (drained) await drained;
        // Closed here, for example because access was revoked; returning also stops the model.
        if (stream.closed) return;
      }
      unsent = "";
    }
  } catch (error) {
    if (!stream) throw error;
    if (!stream.closed) request.log.warn({ err: error }, "the answer broke off: " + messageOf(error));
    stream.end(wire.breakOff(error));
  }
}

function tellStart(reply: FastifyReply, { model, unseen }: Extract<ModelPart, { type: "start" }>): void {
  reply.header("x-colloquy-model", model);
  if (unseen !== undefined) reply.header("x-colloquy-unseen-pictures", unseen);
}
