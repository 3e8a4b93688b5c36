import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelContentPart, ModelMessage, ModelRequest, ModelSettings } from "../../protocol/agents/models.ts";
import { argumentsObject, outgoingCallId, dataUrl } from "./request-values.ts";

import type { AiSdkConfig } from "../config.ts";

type JsonSchema7 = NonNullable<Extract<LanguageModelV4CallOptions["responseFormat"], { type: "json" }>["schema"]>;

/** Our request as the options of an AI SDK call. Throws Unsendable. */
export function callOptions(
  request: ModelRequest,
  config: AiSdkConfig,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const settings: ModelSettings = { ...config.options, ...request.settings };
  const { toolChoice: choice, format } = request;
  return {
    prompt: promptOf(request.messages),
    maxOutputTokens: settings.maxTokens,
    temperature: settings.temperature,
    topP: settings.topP,
    topK: settings.topK,
    stopSequences: settings.stop && [...settings.stop],
    seed: settings.seed,
    frequencyPenalty: settings.frequencyPenalty,
    presencePenalty: settings.presencePenalty,
    reasoning: settings.reasoningEffort as LanguageModelV4CallOptions["reasoning"],
    responseFormat:
      format &&
      (format.type === "json"
        ? { type: "json" }
        : { type: "json", name: format.name, schema: format.schema as JsonSchema7 }),
    tools: request.tools?.map(({ name, description, parameters, strict }) => ({
      type: "function",
      name,
      description,
      inputSchema: parameters as JsonSchema7,
      strict,
    })),
    toolChoice: choice && (typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name }),
    providerOptions: config.options?.providerOptions as SharedV4ProviderOptions | undefined,
    abortSignal: signal,
  };
}

/** Results of one answer stand in one tool message, as that interface has it. */
function promptOf(messages: readonly ModelMessage[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Message[] = [];
  for (const message of messages) {
    if (message.role !== "tool") {
      prompt.push(messageOf(message));
      continue;
    }
    const result: LanguageModelV4ToolResultPart = {
      type: "tool-result",
      toolCallId: outgoingCallId(message.callId),
      toolName: message.name,
      output: { type: message.isError ? "error-text" : "text", value: message.content },
    };
    const last = prompt.at(-1);
    if (last?.role === "tool") last.content.push(result);
    else prompt.push({ role: "tool", content: [result] });
  }
  return prompt;
}

function messageOf(message: Exclude<ModelMessage, { role: "tool" }>): LanguageModelV4Message {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      return {
        role: "user",
        content:
          typeof message.content === "string"
            ? [{ type: "text", text: message.content }]
            : message.content.map(contentOf),
      };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(message.content === "" ? [] : [{ type: "text" as const, text: message.content }]),
          ...(message.calls ?? []).map((call) => ({
            type: "tool-call" as const,
            toolCallId: outgoingCallId(call.id),
            toolName: call.name,
            input: argumentsObject(call.arguments),
          })),
        ],
      };
  }
}

function contentOf(part: ModelContentPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === "text") return { type: "text", text: part.text };
  const image = dataUrl(part.url);
  return image
    ? { type: "file", mediaType: image.mediaType, data: { type: "data", data: image.data } }
    : { type: "file", mediaType: "image/*", data: { type: "url", url: new URL(part.url) } };
}
