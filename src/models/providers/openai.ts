import type {
  ModelContentPart,
  ModelMessage,
  ModelRequest,
  ModelSettings,
  ToolChoice,
} from "../../protocol/agents/models.ts";
import { defaultTimeouts, omitFields } from "../transport/adapter.ts";
import type { Adapter, OmittedFields } from "../transport/adapter.ts";
import { askContextSize } from "../discovery/ask-context-size.ts";
import { outgoingCallId, toolText } from "./request-values.ts";
import type { OpenAiConfig } from "../config.ts";
import { fixedContextSize, lazyContextSize } from "../transport/context-size.ts";
import { endpoint } from "../transport/endpoint.ts";
import { serverSentEvents } from "../transport/framing.ts";
import { createHttpAdapter } from "../transport/http-adapter.ts";
import type { ModelTransport } from "../transport/http-adapter.ts";
import { OpenAiReader } from "./openai-answer.ts";
import { passOver } from "./openai-pass.ts";
import { isKnownHost, rulesOfHost } from "./hosts.ts";
import type { HostRules } from "./hosts.ts";

export const openaiBaseUrl = "https://api.openai.com/v1";

/** A model behind `POST <baseUrl>/chat/completions`: OpenAI, Cerebras, vLLM, LM Studio, llama.cpp and many more. */
export function createOpenAi(config: OpenAiConfig, { dispatcher, timeouts, isOwn }: ModelTransport): Adapter {
  const { baseUrl = openaiBaseUrl } = config;
  const url = endpoint(baseUrl, "chat/completions", { version: "v1" });
  const rules = rulesOfHost(url);
  const headers = { ...(config.apiKey && { authorization: `Bearer ${config.apiKey}` }), ...config.headers };
  const usual = rules.contextTokens;
  const root = new URL(url.pathname.replace(/(v1\/)?chat\/completions$/, ""), url);
  const ask = () => askContextSize(root, { model: config.model, headers, dispatcher, usual });
  const isAsked = config.contextTokens === undefined && !isKnownHost(url) && !isOwn?.(url);
  const patience = { ...defaultTimeouts, ...timeouts, ...config.timeouts };
  const adapter = createHttpAdapter({
    id: config.id,
    name: config.model,
    context: isAsked ? lazyContextSize(ask, { otherwise: usual }) : fixedContextSize(config.contextTokens, usual),
    timeouts: patience,
    dispatcher,
    ...(isOwn ? { isOwn } : {}),
    wire: {
      provider: "openai",
      url,
      headers,
      framing: serverSentEvents,
      body: (request, leftOut) => bodyOf(request, leftOut, { config, rules }),
      reader: (answer) => new OpenAiReader(answer),
      adapt: withoutWhatIsNamed,
    },
  });
  // Its getters are to stay getters.
  return Object.assign(adapter, {
    pass: passOver({ ...config, baseUrl }, { dispatcher, timeouts: patience, headers }),
  });
}

/** Fields that a request can do without; a 400 that names one is tried again without it. */
const optionalFields = [
  "frequency_penalty",
  "presence_penalty",
  "parallel_tool_calls",
  "reasoning_effort",
  "reasoning_content",
  "stream_options",
  "service_tier",
  "tool_choice",
  "logit_bias",
  "json_schema",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "strict",
  "top_p",
  "top_k",
  "seed",
  "stop",
] as const;

function withoutWhatIsNamed(said: string, leftOut: OmittedFields): OmittedFields | undefined {
  const named: string[] = optionalFields.filter(
    (field) => !leftOut.has(field) && new RegExp(`(?<![\\w-])${field}(?![\\w-])`).test(said),
  );
  // "stream" with tools or JSON output is refused in words only, by some reasoning models.
  if (!leftOut.has("stream") && named.length === 0 && /\bstream(ing|ed)?\b/i.test(said)) named.push("stream");
  // A tool's schema that does not have the form which strictness demands.
  if (!leftOut.has("strict") && named.length === 0 && /additionalProperties|\bschema\b/i.test(said))
    named.push("strict");
  return named.length > 0 ? omitFields(leftOut, named) : undefined;
}

