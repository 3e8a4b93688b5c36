import type { ColloquyError } from "../../protocol/base/errors.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import { runCancelled, runFailed } from "./run-errors.ts";
import { createWaitWatcher, runOf } from "./watch-waits.ts";

/** How a run came out, as far as one answer goes. `text`: what it waits for, for a person. */
export type RunEnding =
  | { readonly status: "done" }
  /** `outage`: for whoever holds the connection and can't wait with it. */
  | { readonly status: "waiting"; readonly text: string; readonly outage?: ColloquyError }
  | { readonly status: "failed" | "cancelled"; readonly error: ColloquyError };

/** The run's own events of a batch, and its ending once there is one. */
export type RunBatch = { readonly own: readonly RunEvent[]; readonly ending?: RunEnding };

/** Picks one run out of the events of its thread. A `pending` run is behind another one, which may wait for a person. */
export function createRunWatch(run: string, pending: boolean): (events: readonly RunEvent[]) => RunBatch {
  const wait = createWaitWatcher();
  let behind = pending;
  return (events) => {
    const own: RunEvent[] = [];
    for (const event of events) {
      const isOwn = runOf(event) === run;
      if (isOwn && behind) {
        behind = false;
        wait.over();
      }
      if (isOwn || behind) wait.watch(event);
      if (!isOwn) continue;
      own.push(event);
      if (event.type === "run-end") return { own, ending: endingOf(event) };
    }
    const waiting = wait.told()?.text;
    if (waiting === undefined) return { own };
    const text = behind ? `Your message is queued, as run ${run}, behind another one.\n${waiting}` : waiting;
    const outage = wait.outage();
    return { own, ending: { status: "waiting", text, ...(outage ? { outage } : {}) } };
  };
}

function endingOf({ run, status, error }: Extract<RunEvent, { type: "run-end" }>): RunEnding {
  if (status === "done") return { status };
  return { status, error: status === "cancelled" ? runCancelled(run, error) : runFailed(run, error) };
}
