import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ColloquyError, AccessDenied } from "../../protocol/base/errors.ts";

/** One open event stream. Writing to a closed one does nothing. */
export type SseStream = {
  readonly closed: boolean;
  /** Writes whole events (each ends with a blank line) at once. */
  write(events: string): void;
  /** When much is unsent: resolves once it has left or the stream is closed. Otherwise undefined, so nobody waits. */
  drained(): Promise<void> | undefined;
  /** Writes the last events, if any, and closes. */
  end(events?: string): void;
};

export type SseOpening = {
  readonly headers?: OutgoingHttpHeaders;
  /** What is sent when nothing was for long; a comment when absent. */
  readonly keepAlive?: string;
  /** The reader left, was cut off, or `end` was called. */
  readonly onClose?: () => void;
  /** Makes the last events when the server stops; without it the stream is left to end by itself. */
  readonly farewell?: () => string;
  /** Makes the last events when the reader may not read on; an event `denied` when absent. */
  readonly refusal?: (error: AccessDenied) => string;
};

/** All open event streams of this process. */
export type SseStreams = {
  /**
   * Counts a stream against the user's limit until its connection closes. Throws 429 `too_many_streams` if the limit is
   * reached, so it is called before any work starts whose result would be streamed.
   */
  admit(reply: FastifyReply, userId: string): void;
  /** Takes the response over from Fastify, keeping the headers set so far. */
  open(reply: FastifyReply, opening?: SseOpening): SseStream;
  count(): number;
  /** Calls back when the server stops, for a response that waits for something that continues without it. */
  whenStopped(raw: ServerResponse, callback: () => void): void;
  /** Whether the response is registered with `whenStopped`, so that a stop does not wait for it. */
  mayEnd(raw: ServerResponse): boolean;
  /** Runs the callbacks of `whenStopped`, which write each stream's `farewell`, and stops the timers. */
  stop(): void;
};

export type SseLimits = {
  /** Bytes a reader may leave unread, besides the largest write so far, before it is cut off. */
  readonly unsentBytes: number;
  /** Unsent bytes above which `drained` makes a writer wait. */
  readonly waitBytes: number;
  readonly keepAliveMs: number;
  /**
   * A reader is cut off when no unsent byte has moved for this long (at most twice as long). Shorter values would cut off slow
   * readers, whose bytes move in jumps as large as the kernel's buffer.
   */
  readonly stalledMs: number;
  readonly recheckMs: number;
  /** Streams that one user may have open on this node; 0: any number. */
  readonly perUser: number;
};

export type SseOptions = Partial<SseLimits> & {
  /** Throws AccessDenied if the caller may no longer read; called every `recheckMs` for each open stream. */
  readonly mayStay?: (request: FastifyRequest) => Promise<unknown>;
};

const defaultLimits: SseLimits = {
  unsentBytes: 1024 * 1024,
  waitBytes: 256 * 1024,
  keepAliveMs: 15_000,
  stalledMs: 120_000,
  recheckMs: 30_000,
  perUser: 1000,
};

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // nginx would collect the events otherwise
  "x-accel-buffering": "no",
};

type OpenStream = SseStream & {
  readonly opening: SseOpening;
  readonly request: FastifyRequest;
  /** Called by the shared timer: keeps the connection alive, and cuts off a stalled reader. */
  beat(): void;
};

/** Event streams straight on the Node response; one timer serves the keep-alive of all of them. */
export function createSseStreams({ mayStay, ...limits }: SseOptions = {}): SseStreams {
  const bounds = { ...defaultLimits, ...limits };
  const open = new Set<OpenStream>();
  const streamsOf = new Map<string, number>();
  /** Called at a stop, for each response that must not be waited for. */
  const stopCallbacks = new Map<ServerResponse, () => void>();
  let isStopped = false;
  const whenStopped = (raw: ServerResponse, callback: () => void) => {
    // A request accepted before the stop: its stream may first send what it has already.
    if (isStopped) return void setImmediate(callback);
    stopCallbacks.set(raw, callback);
    whenClosed(raw, () => stopCallbacks.delete(raw));
  };
  const timers = [
    setInterval(() => {
      for (const stream of open) stream.beat();
    }, bounds.keepAliveMs),
  ];
  if (mayStay) timers.push(setInterval(recheckingAll(open, mayStay), bounds.recheckMs));
  for (const timer of timers) timer.unref();

  return {
    admit({ raw }, userId) {
      if (bounds.perUser === 0) return;
      const before = streamsOf.get(userId) ?? 0;
      if (before >= bounds.perUser) throw tooMany(bounds.perUser);
      streamsOf.set(userId, before + 1);
      whenClosed(raw, () => {
        const left = streamsOf.get(userId)! - 1;
        if (left > 0) streamsOf.set(userId, left);
        else streamsOf.delete(userId);
      });
    },
    open(reply, opening = {}) {
      reply.hijack();
      const { raw } = reply;
      const headers: OutgoingHttpHeaders = {
        ...(reply.getHeaders() as OutgoingHttpHeaders),
        ...streamHeaders,
        ...opening.headers,
      };
      raw.writeHead(200, headers);
      const stream = openStream(reply, bounds, opening);
      open.add(stream);
      const { farewell } = opening;
      if (farewell) whenStopped(raw, () => stream.end(farewell()));
      whenClosed(raw, () => {
        open.delete(stream);
        opening.onClose?.();
      });
      return stream;
    },
    count: () => open.size,
    whenStopped,
    mayEnd: (raw) => stopCallbacks.has(raw),
    stop() {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
      for (const callback of stopCallbacks.values()) callback();
    },
  };
}

