import type { ModelSettings, ResponseFormat } from "../../../protocol/agents/models.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";
import { formatIn, onLimitIn, samplingIn } from "../../answers/request-settings.ts";
import {
  bodyFields,
  isFields,
  type JsonFields,
  modelIn,
  optionalBoolean,
  optionalFields,
  optionalNumber,
  optionalString,
  refuse,
} from "../../answers/request-values.ts";
import { metadataIn } from "./metadata.ts";
import type { DecodedTools } from "./decode-tools.ts";
import type { DecodedInput } from "./decode-input.ts";

/** A request as far as it is read without its input and its tools. */
export type ResponseRequest = {
  readonly model: string;
  readonly items: readonly JsonFields[];
  readonly instructions?: string;
  readonly stream: boolean;
  readonly store: boolean;
  readonly background: boolean;
  readonly previous?: string;
  readonly conversation?: string;
  readonly format?: ResponseFormat;
  readonly settings: ModelSettings;
  readonly toolCalls?: number;
  readonly onLimit?: "pause" | "stop";
  /** What no model here is told of it. */
  readonly leftOut: readonly string[];
  readonly body: JsonFields;
};

/** Reads a body; throws InvalidInput with the parameter at fault. Fields it doesn't know are ignored. */
export function decodeResponseRequest(sent: unknown): ResponseRequest {
  const body = bodyFields(sent);
  const model = modelIn(body);
  if (body["prompt"] != null) refuse("prompt", "templates are not kept here: send instructions and input");
  const background = optionalBoolean(body, "background") ?? false;
  const store = optionalBoolean(body, "store") ?? true;
  if (background && !store) refuse("store", "must be true with background: what is not kept can't be fetched later");
  const previous = optionalString(body, "previous_response_id");
  const conversation = conversationOf(body);
  if (previous !== undefined && conversation !== undefined)
    refuse("previous_response_id", "can't be combined with conversation");
  const text = optionalFields(body, "text");
  const reasoning = optionalFields(body, "reasoning");
  const instructions = optionalString(body, "instructions");
  const toolCalls = optionalNumber(body, "max_tool_calls", { from: 1, whole: true });
  const onLimit = onLimitIn(metadataIn(body));
  const effort = reasoning && optionalString(reasoning, "effort", "reasoning.");
  return {
    model,
    items: itemsOf(body["input"]),
    stream: optionalBoolean(body, "stream") ?? false,
    store,
    background,
    settings: {
      ...samplingIn(body),
      maxTokens: optionalNumber(body, "max_output_tokens", { from: 1, whole: true }),
      parallelCalls: optionalBoolean(body, "parallel_tool_calls"),
      ...(effort !== undefined && { reasoningEffort: effort }),
    },
    ...(text && { format: formatIn(optionalFields(text, "format", "text."), "text.format") }),
    ...(instructions !== undefined && { instructions }),
    ...(previous !== undefined && { previous }),
    ...(conversation !== undefined && { conversation }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(onLimit !== undefined && { onLimit }),
    leftOut: leftOutOf(body, text),
    body,
  };
}

function itemsOf(input: unknown): readonly JsonFields[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  if (input == null) return [];
  if (!Array.isArray(input)) refuse("input", "must be a string or a list of items");
  return input.map((item: unknown, index) => {
    if (!isFields(item)) refuse(`input[${index}]`, "must be an object");
    return item;
  });
}

function conversationOf(body: JsonFields): string | undefined {
  const given = body["conversation"] ?? undefined;
  const id = isFields(given) ? given["id"] : given;
  if (id !== undefined && typeof id !== "string") refuse("conversation", "must be an id, or an object with one");
  return id;
}

/** Wishes that no model here is told of. */
function leftOutOf(body: JsonFields, text: JsonFields | undefined): string[] {
  return [
    ...(text?.["verbosity"] == null ? [] : ["text.verbosity"]),
    ...(Number(body["top_logprobs"] ?? 0) > 0 ? ["top_logprobs"] : []),
  ];
}

/** The request in our own words; `echo` is kept with the run. */
export function answerRequest(
  { model, stream, format, settings, instructions, toolCalls, onLimit }: ResponseRequest,
  { messages }: DecodedInput,
  { tools, toolChoice }: DecodedTools,
): AnswerRequest {
  return {
    model,
    messages,
    ...(instructions !== undefined && { instructions }),
    stream,
    settings,
    ...(tools && { tools }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(format && { format }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(onLimit !== undefined && { onLimit }),
  };
}
