import type { FinishReason, Usage } from "../../../protocol/agents/models.ts";

const stopReasons: Record<FinishReason, string> = {
  stop: "end_turn",
  length: "max_tokens",
  calls: "tool_use",
  filter: "refusal",
  other: "end_turn",
};

/** Nobody checks it: thinking that comes back is not read. Clients keep no thinking without one. */
export const signature = "colloquy";

export function stopOf({ reason, stopSequence }: { readonly reason: FinishReason; readonly stopSequence?: string }) {
  if (stopSequence !== undefined) return { stop_reason: "stop_sequence", stop_sequence: stopSequence };
  return { stop_reason: stopReasons[reason], stop_sequence: null };
}

export function emptyMessage(id: string, model: string) {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf({ inputTokens: 0, outputTokens: 0 }),
  };
}

/** Tokens from a cache count apart on this wire. */
export function usageOf({ inputTokens, outputTokens, cachedTokens = 0 }: Usage) {
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
  };
}
