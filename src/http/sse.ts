import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

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
  /** The reader left, was cut off, or `end` was called. */
  readonly onClose?: () => void;
  /** Makes the last events when the server stops; without it the stream is left to end by itself. */
  readonly farewell?: () => string;
};

/** All open event streams of this process. */
export type SseStreams = {
  /** Takes the response over from Fastify, keeping the headers set so far. */
  open(reply: FastifyReply, opening?: SseOpening): SseStream;
  count(): number;
  /** Says farewell where there is one, and stops the keep-alive. */
  stop(): void;
};

export type SseLimits = {
  /** Bytes a reader may leave unread, besides the largest write so far, before it is cut off. */
  readonly unsentBytes: number;
  /** Unsent bytes above which `drained` makes a writer wait. */
  readonly waitBytes: number;
  readonly keepAliveMs: number;
};

const defaultLimits: SseLimits = { unsentBytes: 1024 * 1024, waitBytes: 256 * 1024, keepAliveMs: 15_000 };

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // nginx would collect the events otherwise
  "x-accel-buffering": "no",
};

type OpenStream = SseStream & {
  readonly farewell: SseOpening["farewell"];
  /** One beat of the shared timer. */
  beat(): void;
};

/** Event streams straight on the Node response; one timer serves the keep-alive of all of them. */
export function createSseStreams(limits: Partial<SseLimits> = {}): SseStreams {
  const bounds = { ...defaultLimits, ...limits };
  const open = new Set<OpenStream>();
  const timer = setInterval(() => {
    for (const stream of open) stream.beat();
  }, bounds.keepAliveMs).unref();

  return {
    open(reply, opening = {}) {
      reply.hijack();
      const { raw } = reply;
      const headers: OutgoingHttpHeaders = {
        ...(reply.getHeaders() as OutgoingHttpHeaders),
        ...streamHeaders,
        ...opening.headers,
      };
      raw.writeHead(200, headers);
      const stream = openStream(raw, bounds, opening.farewell);
      open.add(stream);
      whenClosed(raw, () => {
        open.delete(stream);
        opening.onClose?.();
      });
      return stream;
    },
    count: () => open.size,
    stop() {
      clearInterval(timer);
      for (const stream of open) if (stream.farewell) stream.end(stream.farewell());
    },
  };
}

/** Calls back once the response is over, also if that was before; never at once. */
export function whenClosed(raw: ServerResponse, callback: () => void): void {
  if (raw.destroyed) queueMicrotask(callback);
  else raw.once("close", callback);
}

function openStream(raw: ServerResponse, bounds: SseLimits, farewell: SseOpening["farewell"]): OpenStream {
  let quiet = false;
  let unsentAtLastBeat = 0;
  /** One event may be larger than the bound (a message with a picture), and would never get through otherwise. */
  let largestWrite = 0;
  return {
    farewell,
    get closed() {
      return raw.destroyed || raw.writableEnded;
    },
    write(events) {
      if (raw.destroyed || raw.writableEnded) return;
      quiet = false;
      const before = raw.writableLength;
      const sentAll = raw.write(events);
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
      raw.end(events);
    },
    beat() {
      const unsent = raw.writableLength;
      // Nothing left since the last beat: the reader stalls, and whoever waits for `drained` would wait for ever.
      if (unsent > 0 && unsent >= unsentAtLastBeat && unsentAtLastBeat > 0) raw.destroy();
      else if (quiet && !raw.writableEnded) raw.write(": keep-alive\n\n");
      unsentAtLastBeat = raw.writableLength;
      quiet = true;
    },
  };
}
