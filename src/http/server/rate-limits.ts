import type { FastifyReply } from "fastify";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { SharedCounts } from "../../store/metering/shared-counts.ts";

/** Counts requests per caller in windows of a minute, and reports the rest in the response headers. */
export type RateLimits = { take(reply: FastifyReply, who: readonly string[]): void };

const windowMs = 60_000;
const maxCounted = 10_000;

/**
 * Creates the limiter; 0 per minute is no limit. `take` throws 429 `rate_limited` if any of the given callers has none left. With
 * `shared`, requests to other nodes count too, a second later, in the receiving node's current window.
 */
export function createRateLimits(perMinute: number, shared?: Pick<SharedCounts, "add" | "hear" | "keyOf">): RateLimits {
  const counts = new Map<string, number>();
  let endsAt = 0;
  /** One window for all, so that nothing has to be swept. */
  const count = (key: string, more: number): number => {
    const now = performance.now();
    if (now >= endsAt) {
      counts.clear();
      endsAt = now + windowMs;
    }
    const used = (counts.get(key) ?? 0) + more;
    counts.set(key, used);
    if (counts.size > maxCounted) counts.delete(counts.keys().next().value!);
    return used;
  };
  if (perMinute > 0) shared?.hear(count);
  return {
    take(reply, who) {
      if (perMinute === 0) return;
      const used = Math.max(...who.map((name) => count(shared?.keyOf(name) ?? name, 1)));
      for (const name of who) shared?.add(name);
      const seconds = Math.max(1, Math.ceil((endsAt - performance.now()) / 1000));
      reply.header("ratelimit-limit", perMinute);
      reply.header("ratelimit-remaining", Math.max(0, perMinute - used));
      reply.header("ratelimit-reset", seconds);
      if (used > perMinute)
        throw new ColloquyError(
          "rate_limited",
          429,
          `More than ${perMinute} requests in a minute; wait ${seconds} s.`,
          {
            retryAfterSeconds: seconds,
          },
        );
    },
  };
}
