import type { ColloquyError } from "../../protocol/base/errors.ts";
import { runAwaitsModel } from "./run-errors.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import { waitingText } from "./waiting-text.ts";

/** Tracks whether a run waits for a person; a wait ends when all of its questions are answered. */
export function createWaitWatcher() {
  const questions = new Map<string, ItemOf<"question">>();
  let waiting: Extract<RunEvent, { type: "run-wait" }> | undefined;
  const over = () => {
    questions.clear();
    waiting = undefined;
  };
  return {
    over,
    watch(event: RunEvent): void {
      if (event.type === "question") questions.set(event.item.id, event.item);
      else if (event.type === "run-wait") waiting = event.reason === "client" ? undefined : event;
      else if (event.type === "run-end") over();
      else if (event.type === "decision") {
        questions.delete(event.item.body.question);
        if (questions.size === 0) waiting = undefined;
      }
    },
    /** The provider's error if the run waits for it, for clients that can't wait. */
    outage: (): ColloquyError | undefined =>
      waiting?.reason === "provider" ? runAwaitsModel(waiting.run, waiting) : undefined,
    /** Undefined if the run doesn't wait. */
    told():
      | { readonly run: string; readonly text: string; readonly questions: readonly ItemOf<"question">[] }
      | undefined {
      if (!waiting) return undefined;
      const open = [...questions.values()];
      return { run: waiting.run, text: waitingText({ ...waiting, questions: open }), questions: open };
    },
  };
}

/** Returns the run that an event belongs to. */
export function runOf(event: RunEvent): string | null {
  if ("item" in event) return event.item.runId;
  return "run" in event ? event.run : null;
}
