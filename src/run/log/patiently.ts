import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import { isDatabaseFault } from "../../store/driver/sql-state.ts";

const firstWaitMs = 100;
const longestWaitMs = 1000;

export type OutageRetryOptions = {
  /** Fires when the run is not this process's to write any more, its lease included. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly log: Log;
};

/**
 * Goes on trying while the database is away. `tries`: those before this one, any of which may have been committed though its
 * answer never came, so an attempt must find that or do the same again.
 */
export async function patiently<Value>(
  { signal, runId, log }: OutageRetryOptions,
  attempt: (tries: number) => Promise<Value>,
): Promise<Value> {
  const began = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      const value = await attempt(tries);
      if (tries > 0)
        log.info({ runId, waitedMs: Math.round(performance.now() - began) }, "the database is accepting writes again");
      return value;
    } catch (error) {
      if (signal.aborted || !isDatabaseFault(error)) throw error;
      if (tries === 0)
        log.warn({ runId, error: messageOf(error) }, "the database does not accept the writes of a run; retrying");
      await sleep(Math.min(firstWaitMs * 2 ** tries, longestWaitMs), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
