import { setTimeout as sleep } from "node:timers/promises";
import { ColloquyError } from "../src/protocol/base/errors.ts";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import type { Node } from "./cluster.ts";
import type { Random } from "./random.ts";
import { createStreamCheck, type StreamCheck } from "./stream-check.ts";

export type Following = {
  readonly runId: string;
  /** Where to begin. */
  readonly cursor: string;
  readonly onEvent?: (event: RunEvent) => void;
  readonly signal: AbortSignal;
};

/**
 * Follows a run to its end, each time for a moment only and then on another node, from the cursor of the last event: in the
 * middle of messages, as often as not.
 */
export async function followAnywhere(
  nodes: readonly Node[],
  random: Random,
  following: Following,
): Promise<StreamCheck> {
  const check = createStreamCheck();
  let { cursor } = following;
  while (!following.signal.aborted) {
    const moment = AbortSignal.any([following.signal, AbortSignal.timeout(random.between(100, 4000))]);
    check.begun.push(cursor);
    try {
      for await (const { event, cursor: after } of random
        .pick(nodes)
        .client.follow(following.runId, { cursor, signal: moment, patienceMs: 0 })) {
        cursor = after;
        check.hear(event);
        following.onEvent?.(event);
        if (event.type === "run-end") return check;
      }
    } catch (error) {
      if (error instanceof ColloquyError && error.status < 500) throw error;
    }
    await sleep(random.between(10, 200));
  }
  return check;
}
