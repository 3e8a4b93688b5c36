import { setTimeout as sleep } from "node:timers/promises";
import { Unavailable } from "../../protocol/base/errors.ts";

export type PaceOptions = {
  /** Between the beginnings of two requests of one lane. */
  readonly gapMs: number;
  /** Requests of one lane at the same time. */
  readonly atOnce: number;
  readonly maxWaiting?: number;
};

export type RateLimitSlot = {
  readonly signal: AbortSignal;
  /** If whoever is asked wants a longer one. */
  readonly gapMs?: number | undefined;
};

/**
 * Does some work when it is its turn in its lane: not too many at once, and not too soon after one another. Throws
 * Unavailable `busy` when too many wait, the signal's reason, and what the work throws.
 */
export type RateLimiter = <Value>(lane: string, turn: RateLimitSlot, work: () => Promise<Value>) => Promise<Value>;

type ProviderQueue = { active: number; nextAt: number; readonly waiting: (() => void)[] };

const usualWaiting = 100;
/** Beyond this, lanes that nobody is in are forgotten. */
const maxLanes = 500;

export function createRateLimiter({ gapMs, atOnce, maxWaiting = usualWaiting }: PaceOptions): RateLimiter {
  const lanes = new Map<string, ProviderQueue>();

  function laneOf(name: string): ProviderQueue {
    const known = lanes.get(name);
    if (known) return known;
    if (lanes.size >= maxLanes)
      for (const [other, { active, nextAt }] of lanes)
        if (active === 0 && nextAt <= performance.now()) lanes.delete(other);
    const lane = { active: 0, nextAt: 0, waiting: [] };
    lanes.set(name, lane);
    return lane;
  }

  return async (name, { signal, gapMs: wanted = 0 }, work) => {
    signal.throwIfAborted();
    const lane = laneOf(name);
    if (lane.active < atOnce) lane.active++;
    else if (lane.waiting.length < maxWaiting) await handedOver(lane, signal);
    else throw new Unavailable(`Too many requests wait for ${name} already; try again later.`, { code: "busy" });
    try {
      signal.throwIfAborted();
      const now = performance.now();
      const waitMs = lane.nextAt - now;
      lane.nextAt = Math.max(now, lane.nextAt) + Math.max(gapMs, wanted);
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else lane.active--;
    }
  };
}

/** Resolves when somebody who is done gives their place. */
async function handedOver(lane: ProviderQueue, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => {
    const at = lane.waiting.indexOf(resolve);
    // Its place was given to it just now: it sees the signal then, and gives the place on.
    if (at < 0) return;
    lane.waiting.splice(at, 1);
    reject(signal.reason as Error);
  };
  lane.waiting.push(resolve);
  signal.addEventListener("abort", leave, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
