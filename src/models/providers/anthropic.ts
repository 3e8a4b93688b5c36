import type {
  ModelContentPart,
  ModelCall,
  ModelMessage,
  ModelRequest,
  ModelSettings,
  ToolChoice,
} from "../../protocol/agents/models.ts";
import { defaultTimeouts, omitFields, type Adapter, type OmittedFields } from "../transport/adapter.ts";
import { AnthropicReader, thinkingOf } from "./anthropic-answer.ts";
import { argumentsObject, outgoingCallId, dataUrl } from "./request-values.ts";

import type { AnthropicConfig } from "../config.ts";
import { fixedContextSize } from "../transport/context-size.ts";
import { endpoint } from "../transport/endpoint.ts";
import { serverSentEvents } from "../transport/framing.ts";
import { createHttpAdapter, type ModelTransport } from "../transport/http-adapter.ts";

export const anthropicBaseUrl = "https://api.anthropic.com/v1";

const defaultContext = 200_000;
/** The wire demands a number. */
const defaultMaxTokens = 8192;
/** The tool a schema becomes where the provider has no structured output of its own. */
const formatTool = "answer";

/** A model behind `POST <baseUrl>/messages`. */
export function createAnthropic(config: AnthropicConfig, { dispatcher, timeouts, isOwn }: ModelTransport): Adapter {
  return createHttpAdapter({
    id: config.id,
    name: config.model,
    context: fixedContextSize(config.contextTokens, defaultContext),
    timeouts: { ...defaultTimeouts, ...timeouts, ...config.timeouts },
    dispatcher,
    ...(isOwn ? { isOwn } : {}),
    wire: {
      provider: "anthropic",
      url: endpoint(config.baseUrl ?? anthropicBaseUrl, "messages", { version: "v1" }),
      headers: {
        "anthropic-version": "2023-06-01",
        ...(config.apiKey && { "x-api-key": config.apiKey }),
        ...config.headers,
      },
      framing: serverSentEvents,
      body: (request, leftOut) => bodyOf(request, leftOut, config),
      reader: (answer, request, leftOut) =>
        new AnthropicReader(answer, needsFormatTool(request, leftOut) ? formatTool : undefined),
      adapt: withoutWhatIsNamed,
    },
  });
}

const optionalFields = [
  "output_config",
  "temperature",
  "top_p",
  "top_k",
  "thinking",
  "strict",
  "stop_sequences",
  "tool_choice",
  "cache_control",
];

function withoutWhatIsNamed(said: string, leftOut: OmittedFields): OmittedFields | undefined {
  const named = optionalFields.filter(
    (field) => !leftOut.has(field) && new RegExp(`(?<![\\w-])${field}(?![\\w-])`).test(said),
  );
  if (!leftOut.has("output_config") && /output[_ ]format|structured output/i.test(said)) named.push("output_config");
  return named.length > 0 ? omitFields(leftOut, named) : undefined;
}

function needsFormatTool(request: ModelRequest, leftOut: OmittedFields): boolean {
  return request.format?.type === "json-schema" && leftOut.has("output_config");
}

function bodyOf(request: ModelRequest, leftOut: OmittedFields, config: AnthropicConfig): object {
  const settings: ModelSettings = { ...config.options, ...request.settings };
  const maxTokens = settings.maxTokens ?? defaultMaxTokens;
  const budget = config.options?.thinkingTokens;
  // A forced tool and thinking exclude each other.
  const thinks = budget !== undefined && !needsFormatTool(request, leftOut) && !isForced(request.toolChoice);
  const fields: Record<string, unknown> = {
    ...config.options?.extraBody,
    // The thinking counts in max_tokens, and the sampling must then be left alone.
    thinking: thinks ? { type: "enabled", budget_tokens: budget } : undefined,
    temperature: thinks || settings.temperature === undefined ? undefined : Math.min(1, settings.temperature),
    top_p: thinks ? undefined : settings.topP,
    top_k: thinks ? undefined : settings.topK,
    stop_sequences: settings.stop,
    ...outputFields(request, leftOut, settings),
  };
  for (const field of leftOut) fields[field] = undefined;
  const body = {
    ...fields,
    ...withOwnTools(toolFields(request, leftOut, settings), config),
    model: config.model,
    max_tokens: thinks && maxTokens <= budget ? maxTokens + budget : maxTokens,
    stream: true,
    system: systemText(request) || undefined,
    messages: turns(request.messages, thinks),
  };
  return request.tools?.length && !leftOut.has("cache_control") ? withCacheMarks(body) : body;
}

/** Tools that run at the provider, as `extraBody` names them, stand beside those of the request. */
function withOwnTools(fields: ToolFields, { options }: AnthropicConfig): ToolFields {
  const own = options?.extraBody?.["tools"];
  return Array.isArray(own) && fields.tools ? { ...fields, tools: [...(own as object[]), ...fields.tools] } : fields;
}

function outputFields(request: ModelRequest, leftOut: OmittedFields, settings: ModelSettings): object {
  // It knows no effort of that name: without thinkingTokens there is no thinking.
  const effort = settings.reasoningEffort === "none" ? undefined : settings.reasoningEffort;
  const format =
    request.format?.type === "json-schema" ? { type: "json_schema", schema: request.format.schema } : undefined;
  if (leftOut.has("output_config") || (!effort && !format)) return {};
  return { output_config: { effort, format } };
}

