import type { ModelPart } from "../../../protocol/agents/models.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";
import type { AnswerWire } from "../../answers/answer-wire.ts";
import { anthropicError } from "../../shapes/anthropic-error.ts";
import { emptyMessage, signature, stopOf, usageOf } from "./answer-message.ts";
import { type CallPart, createCallOrder } from "./call-order.ts";
import { createWholeMessage } from "./whole-message.ts";

/** One answer of this dialect. */
export function messageWire(id: string): AnswerWire {
  return {
    keepAlive: ping,
    encode: createEventEncoder(id),
    breakOff: (error) => eventText("error", anthropicError(error)),
    whole: () => createWholeMessage(id),
  };
}

const ping = eventText("ping", { type: "ping" });

function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

type Block = "text" | "thinking" | "tool_use";

const blockStarts = {
  text: `{"type":"text","text":""}`,
  thinking: `{"type":"thinking","thinking":"","signature":""}`,
} as const;
const deltas: Record<Block, string> = {
  text: `{"type":"text_delta","text":`,
  thinking: `{"type":"thinking_delta","thinking":`,
  tool_use: `{"type":"input_json_delta","partial_json":`,
};

/**
 * Turns a batch of parts into the text of its SSE events. Blocks stand one after the other: what is of another kind than the
 * open one ends it. This runs for every token: all but the token's own text is made once, at the beginning of its block.
 */
function createEventEncoder(id: string): (parts: readonly AnswerPart[]) => string {
  let open: Block | undefined;
  let index = -1;
  let delta = "";
  const calls = createCallOrder();

  const close = (): string => {
    if (open === undefined) return "";
    const signed =
      open === "thinking"
        ? eventText("content_block_delta", {
            type: "content_block_delta",
            index,
            delta: { type: "signature_delta", signature },
          })
        : "";
    open = undefined;
    return `${signed}event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
  };
  const begin = (block: Block, start: string): string => {
    const ended = close();
    open = block;
    index++;
    delta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${deltas[block]}`;
    return `${ended}event: content_block_start\ndata: {"type":"content_block_start","index":${index},"content_block":${start}}\n\n`;
  };
  const say = (block: "text" | "thinking", text: string): string =>
    (open === block ? "" : begin(block, blockStarts[block])) + delta + JSON.stringify(text) + "}}\n\n";
  const call = (part: CallPart): string =>
    part.type === "call-start"
      ? begin("tool_use", JSON.stringify({ type: "tool_use", id: part.id, name: part.name, input: {} }))
      : delta + JSON.stringify(part.arguments) + "}}\n\n";

  return (parts) => {
    let events = "";
    for (const part of parts) {
      switch (part.type) {
        case "text":
          events += say("text", part.text);
          break;
        case "reasoning":
          events += say("thinking", part.text);
          break;
        case "call-start":
        case "call-delta":
          for (const next of calls.take(part)) events += call(next);
          break;
        case "start":
          events += eventText("message_start", { type: "message_start", message: emptyMessage(id, part.model) }) + ping;
          break;
        case "finish":
          for (const next of calls.rest()) events += call(next);
          events += close() + endOf(part);
      }
    }
    return events;
  };
}

function endOf(end: Extract<ModelPart, { type: "finish" }>): string {
  return (
    eventText("message_delta", { type: "message_delta", delta: stopOf(end), usage: usageOf(end.usage) }) +
    eventText("message_stop", { type: "message_stop" })
  );
}
