import { Unavailable } from "../../protocol/errors.ts";

/** Does the work when its turn has come. Throws Unavailable when too many wait, and the signal's reason while it waits. */
export type Gate = <Value>(work: () => Promise<Value>, signal: AbortSignal) => Promise<Value>;

/** Lets a few in at a time and the others wait in a bounded queue. */
export function createGate({ atOnce, mostWaiting }: { readonly atOnce: number; readonly mostWaiting: number }): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        waiting.delete(enter);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      waiting.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  return async (work, signal) => {
    signal.throwIfAborted();
    if (inside < atOnce) inside++;
    else if (waiting.size >= mostWaiting)
      throw new Unavailable("Too many people log in right now; try again.", { code: "busy", retryAfterSeconds: 5 });
    // Whoever leaves hands over the place.
    else await turn(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else inside--;
    }
  };
}
