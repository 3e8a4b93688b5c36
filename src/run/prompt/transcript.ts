import type { ModelMessage } from "../../protocol/agents/models.ts";
import { textOf } from "../../protocol/threads/items.ts";
import type { MessageBlock } from "../log/message-blocks.ts";
import { estimate } from "../log/estimate-tokens.ts";

/** A conversation as text, to be read as a whole. Of a long message only its beginning and its end are told. */
export function transcriptOf({ messages }: MessageBlock, tokensPerMessage: number): string {
  return messages.map((message) => lineOf(message, tokensPerMessage)).join("\n");
}

function lineOf(message: ModelMessage, tokens: number): string {
  switch (message.role) {
    case "tool":
      return `${message.name} ${message.isError ? "failed" : "returned"}: ${cut(message.content, tokens / 2)}`;
    case "assistant": {
      const calls = (message.calls ?? []).map(
        (call) => `Assistant calls ${call.name}: ${cut(call.arguments, tokens / 2)}`,
      );
      return [...(message.content ? [`Assistant: ${cut(message.content, tokens)}`] : []), ...calls].join("\n");
    }
    default: {
      const images =
        typeof message.content === "string" ? 0 : message.content.filter(({ type }) => type === "image").length;
      const text = textOf(typeof message.content === "string" ? message.content : [...message.content]);
      return `User: ${cut(text, tokens)}${" [image]".repeat(images)}`;
    }
  }
}

function cut(text: string, tokens: number): string {
  const plain = text.trim().replaceAll(/<(\/?)conversation>/gi, "[$1conversation]");
  const needs = estimate(plain);
  if (needs <= tokens) return plain;
  const characters = Math.floor((plain.length * tokens) / needs);
  const end = Math.floor(characters / 3);
  const parts = [
    plain.slice(0, characters - end),
    ` … (${plain.length - characters} characters left out) … `,
    plain.slice(-end),
  ];
  return parts.join("").toWellFormed();
}
