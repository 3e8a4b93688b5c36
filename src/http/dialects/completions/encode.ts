import { randomUUID } from "node:crypto";
import type { FinishReason, Usage } from "../../../protocol/agents/models.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";
import type { AnswerWire } from "../../answers/answer-wire.ts";
import { openAiError } from "../../shapes/openai-error.ts";

const finishReasons: Record<FinishReason, string> = {
  stop: "stop",
  length: "length",
  calls: "stop",
  filter: "content_filter",
  other: "stop",
};

/** One answer of this dialect: only what is said has a place in it, neither thoughts nor calls. */
export function completionWire(includeUsage: boolean): AnswerWire {
  const id = "cmpl-" + randomUUID().replaceAll("-", "");
  const created = Math.floor(Date.now() / 1000);
  let model = "";
  const choice = (text: string, finish: string | null) => ({ index: 0, text, logprobs: null, finish_reason: finish });
  const body = (choices: readonly object[], usage?: object | null) => ({
    id,
    object: "text_completion",
    created,
    model,
    choices,
    ...(usage !== undefined && { usage }),
  });
  // Everything around a text stands once, for each token only the text itself is written.
  let before = "";
  const after = `,"logprobs":null,"finish_reason":null}]${includeUsage ? ',"usage":null' : ""}}\n\n`;

  const eventsOf = (part: AnswerPart): string => {
    switch (part.type) {
      case "start":
        ({ model } = part);
        before = `data: {"id":"${id}","object":"text_completion","created":${created},"model":${JSON.stringify(model)},"choices":[{"index":0,"text":`;
        return "";
      case "text":
        return before + JSON.stringify(part.text) + after;
      case "finish": {
        const last = body([choice("", finishReasons[part.reason])], includeUsage ? null : undefined);
        const counted = includeUsage ? `data: ${JSON.stringify(body([], usageBody(part.usage)))}\n\n` : "";
        return `data: ${JSON.stringify(last)}\n\n${counted}data: [DONE]\n\n`;
      }
      default:
        return "";
    }
  };

  return {
    encode: (parts) => parts.map(eventsOf).join(""),
    breakOff: (error) => `data: ${JSON.stringify(openAiError(error))}\n\n`,
    whole() {
      let text = "";
      let end: Extract<AnswerPart, { type: "finish" }> | undefined;
      return {
        add(parts) {
          for (const part of parts) {
            if (part.type === "start") ({ model } = part);
            else if (part.type === "text") text += part.text;
            else if (part.type === "finish") end = part;
          }
        },
        body: () =>
          body(
            [choice(text, finishReasons[end?.reason ?? "other"])],
            usageBody(end?.usage ?? { inputTokens: 0, outputTokens: 0 }),
          ),
      };
    },
  };
}

function usageBody({ inputTokens, outputTokens }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}
