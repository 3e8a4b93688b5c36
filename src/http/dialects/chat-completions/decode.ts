import type { ModelSettings, ResponseFormat, ToolSchema } from "../../../protocol/agents/models.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";
import { decodeFunctionTools } from "../../answers/function-tools.ts";
import {
  type JsonFields,
  isFields,
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
export function decodeChatRequest(body: unknown): ChatRequest {
  if (!isFields(body)) refuse("body", "must be a JSON object");
  const model = optionalString(body, "model");
  if (!model) refuse("model", "is required");
  const answers = optionalNumber(body, "n");
  if (answers !== undefined && answers !== 1) refuse("n", "only one answer per request (n = 1) is supported");
  if (body["functions"] != null) refuse("functions", "is not supported: use tools");
  const streamOptions = optionalFields(body, "stream_options");
  return {
    model,
    messages: decodeMessages(body["messages"]),
    stream: optionalBoolean(body, "stream") ?? false,
    includeUsage: (streamOptions && optionalBoolean(streamOptions, "include_usage", "stream_options.")) ?? false,
    ...decodeTools(body),
    format: decodeFormat(optionalFields(body, "response_format")),
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
  const onLimit = optionalString(metadata, "on_limit", "metadata.");
  if (onLimit !== undefined && onLimit !== "pause" && onLimit !== "stop")
    refuse("metadata.on_limit", "must be pause or stop");
  return {
    sessionId: optionalString(body, "session_id") ?? optionalString(metadata, "session_id", "metadata."),
    onLimit,
  };
}

function decodeSettings(body: JsonFields): ModelSettings {
  const { stop } = body;
  const stops = typeof stop === "string" ? [stop] : (stop ?? undefined);
  if (stops !== undefined && !isStrings(stops)) refuse("stop", "must be a string or a list of strings");
  return {
    temperature: optionalNumber(body, "temperature", { from: 0, to: 2 }),
    topP: optionalNumber(body, "top_p", { from: 0, to: 1 }),
    topK: optionalNumber(body, "top_k", { from: 1, whole: true }),
    maxTokens:
      optionalNumber(body, "max_completion_tokens", { from: 1, whole: true }) ??
      optionalNumber(body, "max_tokens", { from: 1, whole: true }),
    stop: stops,
    seed: optionalNumber(body, "seed", { whole: true }),
    frequencyPenalty: optionalNumber(body, "frequency_penalty", { from: -2, to: 2 }),
    presencePenalty: optionalNumber(body, "presence_penalty", { from: -2, to: 2 }),
    reasoningEffort: optionalString(body, "reasoning_effort"),
    parallelCalls: optionalBoolean(body, "parallel_tool_calls"),
  };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function decodeFormat(format: JsonFields | undefined): ResponseFormat | undefined {
  switch (format?.["type"]) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return { type: "json" };
    case "json_schema": {
      const described = format?.["json_schema"];
      if (!isFields(described) || typeof described["name"] !== "string" || !isFields(described["schema"]))
        refuse("response_format.json_schema", "must be {name, schema, strict?}");
      const strict = optionalBoolean(described, "strict", "response_format.json_schema.");
      return { type: "json-schema", name: described["name"], schema: described["schema"], strict };
    }
    default:
      refuse("response_format.type", "must be text, json_object or json_schema");
  }
}

function decodeTools(body: JsonFields): Pick<ChatRequest, "tools" | "toolChoice"> {
  const tools = decodeFunctionTools(body["tools"] ?? []);
  if (tools.length === 0) return {};
  return applyChoice(tools, body["tool_choice"] ?? undefined);
}

function applyChoice(tools: readonly ToolSchema[], choice: unknown): Pick<ChatRequest, "tools" | "toolChoice"> {
  if (choice === undefined) return { tools };
  if (choice === "auto" || choice === "none" || choice === "required") return { tools, toolChoice: choice };
  if (!isFields(choice)) refuse("tool_choice", "must be auto, none, required, or name a function");
  if (choice["type"] === "allowed_tools") return allowedTools(tools, choice["allowed_tools"]);
  const name = isFields(choice["function"]) ? choice["function"]["name"] : undefined;
  if (typeof name !== "string" || !tools.some((tool) => tool.name === name))
    refuse("tool_choice.function.name", "must be the name of one of the tools");
  return { tools, toolChoice: { name } };
}

function allowedTools(tools: readonly ToolSchema[], allowed: unknown): Pick<ChatRequest, "tools" | "toolChoice"> {
  const list = isFields(allowed) ? allowed["tools"] : undefined;
  const mode = isFields(allowed) ? allowed["mode"] : undefined;
  if (!Array.isArray(list) || (mode !== "auto" && mode !== "required"))
    refuse("tool_choice.allowed_tools", `must be {"mode": "auto" | "required", "tools": […]}`);
  const names = new Set(
    list.map((entry: unknown) => isFields(entry) && isFields(entry["function"]) && entry["function"]["name"]),
  );
  return { tools: tools.filter((tool) => names.has(tool.name)), toolChoice: mode };
}
