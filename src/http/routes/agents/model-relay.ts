import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { NotFound } from "../../../protocol/base/errors.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { pathOf } from "../../server/origins.ts";
import type { Services } from "../../server/services.ts";
import { whenClosed } from "../../stream/sse.ts";

const completionAnswer = {
  description: "As of /v1/chat/completions",
  content: {
    "text/event-stream": { schema: z.object({ data: z.union([z.looseObject({}), z.literal("[DONE]")]) }) },
    "application/json": { schema: z.looseObject({ object: z.literal("chat.completion") }) },
  },
};
const relayFailure = z.object({
  error: z.object({ message: z.string(), type: z.string(), code: z.string().nullable(), param: z.string().nullish() }),
});
const description =
  "For tools that work on another server: the token that came with a call asks for model steps of that call's run, and is " +
  "good until the call ends.";

export const relayCompletion = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "A model step of a call of a tool",
  description,
  // The token is of one call, and no login.
  open: () => true,
  admit,
  takesLong: true,
  body: z.record(z.string(), z.unknown()).describe("As of /v1/chat/completions"),
  answers: { 200: completionAnswer },
  failure: relayFailure,
  handle: answerRelay,
});

export const relayModels = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "The model that a call of a tool may ask",
  description,
  open: () => true,
  admit,
  answers: { 200: z.looseObject({ object: z.literal("list"), data: z.array(z.looseObject({ id: z.string() })) }) },
  failure: relayFailure,
  handle: answerRelay,
});

function admit({ headers }: FastifyRequest, { relay }: Services): void {
  if (!relay) throw new NotFound("This server relays no models.");
  relay.admit(headers.authorization);
}

async function answerRelay({ request, reply, body, services }: EndpointCall): Promise<string> {
  if (!services.relay) throw new NotFound("This server relays no models.");
  const gone = new AbortController();
  whenClosed(reply.raw, () => gone.abort(new Error("The caller disconnected.")));
  const answer = await services.relay.answer({
    method: request.method,
    path: pathOf(request),
    authorization: request.headers.authorization,
    body,
    signal: gone.signal,
  });
  reply.code(answer.status).type(answer.contentType);
  // As a text, which is not encoded again.
  reply.serializer((text: string) => text);
  return answer.body;
}
