import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { ModelError, messageOf } from "../../protocol/base/errors.ts";
import type { FinishReason, ModelRequest, ModelStream, Usage } from "../../protocol/agents/models.ts";
import { defaultTimeouts } from "../transport/adapter.ts";
import type { Adapter, Timeouts } from "../transport/adapter.ts";
import { callOptions } from "./ai-sdk-prompt.ts";
import { StreamDeadline } from "./ai-sdk-watch.ts";
import { AnswerWriter } from "../transport/answer-writer.ts";
import type { AiSdkConfig } from "../config.ts";
import { failure, providerFailure, statusFailure } from "../transport/upstream-error.ts";
import type { Target } from "../transport/upstream-error.ts";
import { UnsupportedRequest } from "../transport/wire.ts";

/** Any model of the AI SDK (`LanguageModelV4`) from a package the operator has installed. It is loaded at first use. */
export function createAiSdk(config: AiSdkConfig, timeouts: Partial<Timeouts>): Adapter {
  const target = { id: config.id, provider: "ai-sdk", model: config.model, endpoint: config.package };
  const limits: Timeouts = { ...defaultTimeouts, ...timeouts, ...config.timeouts };
  let loading: Promise<LanguageModelV4> | undefined;

  async function* stream(request: ModelRequest, signal: AbortSignal): ModelStream {
    const watch = new StreamDeadline(signal, limits);
    const answer = new AnswerWriter(request);
    let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
    try {
      const model = await (loading ??= loadModel(config));
      const result = await watch.over(model.doStream(callOptions(request, config, watch.signal)));
      reader = result.stream.getReader();
      const calls = new Map<string, number>();
      while (!answer.finished) {
        const { done, value } = await watch.over(reader.read());
        if (done) throw failure("cut", target, "the answer broke off before its end mark");
        writePart(value, answer, calls);
        const batch = answer.take();
        if (batch.length === 0) continue;
        watch.firstPartCame();
        yield batch;
      }
    } catch (error) {
      throw watch.stopped(target) ?? asModelError(error);
    } finally {
      watch.close();
      // It may never settle, and nobody needs its outcome.
      void reader?.cancel().catch(() => undefined);
    }
  }

  function asModelError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    if (error instanceof PackageMissing || error instanceof UnsupportedRequest)
      return failure("refused", target, error.message, { cause: error });
    if (error instanceof PartError) return asModelError(error.error);
    return error instanceof Error ? thrownFailure(target, error) : providerFailure(target, error);
  }

  return { provider: "ai-sdk", name: config.model, contextTokens: config.contextTokens ?? 128_000, stream };
}

/** What the AI SDK's own call errors have; other packages throw other things. */
type CallError = Error & {
  statusCode?: unknown;
  responseBody?: unknown;
  responseHeaders?: Record<string, string>;
  isRetryable?: unknown;
};

function thrownFailure(target: Target, error: CallError): ModelError {
  const { statusCode, responseBody, responseHeaders, name, message } = error;
  if (typeof statusCode === "number" && statusCode >= 400) {
    const text = typeof responseBody === "string" && responseBody !== "" ? responseBody : message;
    return statusFailure(target, statusCode, text, responseHeaders?.["retry-after"]);
  }
  // A good status and then no body to its end, or the package's own words for an answer without one.
  if (typeof statusCode === "number" && statusCode >= 200 && statusCode < 300)
    return failure("cut", target, message, { cause: error });
  if (/without a finish reason|terminated/i.test(message)) return failure("cut", target, message, { cause: error });
  if (/JSONParse|InvalidResponse|TypeValidation/.test(name))
    return failure("garbage", target, message.slice(0, 300), { cause: error });
  const retryable = error.isRetryable === true;
  return failure(retryable ? "unreachable" : "server", target, message, { cause: error, retryable });
}

class PackageMissing extends Error {}

/** An error that came as a part of the stream. */
class PartError extends Error {
  readonly error: unknown;
  constructor(error: unknown) {
    super("an error part");
    this.error = error;
  }
}

async function loadModel(config: AiSdkConfig): Promise<LanguageModelV4> {
  const { package: name, export: exported } = config;
  const module = (await import(name).catch((cause: unknown) => {
    throw new PackageMissing(
      `the package ${name} can't be loaded (${messageOf(cause)}). Install it: npm install ${name}`,
      {
        cause,
      },
    );
  })) as Record<string, unknown>;
  const model = modelIn(module[exported], config);
  if (!model) throw new PackageMissing(`${name} exports no ${exported} that gives a LanguageModelV4`);
  return model;
}

/** An export may be a model, a provider, or a function that makes a provider from settings. */
function modelIn(value: unknown, config: AiSdkConfig): LanguageModelV4 | undefined {
  if (isModel(value)) return value;
  const provider =
    isProvider(value) || typeof value !== "function"
      ? value
      : (value as (settings: object) => unknown)(settingsOf(config));
  if (isModel(provider)) return provider;
  const model = isProvider(provider) ? provider.languageModel(config.model) : undefined;
  return isModel(model) ? model : undefined;
}

function settingsOf(config: AiSdkConfig): object {
  const { id, apiKey, baseUrl, headers, options } = config;
  return {
    name: id,
    apiKey,
    baseURL: baseUrl,
    headers,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...options?.create,
  };
}

function isModel(value: unknown): value is LanguageModelV4 {
  return (
    typeof value === "object" &&
    value !== null &&
    "specificationVersion" in value &&
    value.specificationVersion === "v4" &&
    "doStream" in value
  );
}

function isProvider(value: unknown): value is { languageModel(name: string): unknown } {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    "languageModel" in value &&
    typeof value.languageModel === "function"
  );
}

function writePart(part: LanguageModelV4StreamPart, answer: AnswerWriter, calls: Map<string, number>): void {
  switch (part.type) {
    case "text-delta":
      return answer.text(part.delta);
    case "reasoning-delta":
      return answer.reasoning(part.delta);
    case "tool-input-start":
      if (!part.providerExecuted) calls.set(part.id, answer.startCall(part.toolName));
      return;
    case "tool-input-delta": {
      const index = calls.get(part.id);
      if (index !== undefined) answer.callArguments(index, part.delta);
      return;
    }
    case "tool-call":
      // Told in pieces before, unless the package gives calls only whole.
      if (!part.providerExecuted && !calls.has(part.toolCallId)) {
        calls.set(part.toolCallId, answer.startCall(part.toolName));
        answer.callArguments(calls.get(part.toolCallId)!, part.input);
      }
      return;
    case "error":
      throw new PartError(part.error);
    case "finish":
      return answer.finish(finishReasonOf(part.finishReason), usageOf(part.usage));
    default:
  }
}

/** Without a reason from the provider the interface says `other`, `interrupted` or `error`: those answers were cut. */
function finishReasonOf({ unified, raw }: LanguageModelV4FinishReason): FinishReason {
  const reason = finishReasons[unified];
  if (reason === undefined || (unified === "other" && raw === undefined)) {
    throw new ModelError("cut", `The answer broke off before its end mark (${unified})`);
  }
  return reason;
}

const finishReasons: Readonly<Partial<Record<LanguageModelV4FinishReason["unified"], FinishReason>>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "calls",
  "content-filter": "filter",
  other: "other",
};

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return undefined;
  return {
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    ...(inputTokens.cacheRead !== undefined && { cachedTokens: inputTokens.cacheRead }),
    ...(outputTokens.reasoning !== undefined && { reasoningTokens: outputTokens.reasoning }),
  };
}
