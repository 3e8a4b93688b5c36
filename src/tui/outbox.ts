import { pause } from "../client/request.ts";
import { ColloquyError, messageOf } from "../protocol/base/errors.ts";

/** What is sent must mean the same when it is sent again: it may have arrived though nobody said so. */
export type SendMessage = () => Promise<void>;

export type Outbox = {
  /** At once, or as soon as the server is there again, in order. Throws what the server refuses. */
  readonly send: (text: string, send: SendMessage) => Promise<void>;
  readonly isEmpty: () => boolean;
};

export type OutboxOptions = {
  readonly note: (text: string) => void;
  /** Nothing waits any more. */
  readonly onEmpty: () => void;
  /** The server has been away for too long. */
  readonly onGivenUp: (error: unknown) => void;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
};

const maxKept = 100;
const longestPauseMs = 2000;

/** Keeps what a person says while the server is away. */
export function createOutbox({ note, onEmpty, onGivenUp, patienceMs, signal }: OutboxOptions): Outbox {
  const kept: { readonly text: string; readonly send: SendMessage }[] = [];

  async function deliver(): Promise<void> {
    const since = Date.now();
    for (let wait = 250; kept.length > 0; wait = Math.min(wait * 2, longestPauseMs)) {
      await pause(wait, signal);
      if (signal.aborted) return;
      try {
        for (let [next] = kept; next; [next] = kept) {
          await next.send().catch((error: unknown) => {
            if (isAway(error)) throw error;
            note(`The server rejected "${next!.text}": ${messageOf(error)}`);
          });
          kept.shift();
        }
      } catch (error) {
        if (Date.now() - since > patienceMs) return onGivenUp(error);
      }
    }
    note("The server is back; your messages were sent.");
    onEmpty();
  }

  signal.addEventListener("abort", () => {
    if (kept.length > 0) note(`Not sent: ${kept.map(({ text }) => text).join("; ")}`);
  });
  return {
    isEmpty: () => kept.length === 0,
    async send(text, send) {
      const isFirst = kept.length === 0;
      if (isFirst) {
        try {
          return await send();
        } catch (error) {
          if (!isAway(error)) throw error;
          note(`${messageOf(error)}. Will be sent when the server is back: ${text}`);
        }
      } else if (kept.length === maxKept)
        throw new Error(`Not queued, ${maxKept} messages are already waiting: ${text}`);
      else note(`Will be sent when the server is back: ${text}`);
      kept.push({ text, send });
      if (isFirst) void deliver();
    },
  };
}

/** It can't be reached, or what stands before it says so. */
function isAway(error: unknown): boolean {
  return error instanceof ColloquyError && [502, 503, 504].includes(error.status);
}