type ToolFields = { readonly tools?: readonly object[]; readonly tool_choice?: object | undefined };

function toolFields(request: ModelRequest, leftOut: OmittedFields, settings: ModelSettings): ToolFields {
  const { format } = request;
  const tools: object[] = (request.tools ?? []).map(({ name, description, parameters, strict }) => ({
    name,
    description,
    input_schema: { type: "object", ...parameters },
    strict: leftOut.has("strict") ? undefined : strict,
  }));
  if (format?.type === "json-schema" && needsFormatTool(request, leftOut)) {
    tools.push({ name: formatTool, description: `Gives the answer: ${format.name}.`, input_schema: format.schema });
    // With tools of its own the model must stay free to use them first.
    return { tools, tool_choice: tools.length === 1 ? { type: "tool", name: formatTool } : { type: "any" } };
  }
  if (tools.length === 0) return pastToolFields(request);
  const alone = settings.parallelCalls === false ? { disable_parallel_tool_use: true } : undefined;
  const choice = toolChoiceField(request.toolChoice ?? (alone && "auto"));
  return {
    tools,
    tool_choice:
      leftOut.has("tool_choice") || !choice ? undefined : { ...choice, ...(choice.type !== "none" && alone) },
  };
}

/** The wire refuses calls in the conversation without tools in the request; these are named, and may not be called. */
function pastToolFields({ messages }: ModelRequest): ToolFields {
  const called = messages.flatMap((message) => (message.role === "assistant" ? (message.calls ?? []) : []));
  const names = new Set(called.map(({ name }) => name));
  if (names.size === 0) return {};
  return {
    tools: [...names].map((name) => ({ name, input_schema: { type: "object" } })),
    tool_choice: { type: "none" },
  };
}

function toolChoiceField(choice: ToolChoice | undefined): { type: string; name?: string } | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}

function isForced(choice: ToolChoice | undefined): boolean {
  return choice !== undefined && choice !== "auto" && choice !== "none";
}

/** The wire has one system text; what comes later in the thread is an instruction as well. */
function systemText(request: ModelRequest): string {
  const texts = request.messages.flatMap((message) => (message.role === "system" ? [message.content] : []));
  if (request.format?.type === "json") texts.push("Answer with one JSON object and nothing else.");
  return texts.join("\n\n");
}

type PromptTurn = { readonly role: "user" | "assistant"; readonly content: object[] };

/** Messages as turns of two sides: all results of one answer stand together, before any text. */
function turns(messages: readonly ModelMessage[], thinks: boolean): readonly PromptTurn[] {
  const all: PromptTurn[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = message.role === "assistant" ? assistantBlocks(message, thinks) : userBlocks(message);
    if (blocks.length === 0) continue;
    const last = all.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else all.push({ role, content: blocks });
  }
  return all;
}

function assistantBlocks(message: Extract<ModelMessage, { role: "assistant" }>, thinks: boolean): object[] {
  return [
    ...(thinks ? thinkingOf(message.opaque) : []),
    // The wire refuses an empty text and one that ends in white space.
    ...(message.content.trim() === "" ? [] : [{ type: "text", text: message.content.trimEnd() }]),
    ...(message.calls ?? []).map((call: ModelCall) => ({
      type: "tool_use",
      id: outgoingCallId(call.id),
      name: call.name,
      input: argumentsObject(call.arguments),
    })),
  ];
}

function userBlocks(message: Extract<ModelMessage, { role: "user" | "tool" }>): object[] {
  if (message.role === "tool") {
    const { callId, content, isError } = message;
    return [{ type: "tool_result", tool_use_id: outgoingCallId(callId), content, is_error: isError || undefined }];
  }
  if (typeof message.content === "string")
    return message.content === "" ? [] : [{ type: "text", text: message.content }];
  return message.content.filter((part) => part.type !== "text" || part.text !== "").map(contentBlock);
}

function contentBlock(part: ModelContentPart): object {
  if (part.type === "text") return part;
  const image = dataUrl(part.url);
  const source = image
    ? { type: "base64", media_type: image.mediaType, data: image.data }
    : { type: "url", url: part.url };
  return { type: "image", source };
}

type AnthropicBody = {
  readonly tools?: readonly object[];
  readonly system?: string | undefined;
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
};

const mark = { cache_control: { type: "ephemeral" } } as const;

/**
 * Marks how far the prompt will be the same at the next request: tools and instructions, and the conversation up to here. Only
 * where there are tools, since then more requests follow, and writing the cache costs more than it saves for one.
 */
function withCacheMarks<Whole extends AnthropicBody>(body: Whole): object {
  const { tools = [], system, messages } = body;
  const last = messages.at(-1);
  return {
    ...body,
    ...(system === undefined ? { tools: marked(tools) } : { system: [{ type: "text", text: system, ...mark }] }),
    messages: last ? [...messages.slice(0, -1), { ...last, content: marked(last.content) }] : messages,
  };
}

function marked(blocks: readonly object[]): readonly object[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), { ...last, ...mark }] : blocks;
}
