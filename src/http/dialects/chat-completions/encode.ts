import { randomUUID } from "node:crypto";
import type { FinishReason, ModelPart, Usage } from "../../../protocol/agents/models.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";
import type { AnswerWire, WholeAnswer } from "../../answers/answer-wire.ts";
import { openAiError } from "../../shapes/openai-error.ts";
import { annotationOf, type UrlCitation } from "./annotations.ts";

/** Fields that all chunks of one answer share. */
export type AnswerHead = { readonly id: string; readonly created: number };

/** One answer of this dialect. */
export function chatWire(includeUsage: boolean): AnswerWire {
  const head = newAnswerHead();
  return {
    encode: createChunkEncoder(head, includeUsage),
    breakOff: (error) => `data: ${JSON.stringify(openAiError(error))}\n\n`,
    whole: () => createCompletion(head),
  };
}

/** Ids are ours: some providers repeat theirs. */
export function newAnswerHead(): AnswerHead {
  return { id: "chatcmpl-" + randomUUID().replaceAll("-", ""), created: Math.floor(Date.now() / 1000) };
}

const finishReasons: Record<FinishReason, string> = {
  stop: "stop",
  length: "length",
  calls: "tool_calls",
  filter: "content_filter",
  other: "stop",
};

const doneEvent = "data: [DONE]\n\n";

/**
 * Turns a batch of parts into the text of its SSE events, one event a part, `[DONE]` after the finish.
 * This runs for every token: all but the token's own text is made once, at the `start` part.
 */
export function createChunkEncoder(head: AnswerHead, includeUsage: boolean): (parts: readonly AnswerPart[]) => string {
  let chunk = "";
  let delta = "";
  let content = "";
  let reasoning = "";
  const usageTail = includeUsage ? `,"usage":null}\n\n` : "}\n\n";
  const openEnd = `},"logprobs":null,"finish_reason":null}]` + usageTail;

  const start = (model: string) => {
    chunk = `data: {"id":"${head.id}","object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(model)},"choices":[`;
    delta = chunk + `{"index":0,"delta":{`;
    content = delta + `"content":`;
    reasoning = delta + `"reasoning_content":`;
    return delta + `"role":"assistant","content":""` + openEnd;
  };

  return (parts) => {
    let events = "";
    for (const part of parts) {
      switch (part.type) {
        case "text":
          events += content + JSON.stringify(part.text) + openEnd;
          break;
        case "reasoning":
          events += reasoning + JSON.stringify(part.text) + openEnd;
          break;
        case "call-start":
          events += `${delta}"tool_calls":[{"index":${part.index},"id":"${part.id}","type":"function","function":{"name":${JSON.stringify(part.name)},"arguments":""}}]${openEnd}`;
          break;
        case "call-delta":
          events += `${delta}"tool_calls":[{"index":${part.index},"function":{"arguments":${JSON.stringify(part.arguments)}}}]${openEnd}`;
          break;
        case "start":
          events += start(part.model);
          break;
        case "citations":
          events += `${delta}"annotations":${JSON.stringify(part.citations.map(annotationOf))}${openEnd}`;
          break;
        case "finish":
          events += `${delta}},"logprobs":null,"finish_reason":"${finishReasons[part.reason]}"}]${usageTail}`;
          if (includeUsage) events += `${chunk}],"usage":${JSON.stringify(usageBody(part.usage))}}\n\n`;
          events += doneEvent;
      }
    }
    return events;
  };
}

/** Collects the parts of an answer into one `chat.completion`. */
export function createCompletion(head: AnswerHead): WholeAnswer {
  let model = "";
  let text = "";
  let reasoning = "";
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  const annotations: UrlCitation[] = [];
  const calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  return {
    add(parts) {
      for (const part of parts) {
        if (part.type === "text") text += part.text;
        else if (part.type === "reasoning") reasoning += part.text;
        else if (part.type === "start") model = part.model;
        else if (part.type === "finish") finish = part;
        else if (part.type === "citations") annotations.push(...part.citations.map(annotationOf));
        else if (part.type === "call-start")
          calls[part.index] = { id: part.id, type: "function", function: { name: part.name, arguments: "" } };
        else if (part.type === "call-delta") calls[part.index]!.function.arguments += part.arguments;
      }
    },
    body: () => ({
      id: head.id,
      object: "chat.completion",
      created: head.created,
      model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text === "" && calls.length > 0 ? null : text,
            refusal: null,
            ...(reasoning !== "" && { reasoning_content: reasoning }),
            ...(calls.length > 0 && { tool_calls: calls }),
            ...(annotations.length > 0 && { annotations }),
          },
          logprobs: null,
          finish_reason: finishReasons[finish?.reason ?? "other"],
        },
      ],
      usage: usageBody(finish?.usage ?? { inputTokens: 0, outputTokens: 0 }),
    }),
  };
}

function usageBody(usage: Usage): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...(usage.cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: usage.cachedTokens } }),
    ...(usage.reasoningTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    }),
  };
}
