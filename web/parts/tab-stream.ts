import type { EventWithCursor } from "../../src/client/events.ts";
import { createListeners } from "../browser/listeners.ts";
import { follow, type StreamOptions } from "../stream/follow.ts";
import type { Subject } from "../stream/stream-messages.ts";

/** A tab that one only switches away from for a moment goes on following. */
const graceMs = 5000;

/** A tab that is opened behind the others was never seen. */
let isUnseen = document.hidden;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = createListeners();

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  const settle = () => {
    isUnseen = document.hidden;
    listeners.tell();
  };
  if (document.hidden) timer = setTimeout(settle, graceMs);
  else settle();
});

type TabStreamOptions = {
  readonly subject: Subject;
  readonly options: StreamOptions;
  /** Asked after each event: whether something is at work that is followed in a hidden tab too. */
  readonly isNeeded: () => boolean;
};

/**
 * Follows a subject, except in a hidden tab in which nothing is at work: it need not be told what nobody sees, and where each tab
 * has a connection of its own, browsers open six over HTTP/1.1. Goes on from its cursor when the tab is shown again.
 */
export async function* followInTab<Event>({
  subject,
  options,
  isNeeded,
}: TabStreamOptions): AsyncGenerator<EventWithCursor<Event>> {
  const { signal } = options;
  let { cursor } = options;
  while (!signal.aborted) {
    if (isUnseen && !isNeeded()) {
      await nextChange(signal);
      continue;
    }
    const connection = new AbortController();
    const rest = () => {
      if (isUnseen && !isNeeded()) connection.abort();
    };
    const stopListening = listeners.listen(rest);
    try {
      const within = AbortSignal.any([signal, connection.signal]);
      const from = { ...options, ...(cursor !== undefined && { cursor }), signal: within };
      for await (const followed of follow<Event>(subject, from)) {
        ({ cursor } = followed);
        yield followed;
        rest();
      }
    } finally {
      stopListening();
    }
    if (!connection.signal.aborted) return;
  }
}

/** Until the tab is seen, or unseen for the grace. */
function nextChange(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stopListening();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const stopListening = listeners.listen(end);
    signal.addEventListener("abort", end);
  });
}
