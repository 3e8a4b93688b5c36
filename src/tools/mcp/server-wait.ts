import { Unavailable } from "../../protocol/base/errors.ts";
import type { WaitOptions } from "../../protocol/agents/tools.ts";

/** How long somebody waits for a server, and how they hear of it. */
export type ServerWaitOptions = WaitOptions & { readonly until: number };

/** Rejects when the time is over or nobody waits any more; the work goes on. */
export async function withinTimeLimit<Value>(
  work: Promise<Value>,
  { until, signal, what }: { readonly until: number; readonly signal: AbortSignal; readonly what: string },
): Promise<Value> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Unavailable(what)), Math.max(0, until - performance.now()));
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
