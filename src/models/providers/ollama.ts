import type { FinishReason, ModelMessage, ModelRequest, ModelSettings } from "../../protocol/agents/models.ts";
import { defaultTimeouts, omitFields } from "../transport/adapter.ts";
import type { Adapter, OmittedFields } from "../transport/adapter.ts";
import type { AnswerWriter } from "../transport/answer-writer.ts";
import { askOllamaContextSize } from "../discovery/ask-context-size.ts";
import { outgoingCallId, argumentsObject, dataUrl, toolText } from "./request-values.ts";
import type { OllamaConfig } from "../config.ts";
import { fixedContextSize, lazyContextSize } from "../transport/context-size.ts";
import type { ContextSize } from "../transport/context-size.ts";
import { endpoint } from "../transport/endpoint.ts";
import { ndjson } from "../transport/framing.ts";

import { createHttpAdapter } from "../transport/http-adapter.ts";
import type { ModelTransport } from "../transport/http-adapter.ts";

import { StreamCutOff, NotTheProtocol, ProviderError, UnsupportedRequest, objectOf } from "../transport/wire.ts";
import type { AnswerReader } from "../transport/wire.ts";

export const ollamaBaseUrl = "http://localhost:11434";

/** Loading a large model from disk takes minutes; silence after that does not. */
const ollamaTimeouts = { ...defaultTimeouts, firstPartMs: 300_000, idleMs: 60_000 };
/** The server would cut a longer prompt silently, so it is always told the context we count on. More takes more memory. */
const usualContext = 8192;

/** A model behind Ollama's own `POST /api/chat`; only there can the context be set. */
export function createOllama(config: OllamaConfig, { dispatcher, timeouts, isOwn }: ModelTransport): Adapter {
  const headers = { ...(config.apiKey && { authorization: `Bearer ${config.apiKey}` }), ...config.headers };
  const baseUrl = config.baseUrl ?? ollamaBaseUrl;
  const url = endpoint(baseUrl, "api/chat");
  const set = config.options?.numCtx ?? config.contextTokens;
  const show = endpoint(baseUrl, "api/show");
  const ask = () => askOllamaContextSize(show, { model: config.model, headers, dispatcher, usual: usualContext });
  const context: ContextSize =
    set !== undefined || isOwn?.(url)
      ? fixedContextSize(set, usualContext)
      : lazyContextSize(ask, { otherwise: usualContext });
  return createHttpAdapter({
    id: config.id,
    name: config.model,
    context,
    timeouts: { ...ollamaTimeouts, ...timeouts, ...config.timeouts },
    dispatcher,
    ...(isOwn ? { isOwn } : {}),
    wire: {
      provider: "ollama",
      takesAnyName: true,
      url,
      headers,
      framing: ndjson,
      body: (request, leftOut) => bodyOf(request, leftOut, { config, contextTokens: context.tokens }),
      reader: (answer) => new OllamaReader(answer),
      adapt(said, leftOut) {
        // "<model> does not support thinking"
        return /think/i.test(said) && !leftOut.has("think") ? omitFields(leftOut, ["think"]) : undefined;
      },
    },
  });
}

function bodyOf(
  request: ModelRequest,
  leftOut: OmittedFields,
  { config, contextTokens }: { config: OllamaConfig; contextTokens: number },
): object {
  const settings: ModelSettings = { ...config.options, ...request.settings };
  // Ollama knows no tool choice; the one wish it can honour is to offer nothing.
  const tools = request.toolChoice === "none" ? undefined : request.tools;
  const { format } = request;
  return {
    ...config.options?.extraBody,
    model: config.model,
    stream: true,
    messages: request.messages.map(messageField),
    tools: tools?.length
      ? tools.map(({ name, description, parameters }) => ({
          type: "function",
          function: { name, description, parameters },
        }))
      : undefined,
    format: format && (format.type === "json" ? "json" : format.schema),
    think: leftOut.has("think") ? undefined : thinkField(settings.reasoningEffort ?? config.options?.think),
    keep_alive: config.options?.keepAlive,
    options: {
      num_ctx: contextTokens,
      num_predict: settings.maxTokens,
      temperature: settings.temperature,
      top_p: settings.topP,
      top_k: settings.topK,
      stop: settings.stop,
      seed: settings.seed,
      frequency_penalty: settings.frequencyPenalty,
      presence_penalty: settings.presencePenalty,
    },
  };
}

function thinkField(wish: string | boolean | undefined): string | boolean | undefined {
  return wish === "none" ? false : wish;
}

function messageField(message: ModelMessage): object {
  switch (message.role) {
    case "system":
      return message;
    case "user": {
      const { content } = message;
      if (typeof content === "string") return { role: "user", content };
      return {
        role: "user",
        content: content
          .map((part) => (part.type === "text" ? part.text : ""))
          .join("\n")
          .trim(),
        images: content.flatMap((part) => (part.type === "image" ? [bytesOf(part.url)] : [])),
      };
    }
    case "assistant":
      return {
        role: "assistant",
        content: message.content,
        thinking: message.reasoning,
        tool_calls: message.calls?.map((call) => ({
          id: outgoingCallId(call.id),
          function: { name: call.name, arguments: argumentsObject(call.arguments) },
        })),
      };
    case "tool":
      return {
        role: "tool",
        tool_name: message.name,
        tool_call_id: outgoingCallId(message.callId),
        content: toolText(message),
      };
  }
}

function bytesOf(url: string): string {
  const image = dataUrl(url);
  if (!image) throw new UnsupportedRequest("Ollama takes images only as data: URLs");
  return image.data;
}

type OllamaPayload = {
  error?: unknown;
  message?: OllamaMessage | null;
  done?: unknown;
  done_reason?: unknown;
  prompt_eval_count?: unknown;
  eval_count?: unknown;
};
type OllamaMessage = { content?: unknown; thinking?: unknown; tool_calls?: unknown };
type OllamaCall = { id?: unknown; function?: { name?: unknown; arguments?: unknown } | null };

class OllamaReader implements AnswerReader {
  readonly complete = false;
  readonly #answer: AnswerWriter;

  constructor(answer: AnswerWriter) {
    this.#answer = answer;
  }

  event(payload: unknown): void {
    const { error, message, done, done_reason, prompt_eval_count, eval_count } = objectOf(payload) as OllamaPayload;
    if (error) throw new ProviderError(error);
    if (message) this.#message(message);
    if (done !== true) return;
    const counted = typeof prompt_eval_count === "number" && typeof eval_count === "number";
    const usage = counted ? { inputTokens: prompt_eval_count, outputTokens: eval_count } : undefined;
    this.#answer.finish(finishReasons.get(done_reason ?? "stop") ?? "other", usage);
  }

  whole(body: unknown): void {
    this.event(body);
    this.end();
  }

  end(): void {
    if (!this.#answer.finished) throw new StreamCutOff();
  }

  #message({ content, thinking, tool_calls }: OllamaMessage): void {
    if (typeof thinking === "string") this.#answer.reasoning(thinking);
    if (typeof content === "string") this.#answer.text(content);
    if (!Array.isArray(tool_calls)) return;
    for (const call of tool_calls as (OllamaCall | null)[]) {
      const name = call?.function?.name;
      if (typeof name !== "string" || name === "") throw new NotTheProtocol("a tool call without a name");
      const given = call?.function?.arguments ?? {};
      this.#answer.callArguments(
        this.#answer.startCall(name, call?.id),
        typeof given === "string" ? given : JSON.stringify(given),
      );
    }
  }
}

const finishReasons = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
]);
