import { z } from "zod";
import { estimate } from "../../../run/log/estimate-tokens.ts";
import { passRequest } from "../../answers/pass-request.ts";
import { bodyFields, modelIn, optionalString, refuse } from "../../answers/request-values.ts";
import { endpoint } from "../../server/endpoint.ts";
import { jsonBody } from "./json-body.ts";

const longestText = 100_000;

export const createSpeech = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Speak a text",
  description: "Passed on to the model's server; the sound is sent when all of it is there.",
  takesLong: true,
  body: z.looseObject({ model: z.string(), input: z.string().max(longestText), voice: z.unknown().optional() }),
  decodesBody: true,
  answers: {
    200: { description: "The sound, in the format that was asked for", content: { "*/*": { schema: z.string() } } },
  },
  async handle(call) {
    const body = bodyFields(call.body);
    const model = modelIn(body);
    const input = optionalString(body, "input");
    if (!input) refuse("input", "is required");
    if (input.length > longestText) refuse("input", `has more than ${longestText} characters`);
    const format = optionalString(body, "stream_format");
    if (format !== undefined && format !== "audio") refuse("stream_format", "must be audio: events are not passed on");
    const asked = { model, path: "audio/speech", tokens: estimate(input), bodyFor: jsonBody(body) } as const;
    const { contentType, bytes } = await passRequest(call, asked);
    // Whatever the server says: no page of ours.
    call.reply.type(/^audio\/[\w.+-]+$/i.test(contentType) ? contentType : "application/octet-stream");
    return call.reply.send(bytes);
  },
});
