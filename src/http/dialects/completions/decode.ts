import type { AnswerRequest } from "../../answers/answer-request.ts";
import {
  isFields,
  type JsonFields,
  optionalBoolean,
  optionalFields,
  optionalNumber,
  optionalString,
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
export function decodeCompletion(body: unknown): { readonly request: AnswerRequest; readonly includeUsage: boolean } {
  if (!isFields(body)) refuse("body", "must be a JSON object");
  const model = optionalString(body, "model");
  if (!model) refuse("model", "is required");
  for (const [name, meaningless] of Object.entries(unsupported)) {
    const value = body[name] ?? undefined;
    if (value !== undefined && !meaningless.includes(value)) refuse(name, "is not supported here");
  }
  const options = optionalFields(body, "stream_options");
  return {
    request: {
      model,
      messages: [{ role: "user", content: promptOf(body) }],
      stream: optionalBoolean(body, "stream") ?? false,
      settings: {
        temperature: optionalNumber(body, "temperature", { from: 0, to: 2 }),
        topP: optionalNumber(body, "top_p", { from: 0, to: 1 }),
        maxTokens: optionalNumber(body, "max_tokens", { from: 1, whole: true }),
        seed: optionalNumber(body, "seed", { whole: true }),
        frequencyPenalty: optionalNumber(body, "frequency_penalty", { from: -2, to: 2 }),
        presencePenalty: optionalNumber(body, "presence_penalty", { from: -2, to: 2 }),
        stop: stopsOf(body),
      },
    },
    includeUsage: (options && optionalBoolean(options, "include_usage", "stream_options.")) ?? false,
  };
}

function promptOf({ prompt }: JsonFields): string {
  const texts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  const [text] = texts;
  if (texts.length !== 1) refuse("prompt", "must be one text: send a request for each");
  if (typeof text !== "string" || text === "") refuse("prompt", "must be a text; tokens are not supported");
  return text;
}

function stopsOf({ stop }: JsonFields): readonly string[] | undefined {
  const stops: unknown = typeof stop === "string" ? [stop] : (stop ?? undefined);
  if (stops === undefined) return undefined;
  if (!Array.isArray(stops) || !stops.every((each) => typeof each === "string"))
    refuse("stop", "must be a string or a list of strings");
  return stops;
}
