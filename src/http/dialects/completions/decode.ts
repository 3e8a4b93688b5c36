import type { AnswerRequest } from "../../answers/answer-request.ts";
import { includesUsage, samplingIn, stopsIn } from "../../answers/request-settings.ts";
import {
  bodyFields,
  type JsonFields,
  modelIn,
  optionalBoolean,
  optionalNumber,
  refuse,
} from "../../answers/request-values.ts";

/** What would change the meaning if it were left out, with the values that change nothing. */
const unsupported: Readonly<Record<string, readonly unknown[]>> = {
  suffix: [""],
  echo: [false],
  logprobs: [],
  logit_bias: [],
  n: [1],
  best_of: [1],
};

/** Reads a body; throws InvalidInput with the parameter at fault. */
export function decodeCompletion(sent: unknown): { readonly request: AnswerRequest; readonly includeUsage: boolean } {
  const body = bodyFields(sent);
  const model = modelIn(body);
  for (const [name, meaningless] of Object.entries(unsupported)) {
    const value = body[name] ?? undefined;
    if (value !== undefined && !meaningless.includes(value)) refuse(name, "is not supported here");
  }
  return {
    request: {
      model,
      messages: [{ role: "user", content: promptOf(body) }],
      stream: optionalBoolean(body, "stream") ?? false,
      settings: {
        ...samplingIn(body),
        maxTokens: optionalNumber(body, "max_tokens", { from: 1, whole: true }),
        seed: optionalNumber(body, "seed", { whole: true }),
        stop: stopsIn(body),
      },
    },
    includeUsage: includesUsage(body),
  };
}

function promptOf({ prompt }: JsonFields): string {
  const texts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  const [text] = texts;
  if (texts.length !== 1) refuse("prompt", "must be one text: send a request for each");
  if (typeof text !== "string" || text === "") refuse("prompt", "must be a text; tokens are not supported");
  return text;
}