function tooMany(perUser: number): ColloquyError {
  return new ColloquyError(
    "too_many_streams",
    429,
    `No more than ${perUser} event streams of one user may be open here at once (server.streamsPerUser). Close some, such as ` +
      "tabs of the page, then try again.",
    { retryAfterSeconds: 5 },
  );
}

/** Returns a timer callback that rechecks all streams; it does nothing while the previous round is still running. */
function recheckingAll(open: ReadonlySet<OpenStream>, mayStay: NonNullable<SseOptions["mayStay"]>): () => void {
  let busy = false;
  return () => {
    if (busy) return;
    busy = true;
    void (async () => {
      for (const stream of open) await recheck(stream, mayStay);
    })().finally(() => {
      busy = false;
    });
  };
}

async function recheck(stream: OpenStream, mayStay: NonNullable<SseOptions["mayStay"]>): Promise<void> {
  try {
    await mayStay(stream.request);
  } catch (error) {
    // Any other failure says nothing about access; the next round asks again.
    if (!(error instanceof AccessDenied)) return;
    const { refusal = denied } = stream.opening;
    stream.end(refusal(error));
  }
}

function denied({ code, message }: AccessDenied): string {
  return `event: denied\ndata: ${JSON.stringify({ error: { code, message } })}\n\n`;
}

/** Calls back once the response is closed, also if it is closed already; never synchronously. */
export function whenClosed(raw: ServerResponse, callback: () => void): void {
  if (raw.destroyed) queueMicrotask(callback);
  else raw.once("close", callback);
}

/**
 * Frames each write as one HTTP chunk. Node's own framing makes four pieces of it, which costs a fifth more CPU per event.
 * HTTP/1.0 readers get no chunks.
 */
function chunksOf(raw: ServerResponse): (events: string, isLast?: boolean) => string {
  if (!raw.chunkedEncoding) return (events) => events;
  raw.chunkedEncoding = false;
  return (events, isLast = false) => {
    const chunk = events === "" ? "" : `${Buffer.byteLength(events).toString(16)}\r\n${events}\r\n`;
    return isLast ? `${chunk}0\r\n\r\n` : chunk;
  };
}

function openStream({ raw, request }: FastifyReply, bounds: SseLimits, opening: SseOpening): OpenStream {
  let quiet = false;
  const frame = chunksOf(raw);
  /** One event may be larger than the bound (a message with a picture), and would never get through otherwise. */
  let largestWrite = 0;
  // Node lets a time-out pass while a write makes progress. Of a write that is not finished nothing else tells.
  raw.setTimeout(bounds.stalledMs, () => {
    if (raw.writableLength > 0) raw.destroy();
  });
  return {
    opening,
    request,
    get closed() {
      return raw.destroyed || raw.writableEnded;
    },
    write(events) {
      if (raw.destroyed || raw.writableEnded) return;
      quiet = false;
      const before = raw.writableLength;
      const sentAll = raw.write(frame(events));
      largestWrite = Math.max(largestWrite, raw.writableLength - before);
      if (!sentAll && raw.writableLength > bounds.unsentBytes + largestWrite) raw.destroy();
    },
    drained() {
      if (raw.writableLength < bounds.waitBytes || raw.destroyed || raw.writableEnded) return undefined;
      return new Promise((resolve) => {
        const done = () => {
          raw.off("drain", done).off("close", done);
          resolve();
        };
        raw.on("drain", done).on("close", done);
      });
    },
    end(events) {
      if (raw.destroyed || raw.writableEnded) return;
      raw.end(frame(events ?? "", true));
    },
    beat() {
      if (quiet && raw.writableLength === 0 && !raw.writableEnded)
        raw.write(frame(opening.keepAlive ?? ": keep-alive\n\n"));
      quiet = true;
    },
  };
}

/** Fires when the connection is over: whoever asked waits no more. */
export function closedSignal({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController();
  whenClosed(raw, () => closed.abort());
  return closed.signal;
}
