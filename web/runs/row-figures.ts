import type { TracedItem } from "../../src/protocol/threads/run-trace.ts";
import type { TraceRow } from "./trace-rows.ts";

/** Tokens and cost of a step, over all its tries; undefined where there are none. */
export function stepUse({ modelCalls }: TraceRow): { readonly tokens: number; readonly cost: number } | undefined {
  if (modelCalls.length === 0) return undefined;
  return {
    tokens: modelCalls.reduce((sum, call) => sum + (call.inputTokens ?? 0) + (call.outputTokens ?? 0), 0),
    cost: modelCalls.reduce((sum, call) => sum + (call.cost ?? 0), 0),
  };
}

/**
 * How long it worked: without the time for which a call waited to be allowed, or asked a person or a client. Undefined: it goes on.
 * Infinity in `workedFrom` says that it never began.
 */
export function workedMs({ from, workedFrom = from, to }: TraceRow): number | undefined {
  return to === undefined ? undefined : Math.max(0, to - Math.max(from, Math.min(workedFrom, to)));
}

/** Of a step's prompt, tokens that its provider had kept from one before. */
export function cachedTokens(answer: TracedItem | undefined): number | undefined {
  const usage = answer?.facts["usage"];
  const cached =
    typeof usage === "object" && usage !== null && "cachedTokens" in usage ? usage.cachedTokens : undefined;
  return typeof cached === "number" ? cached : undefined;
}
