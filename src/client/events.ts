import { ColloquyError, messageOf, Unavailable } from "../protocol/base/errors.ts";
import type { RunEvent } from "../protocol/threads/events.ts";
import { pause, ask, type ServerAccess } from "./request.ts";

import { createSseParser } from "./sse.ts";

/** An event, and the cursor after it. */
export type EventWithCursor<Event = RunEvent> = { readonly event: Event; readonly cursor: string };

export type FollowOptions = {
  /** Cursor to start from; default: the beginning. */
  readonly cursor?: string;
  readonly signal?: AbortSignal;
  /** How long the server may be unavailable before following fails, in milliseconds; default 60,000. */
  readonly patienceMs?: number;
  /** Called when the connection is lost, and when it is back. */
  readonly onConnection?: (isConnected: boolean) => void;
};

/** The server sends at least a comment every 15 s, so a longer silence is a lost connection. */
const silenceMs = 45_000;
const longestPauseMs = 5000;

/**
 * Follows an event stream of the native API. Reconnects from the last cursor after connection errors, so no event is
 * missed or repeated. Ends when the server has no more events or the signal fires. Throws the
 * server's error, or Unavailable if the server stays unreachable.
 */
export async function* followEvents<Event extends { readonly type: string } = RunEvent>(
  server: ServerAccess,
  path: string,
  options: FollowOptions = {},
): AsyncGenerator<EventWithCursor<Event>> {
  const { signal, patienceMs = 60_000, onConnection } = options;
  let { cursor } = options;
  let heardAt = Date.now();
  let isConnected = true;
  for (let wait = 250; !signal?.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
    try {
      for await (const followed of connect<Event>(server, path, { cursor, signal })) {
        if (followed === "over") return;
        wait = 250;
        heardAt = Date.now();
        if (!isConnected) onConnection?.((isConnected = true));
        if (followed === "alive") continue;
        ({ cursor } = followed);
        yield followed;
        if (followed.event.type === "run-end" && path.startsWith("/api/runs/")) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      const refused = error instanceof ColloquyError && error.status < 500;
      if (refused || Date.now() - heardAt > patienceMs) throw error;
      if (isConnected) onConnection?.((isConnected = false));
    }
    await pause(wait, signal);
  }
}

/** One connection's events; "over" when the server has no more for this cursor, "alive" for any sign of life. */
async function* connect<Event>(
  server: ServerAccess,
  path: string,
  { cursor, signal }: FollowOptions,
): AsyncGenerator<EventWithCursor<Event> | "over" | "alive"> {
  const silence = new AbortController();
  let heardAt = Date.now();
  const timer = setInterval(() => Date.now() - heardAt > silenceMs && silence.abort(), silenceMs / 9);
  try {
    const response = await ask(server, path, {
      headers: { accept: "text/event-stream", ...(cursor !== undefined && { "last-event-id": cursor }) },
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    if (response.status === 204) {
      yield "over";
      return;
    }
    yield "alive";
    const parse = createSseParser();
    const decoder = new TextDecoder();
    for await (const bytes of piecesOf(response)) {
      heardAt = Date.now();
      yield "alive";
      for (const { data, id } of parse(decoder.decode(bytes, { stream: true })))
        // Events that are not in the log have no ID.
        yield { event: JSON.parse(data) as Event, cursor: id ?? cursor ?? "0" };
    }
  } catch (error) {
    if (error instanceof ColloquyError) throw error;
    throw new Unavailable(`the event stream broke off: ${messageOf(error)}`, { cause: error });
  } finally {
    clearInterval(timer);
  }
}

/** Iterates over a body; not every browser supports this natively. */
async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return;
      yield piece.value;
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}