type Context = { readonly config: OpenAiConfig; readonly rules: HostRules };

function bodyOf(request: ModelRequest, leftOut: OmittedFields, { config, rules }: Context): object {
  const tools = request.tools?.length ? request.tools : undefined;
  const stream = !(leftOut.has("stream") && (tools || request.format));
  const fields: Record<string, unknown> = {
    ...request.extra,
    ...config.options?.extraBody,
    ...settingFields({ ...config.options, ...request.settings }, rules, leftOut),
    tool_choice: tools && toolChoiceField(request.toolChoice, rules),
    parallel_tool_calls: tools && (request.settings?.parallelCalls ?? config.options?.parallelCalls),
    response_format: formatField(request.format, leftOut),
    stream_options: stream ? { include_usage: true } : undefined,
  };
  for (const field of Object.keys(fields)) {
    if (leftOut.has(field) || rules.refuses.has(field)) fields[field] = undefined;
  }
  const strict = leftOut.has("strict") ? undefined : rules.strictTools;
  return {
    ...fields,
    model: config.model,
    stream,
    messages: request.messages.map((message) => messageField(message, config)),
    tools: tools?.map(({ name, description, parameters, ...tool }) => ({
      type: "function",
      function: { name, description, parameters, strict: leftOut.has("strict") ? undefined : (tool.strict ?? strict) },
    })),
  };
}

function settingFields(settings: ModelSettings, rules: HostRules, leftOut: OmittedFields): Record<string, unknown> {
  const other = rules.maxTokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  return {
    temperature: settings.temperature,
    top_p: settings.topP,
    top_k: settings.topK,
    [leftOut.has(rules.maxTokensField) ? other : rules.maxTokensField]: settings.maxTokens,
    stop: settings.stop,
    seed: settings.seed,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    reasoning_effort: settings.reasoningEffort,
  };
}

function toolChoiceField(choice: ToolChoice | undefined, rules: HostRules): unknown {
  if (choice === undefined || choice === "auto" || choice === "none") return choice;
  if (rules.weakToolChoice) return "auto";
  return choice === "required" ? choice : { type: "function", function: choice };
}

function formatField(format: ModelRequest["format"], leftOut: OmittedFields): unknown {
  if (format === undefined) return undefined;
  if (format.type === "json") return { type: "json_object" };
  const { name, schema, strict } = format;
  // Servers without `json_schema` take the schema beside `json_object` (llama.cpp) or ignore it.
  if (leftOut.has("json_schema")) return { type: "json_object", schema };
  return { type: "json_schema", json_schema: { name, schema, strict: leftOut.has("strict") ? undefined : strict } };
}

function messageField(message: ModelMessage, config: OpenAiConfig): object {
  switch (message.role) {
    case "system":
      return message;
    case "user":
      return {
        role: "user",
        content: typeof message.content === "string" ? message.content : message.content.map(contentField),
        name: message.name,
      };
    case "assistant": {
      const calls = message.calls?.length ? message.calls : undefined;
      const reasoningField = config.options?.reasoningField;
      return {
        role: "assistant",
        content: calls && message.content === "" ? null : message.content,
        ...(reasoningField && message.reasoning && { [reasoningField]: message.reasoning }),
        tool_calls: calls?.map((call) => ({
          id: outgoingCallId(call.id),
          type: "function",
          function: { name: call.name, arguments: call.arguments },
        })),
      };
    }
    case "tool":
      return { role: "tool", tool_call_id: outgoingCallId(message.callId), content: toolText(message) };
  }
}

function contentField(part: ModelContentPart): object {
  return part.type === "text" ? part : { type: "image_url", image_url: { url: part.url } };
}
