import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/** What a web stream's reader does, at a fraction of its cost; one read at a time. */
export type ByteReader = {
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  readonly cancel: () => Promise<void>;
  /** Nothing more comes than what was read: the connection is free for others. */
  readonly isOver?: () => boolean;
};

/** An answer that is here whole; of a stream of events its beginning. */
export type EgressResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
} & ({ readonly bytes: Buffer<ArrayBuffer> } | { readonly reader: ByteReader });

/** A request on its way. */
export type PendingExchange = {
  readonly answer: Promise<EgressResponse>;
  /** Breaks it off, whatever it waits for; once the answer is here whole, nothing. */
  stop(reason: unknown): void;
};

export type ExchangeOptions = {
  /** Of a whole answer from its headers on; of a stream of events there is no such time. */
  readonly timeoutMs: number;
  /** Of a whole answer, or of one event. */
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  readonly late: () => Error;
  /** What a failure is told as; `isAnswered`: the answer had begun. */
  readonly failed: (error: unknown, isAnswered: boolean) => unknown;
};

/** How much of a stream is kept for who reads it, before the server has to wait. */
const maxKept = 65_536;

/**
 * One request and its answer by undici's own events: its `request` has a stream for each answer, which costs half as much
 * again as all the rest.
 */
export class EgressExchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<EgressResponse>;
  private readonly options: ExchangeOptions;
  private readonly answered: (answer: EgressResponse) => void;
  private readonly refused: (error: unknown) => void;
  private controller: Dispatcher.DispatchController | undefined;
  private stopped: { readonly reason: unknown } | undefined;
  private head: { readonly status: number; readonly headers: IncomingHttpHeaders } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStream = false;
  private readonly chunks: Buffer<ArrayBuffer>[] = [];
  private kept = 0;
  /** Of the event that has not ended yet. */
  private pending = 0;
  private tail: Buffer | undefined;
  private isEnded = false;
  private broken: { readonly error: unknown } | undefined;
  private wake: (() => void) | undefined;

  constructor(options: ExchangeOptions) {
    this.options = options;
    const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
    this.answer = promise;
    this.answered = resolve;
    this.refused = reject;
  }

  stop(reason: unknown): void {
    if (this.isEnded || this.broken || this.stopped) return;
    this.stopped = { reason };
    // One that waits for a connection has no controller yet.
    if (this.controller) this.controller.abort(reason as Error);
    else this.refused(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.stopped) controller.abort(this.stopped.reason as Error);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.head = { status, headers };
    this.isStream = /^text\/event-stream\b/i.test(String(headers["content-type"]));
    if (this.isStream) this.answered({ ...this.head, reader: this.reader() });
    else this.timer = setTimeout(() => this.end(this.options.late()), this.options.timeoutMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer<ArrayBuffer>): void {
    const { maxBytes, tooLarge } = this.options;
    if (this.broken) return;
    this.kept += chunk.length;
    if (this.isStream) this.count(chunk);
    // What makes an event too large is not given on.
    if ((this.isStream ? this.pending : this.kept) > maxBytes) return this.end(tooLarge());
    this.chunks.push(chunk);
    if (!this.isStream) return;
    if (this.kept > maxKept) controller.pause();
    this.notify();
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
    this.isEnded = true;
    if (this.isStream) this.notify();
    else if (this.head) {
      const [first, ...others] = this.chunks;
      const bytes = first && others.length === 0 ? first : Buffer.concat(this.chunks);
      this.answered({ ...this.head, bytes });
    }
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.fail(error);
  }

  private end(error: Error): void {
    this.fail(error);
    this.controller?.abort(error);
  }

  private fail(error: unknown): void {
    clearTimeout(this.timer);
    if (this.broken || this.isEnded) return;
    const told = this.stopped ? this.stopped.reason : this.options.failed(error, this.head !== undefined);
    this.broken = { error: told };
    this.refused(told);
    this.notify();
  }

  private notify(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }

  private count(chunk: Buffer): void {
    // As most servers write: a whole event at once.
    if (endsWithEvent(chunk)) {
      this.pending = 0;
      this.tail = undefined;
      return;
    }
    // The blank line that ends an event may be split between two chunks.
    const seam = Buffer.concat([this.tail ?? Buffer.alloc(0), chunk.subarray(0, 3)]);
    const end = endOfEvents(chunk);
    if (end >= 0) this.pending = chunk.length - end;
    else this.pending = (endOfEvents(seam) >= 0 ? 0 : this.pending) + chunk.length;
    this.tail = Buffer.from(chunk.subarray(-3));
  }

  private reader(): ByteReader {
    return {
      read: () =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            const value = this.chunks.shift();
            if (value) {
              this.kept -= value.length;
              if (this.kept <= maxKept) this.controller?.resume();
              resolve({ done: false, value });
            } else if (this.broken) reject(this.broken.error);
            else if (this.isEnded) resolve({ done: true });
            else this.wake = look;
          };
          look();
        }),
      cancel: async () => this.stop(new Error("it is not read any more")),
      isOver: () => this.isEnded && this.chunks.length === 0,
    };
  }
}

/** Where the last blank line is. */
function endOfEvents(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"), bytes.lastIndexOf("\r\r"));
}

const lineFeed = 10;

function endsWithEvent(bytes: Buffer): boolean {
  return bytes.at(-1) === lineFeed && bytes.at(-2) === lineFeed;
}
