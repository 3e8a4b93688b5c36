import type { FastifyReply } from "fastify";
import { ColloquyError } from "../../protocol/errors.ts";

/** Counts requests of whoever it is told, in windows of a minute, and tells how many are left in the answer's headers. */
export type RateLimits = { take(reply: FastifyReply, who: readonly string[]): void };

const windowMs = 60_000;
const mostCounted = 10_000;

/** In this process; 0 a minute is no limit. `take` throws 429 `rate_limited` once one of those who ask has none left. */
export function createRateLimits(perMinute: number): RateLimits {
  const counts = new Map<string, number>();
  let endsAt = 0;
  return {
    take(reply, who) {
      if (perMinute === 0) return;
      const now = performance.now();
      // One window for all, so that nothing has to be swept.
      if (now >= endsAt) {
        counts.clear();
        endsAt = now + windowMs;
      }
      const used = Math.max(...who.map((name) => (counts.get(name) ?? 0) + 1));
      for (const name of who) counts.set(name, (counts.get(name) ?? 0) + 1);
      if (counts.size > mostCounted) counts.delete(counts.keys().next().value!);
      const seconds = Math.ceil((endsAt - now) / 1000);
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
