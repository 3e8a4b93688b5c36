import { z } from "zod";
import { estimate } from "../../../run/log/estimate-tokens.ts";
import { passedFields, passRequest } from "../../answers/pass-request.ts";
import {
  bodyFields,
  modelIn,
  optionalBoolean,
  optionalNumber,
  optionalString,
  refuse,
} from "../../answers/request-values.ts";
import { endpoint } from "../../server/endpoint.ts";
import { jsonBody } from "./json-body.ts";

const path = "images/generations";

export const createImages = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Make pictures",
  description: "Passed on to the model's server, whose answer it is; at most 64 MB of it.",
  takesLong: true,
  body: z.looseObject({ model: z.string(), prompt: z.string(), n: z.int().min(1).max(10).optional() }),
  decodesBody: true,
  answers: { 200: z.looseObject({ data: z.array(z.looseObject({})).optional() }) },
  async handle(call) {
    const body = bodyFields(call.body);
    const model = modelIn(body);
    const prompt = optionalString(body, "prompt");
    if (!prompt) refuse("prompt", "is required");
    optionalNumber(body, "n", { from: 1, to: 10, whole: true });
    if (optionalBoolean(body, "stream")) refuse("stream", "is not supported: pictures come whole");
    const asked = { model, path, tokens: estimate(prompt), bodyFor: jsonBody(body) } as const;
    return passedFields(await passRequest(call, asked), asked);
  },
});
