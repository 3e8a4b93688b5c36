import type { EventWithCursor, FollowOptions } from "../../src/client/events.ts";
import { createListeners } from "../browser/listeners.ts";

/** A tab that one only switches away from for a moment keeps its connection. */
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

type TabStreamOptions<Event> = {
  readonly follow: (options: FollowOptions) => AsyncGenerator<EventWithCursor<Event>>;
  readonly options: FollowOptions & { readonly signal: AbortSignal };
  /** Asked after each event: whether something is at work that is followed in a hidden tab too. */
  readonly isNeeded: () => boolean;
};

/**
 * Follows an event stream, except in a hidden tab in which nothing is at work: browsers open six connections to a server over
 * HTTP/1.1, and a stream takes one for good. Goes on from its cursor when the tab is shown again.
 */
export async function* followInTab<Event>({
  follow,
  options,
  isNeeded,
}: TabStreamOptions<Event>): AsyncGenerator<EventWithCursor<Event>> {
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
      for await (const followed of follow({ ...options, ...(cursor !== undefined && { cursor }), signal: within })) {
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
