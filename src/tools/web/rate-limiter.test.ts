import assert from "node:assert/strict";
import { test } from "node:test";
import { createRateLimiter } from "./rate-limiter.ts";

test("whoever leaves at the moment of its turn takes nobody else's place", async () => {
  const never = new AbortController().signal;
  // Between the end of one and the beginning of the next lie some steps, in each of which it may leave.
  for (let steps = 0; steps < 12; steps++) {
    const inTurn = createRateLimiter({ gapMs: 0, atOnce: 1 });
    const leaver = new AbortController();
    const first = Promise.withResolvers<void>();
    const done: string[] = [];
    const all = [
      inTurn("lane", { signal: never }, () => first.promise),
      inTurn("lane", { signal: leaver.signal }, async () => void done.push("leaver")).catch(() => {}),
      inTurn("lane", { signal: never }, async () => void done.push("last")),
    ];
    first.resolve();
    for (let step = 0; step < steps; step++) await undefined;
    leaver.abort();
    await Promise.all(all);
    assert.equal(done.at(-1), "last", `after ${steps} steps`);
  }
});
