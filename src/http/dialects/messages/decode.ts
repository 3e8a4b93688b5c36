import type { ModelSettings, ResponseFormat, ToolSchema } from "../../../protocol/agents/models.ts";
import { ColloquyError } from "../../../protocol/base/errors.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";
import {
  bodyFields,
  isFields,
  type JsonFields,
  modelIn,
  optionalBoolean,
  optionalFields,
  optionalNumber,
  optionalString,
  optionalStrings,
  refuse,
} from "../../answers/request-values.ts";
import { blocksOf, textOf } from "./decode-blocks.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeTools } from "./decode-tools.ts";

/** What a request wants of a conversation that the server keeps. */
export type ThreadWish = { readonly type: "create" } | { readonly type: "continue"; readonly previous: string };

/** A request of this dialect in our own words. */
export type MessagesRequest = AnswerRequest & {
  readonly thread?: ThreadWish;
  /** Tools that are shown once they are named, and the names that were. */
  readonly deferred?: readonly ToolSchema[];
  readonly referenced: readonly string[];
  /** What of the request no model or agent here is shown, in words. */
  readonly leftOut: readonly string[];
};

/** Reads a body; throws InvalidInput with the parameter at fault. Fields it doesn't know are ignored. */
export function decodeMessagesRequest(sent: unknown): MessagesRequest {
  const body = bodyFields(sent);
  const model = modelIn(body);
  const thread = decodeThread(body);
  const maxTokens = optionalNumber(body, "max_tokens", { from: 1, whole: true });
  if (maxTokens === undefined) refuse("max_tokens", "is required");
  const { parallelCalls, ...prompt } = decodePrompt(body, thread);
  return {
    model,
    ...prompt,
    stream: optionalBoolean(body, "stream") ?? false,
    format: decodeFormat(body),
    settings: { ...decodeSettings(body), maxTokens, ...(parallelCalls !== undefined && { parallelCalls }) },
    ...(thread && { thread }),
  };
}

/** What a conversation began with is kept with it. */
function refuseRepeated(body: JsonFields): void {
  for (const field of ["system", "tools"]) {
    const value = body[field];
    if (value == null || (Array.isArray(value) && value.length === 0)) continue;
    throw new ColloquyError(
      "thread_fingerprint_mismatch",
      400,
      `${field}: is kept from the conversation's first request, and can't be sent with one that continues it`,
      { param: field },
    );
  }
}

/** Reads what a model is shown: of a request to answer, or of one to count its tokens. */
export function decodePrompt(body: JsonFields, thread?: ThreadWish) {
  const isContinued = thread?.type === "continue";
  if (isContinued) refuseRepeated(body);
  const system = decodeSystem(body["system"]);
  const { messages, asides } = decodeMessages(body["messages"], { isContinued });
  const tools = decodeTools(body, asides, isContinued);
  const instructions = system === "" ? [] : [{ role: "system", content: system } as const];
  const { leftOut, referenced } = asides;
  return {
    messages: [...instructions, ...messages],
    leftOut: [...leftOut],
    referenced: [...referenced],
    ...tools,
  };
}

/** Claude Code begins with a line for its vendor's bill, which changes and would spoil what a model's server has cached. */
const billing = "x-anthropic-billing-header:";

function decodeSystem(system: unknown): string {
  if (system == null) return "";
  const texts = blocksOf(system, "system").map((block, index) => {
    if (block["type"] !== "text") refuse(`system[${index}].type`, "must be text");
    return textOf(block, `system[${index}]`);
  });
  return texts.filter((text) => !text.startsWith(billing)).join("\n\n");
}

function decodeThread(body: JsonFields): ThreadWish | undefined {
  const thread = optionalFields(body, "thread");
  switch (thread?.["type"]) {
    case undefined:
      return undefined;
    case "create":
      return { type: "create" };
    case "continue": {
      const previous = thread && optionalString(thread, "previous_message_id", "thread.");
      if (!previous) refuse("thread.previous_message_id", "is required");
      return { type: "continue", previous };
    }
    default:
      refuse("thread.type", "must be create or continue");
  }
}

function decodeSettings(body: JsonFields): ModelSettings {
  const stop = optionalStrings(body, "stop_sequences");
  return {
    temperature: optionalNumber(body, "temperature", { from: 0, to: 1 }),
    topP: optionalNumber(body, "top_p", { from: 0, to: 1 }),
    topK: optionalNumber(body, "top_k", { from: 0, whole: true }) || undefined,
    stop: stop?.length === 0 ? undefined : stop,
    reasoningEffort: decodeEffort(body),
  };
}

const efforts = ["low", "medium", "high", "xhigh", "max"];

/** `adaptive` leaves it to the model, a budget is told as an effort. */
function decodeEffort(body: JsonFields): string | undefined {
  const thinking = optionalFields(body, "thinking");
  const config = optionalFields(body, "output_config");
  const effort = config && optionalString(config, "effort", "output_config.");
  if (effort !== undefined && !efforts.includes(effort))
    refuse("output_config.effort", `must be one of ${efforts.join(", ")}`);
  const told = effort === "max" ? "xhigh" : effort;
  switch (thinking?.["type"]) {
    case "disabled":
      return "none";
    case "enabled": {
      const budget = thinking && optionalNumber(thinking, "budget_tokens", { from: 1, whole: true });
      return told ?? (budget === undefined ? undefined : effortOf(budget));
    }
    case undefined:
    case "adaptive":
    case "between_tools":
      return told;
    default:
      refuse("thinking.type", "must be enabled, disabled, adaptive or between_tools");
  }
}

function effortOf(budget: number): string {
  if (budget < 4096) return "low";
  return budget < 16_384 ? "medium" : "high";
}

function decodeFormat(body: JsonFields): ResponseFormat | undefined {
  const config = optionalFields(body, "output_config");
  // the older name
  const format =
    (config && optionalFields(config, "format", "output_config.")) ?? optionalFields(body, "output_format");
  if (!format) return undefined;
  const { type, schema } = format;
  if (type !== "json_schema" || !isFields(schema))
    refuse("output_config.format", 'must be {"type": "json_schema", "schema": {…}}');
  return { type: "json-schema", name: "answer", schema };
}
