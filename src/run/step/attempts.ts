import { setTimeout as sleep } from "node:timers/promises";
import { ModelError } from "../../protocol/base/errors.ts";
import type { Retry } from "../../protocol/threads/events.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { attemptOf } from "../log/standing.ts";
import { liveStep, type LiveStep } from "../log/deltas.ts";
import { delayOf, retryOf } from "./outage.ts";
import { emptyAnswer } from "./read-answer.ts";
import type { RunWork } from "./work.ts";

export type Attempts = {
  readonly step: string;
  readonly answer: ModelAnswer;
  /** Whether followers hear of those that fail. */
  readonly isTold: boolean;
  /** Its failure is told to whoever asked within the run, which does not wait for the model then. */
  readonly isNested?: boolean;
  /** The last attempt at the same step by this process, with another prompt. */
  readonly after?: number | undefined;
  /** Instead of the run's own, if it fires before that. */
  readonly signal?: AbortSignal;
};

/**
 * Reads an answer, anew after what may pass, for as long as the policy says. What an attempt had brought before it failed is
 * withdrawn: half of an answer is none. What it cost stays in the answer's records.
 */
export async function retryAnswer(
  work: RunWork,
  { step, answer, isTold, isNested = false, after, signal = work.signal }: Attempts,
  read: (of: LiveStep) => Promise<void>,
): Promise<void> {
  const { runId, threadId, epoch } = work.owner;
  const before = after === undefined ? 0 : after + 1 - attemptOf(epoch);
  const liveAt = (tries: number) => liveStep({ runId, threadId, step, attempt: attemptOf(epoch, before + tries) });
  let waitedMs = 0;
  let long = 0;
  for (let tries = 1; ; tries++) {
    const of = liveAt(tries - 1);
    answer.attempt = of.attempt;
    try {
      return await read(of);
    } catch (error) {
      if (!(error instanceof ModelError) || signal.aborted) throw error;
      const hadBegun = answer.text + answer.reasoning !== "" || answer.calls.length > 0;
      withdraw(answer);
      if (hadBegun || error.kind === "timeout") long++;
      const delay = delayOf({ error, tries, waitedMs, long, hadBegun, isNested }, work);
      if (delay === undefined) throw error;
      waitedMs += delay;
      if (isTold) tellRestart(work, liveAt(tries), retryOf(work, error, delay));
      await sleep(delay, undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }
}

/** Announces the next attempt `of`, after one that failed. */
function tellRestart({ runtime }: RunWork, of: LiveStep, retry: Retry): void {
  runtime.feeds.restart(of, retry);
  runtime.deltas.restart(of, retry);
}

function withdraw(answer: ModelAnswer): void {
  const { records, attempt } = answer;
  Object.assign(answer, emptyAnswer(), { records, attempt });
}
