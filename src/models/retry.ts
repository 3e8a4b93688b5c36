import { setTimeout as sleep } from "node:timers/promises";
import type { ModelError } from "../protocol/errors.ts";

export type RetryPolicy = {
  /** Further tries after the first. */
  readonly retries: number;
  /** The wait before the first retry; doubles each time. */
  readonly baseMs: number;
  /** A provider that wants a longer wait than this has failed. */
  readonly longestMs: number;
};

export const defaultRetryPolicy: RetryPolicy = { retries: 2, baseMs: 400, longestMs: 30_000 };

/** While another model stands by: no waiting for a server that is away, and no long waits for one that is busy. */
export function impatient(policy: RetryPolicy): RetryPolicy {
  return { ...policy, longestMs: Math.min(policy.longestMs, 2000) };
}

/** Milliseconds until the next try; undefined: do not try again. `tries` counts those already made. */
export function delayBeforeRetry(error: ModelError, tries: number, policy: RetryPolicy): number | undefined {
  if (!error.retryable || tries > policy.retries) return undefined;
  const { retryAfterSeconds } = error.detail;
  if (retryAfterSeconds !== undefined) {
    const asked = retryAfterSeconds * 1000;
    return asked <= policy.longestMs ? asked : undefined;
  }
  const backoff = policy.baseMs * 2 ** (tries - 1);
  return Math.min(policy.longestMs, backoff * (0.75 + Math.random() / 2));
}

/** Waits; ends early and quietly when the signal fires. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
