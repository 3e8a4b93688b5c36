import type { ModelSettings } from "../../../protocol/agents/models.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";
import { decodeFunctionTools } from "../../answers/function-tools.ts";
import {
  allowedTools,
  type ChosenTools,
  forcedTool,
  formatIn,
  includesUsage,
  onLimitIn,
  samplingIn,
  stopsIn,
} from "../../answers/request-settings.ts";
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
import { decodeMessages } from "./decode-messages.ts";

/** A request of this dialect in our own words. */
export type ChatRequest = AnswerRequest & { readonly includeUsage: boolean };

/** Reads a body; throws InvalidInput with the parameter at fault. Fields it doesn't know are ignored. */
export function decodeChatRequest(sent: unknown): ChatRequest {
  const body = bodyFields(sent);
  const model = modelIn(body);
  const answers = optionalNumber(body, "n");
  if (answers !== undefined && answers !== 1) refuse("n", "only one answer per request (n = 1) is supported");
  if (body["functions"] != null) refuse("functions", "is not supported: use tools");
  return {
    model,
    messages: decodeMessages(body["messages"]),
    stream: optionalBoolean(body, "stream") ?? false,
    includeUsage: includesUsage(body),
    ...decodeTools(body),
    format: formatIn(optionalFields(body, "response_format"), "response_format", "json_schema"),
    settings: decodeSettings(body),
    ...decodeMetadata(body),
    ...decodeOthers(body),
  };
}

/** What is read here, or means nothing to anybody but us. */
const known = new Set([
  ...["model", "messages", "stream", "stream_options", "n", "tools", "tool_choice", "parallel_tool_calls"],
  ...["functions", "function_call", "response_format", "temperature", "top_p", "top_k", "max_tokens", "stop", "seed"],
  ...["max_completion_tokens", "frequency_penalty", "presence_penalty", "reasoning_effort", "session_id", "metadata"],
]);

/** What would bring an answer that this dialect can't tell. */
const untold: Readonly<Record<string, (value: unknown) => boolean>> = {
  logprobs: (value) => value === true,
  top_logprobs: (value) => typeof value === "number" && value > 0,
  modalities: (value) => !(Array.isArray(value) && value.every((each) => each === "text")),
  audio: () => true,
};

/** The fields that nobody here knows: they are the provider's business, such as `min_p` or `chat_template_kwargs`. */
function decodeOthers(body: JsonFields): Pick<ChatRequest, "extra"> {
  const others = Object.entries(body).filter(([name, value]) => !known.has(name) && value != null);
  for (const [name, value] of others)
    if (untold[name]?.(value)) refuse(name, "is not supported: its answer can't be passed on");
  const extra = others.filter(([name]) => untold[name] === undefined);
  return extra.length > 0 ? { extra: Object.fromEntries(extra) } : {};
}

function decodeMetadata(body: JsonFields): Pick<ChatRequest, "sessionId" | "onLimit"> {
  const metadata = optionalFields(body, "metadata") ?? {};
  return {
    sessionId: optionalString(body, "session_id") ?? optionalString(metadata, "session_id", "metadata."),
    onLimit: onLimitIn(metadata),
  };
}

function decodeSettings(body: JsonFields): ModelSettings {
  return {
    ...samplingIn(body),
    topK: optionalNumber(body, "top_k", { from: 1, whole: true }),
    maxTokens:
      optionalNumber(body, "max_completion_tokens", { from: 1, whole: true }) ??
      optionalNumber(body, "max_tokens", { from: 1, whole: true }),
    stop: stopsIn(body),
    seed: optionalNumber(body, "seed", { whole: true }),
    reasoningEffort: optionalString(body, "reasoning_effort"),
    parallelCalls: optionalBoolean(body, "parallel_tool_calls"),
  };
}

function decodeTools(body: JsonFields): ChosenTools {
  const tools = decodeFunctionTools(body["tools"] ?? []);
  if (tools.length === 0) return {};
  const choice = body["tool_choice"] ?? undefined;
  if (choice === undefined) return { tools };
  if (choice === "auto" || choice === "none" || choice === "required") return { tools, toolChoice: choice };
  if (!isFields(choice)) refuse("tool_choice", "must be auto, none, required, or name a function");
  if (choice["type"] !== "allowed_tools") return forcedTool(tools, functionName(choice), "tool_choice.function.name");
  const { tools: list, mode } = optionalFields(choice, "allowed_tools", "tool_choice.") ?? {};
  const names = Array.isArray(list) && list.map(functionName);
  return allowedTools(tools, { names, mode, at: "tool_choice.allowed_tools" });
}

function functionName(named: unknown): unknown {
  const described = isFields(named) ? named["function"] : undefined;
  return isFields(described) ? described["name"] : undefined;
}
