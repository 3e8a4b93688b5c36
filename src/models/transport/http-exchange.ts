import type { Dispatcher } from "undici";
import type { ModelError, ModelErrorKind } from "../../protocol/base/errors.ts";
import type { Timeouts } from "./adapter.ts";
import { failure, settingOf } from "./upstream-error.ts";
import type { Target } from "./upstream-error.ts";

export type ModelHttpRequest = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly timeouts: Timeouts;
  readonly target: Target;
};

/** A reader this far behind makes the provider wait. */
const highWater = 1 << 20;
/** How long an answer that is complete may take to end its body, so that the connection can be used again. */
const drainMs = 1000;

/**
 * One POST and its answer, read by hand from undici's dispatcher: no streams in between.
 * `head` and `read` throw only ModelError. `close` is always called, and closes the socket unless all was read.
 */
export class HttpExchange {
  readonly #post: ModelHttpRequest;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#fail(failure("aborted", this.#post.target, "stopped by us"));
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};
  #chunks: Buffer[] = [];
  #queued = 0;
  #ended = false;
  #idle = false;
  #draining = false;
  #failure: ModelError | undefined;
  #wake: (() => void) | undefined;
  #timer: NodeJS.Timeout;

  constructor(dispatcher: Dispatcher, post: ModelHttpRequest, signal: AbortSignal) {
    this.#post = post;
    this.#signal = signal;
    const { connectMs } = post.timeouts;
    this.#timer = setTimeout(() => this.#fail(this.#late("no connection", connectMs, "connectMs")), connectMs);
    signal.addEventListener("abort", this.#onAbort, { once: true });
    dispatcher.dispatch(
      {
        origin: post.url.origin,
        path: post.url.pathname + post.url.search,
        method: "POST",
        headers: post.headers,
        body: post.body,
        // Ours are exact and know the phases.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart: (controller) => this.#connected(controller),
        onResponseStart: (_controller, status, headers) => {
          // An interim answer; the real one follows.
          if (status < 200) return;
          this.#status = status;
          this.#headers = headers;
          this.#notify();
        },
        onResponseData: (_controller, chunk) => this.#received(chunk),
        onResponseEnd: () => {
          this.#ended = true;
          if (this.#draining) clearTimeout(this.#timer);
          this.#notify();
        },
        onResponseError: (_controller, error) => this.#broken(error),
      },
    );
  }

  /** The status line and headers. */
  async head(): Promise<{ status: number; header(name: string): string | undefined }> {
    while (this.#status === 0) await this.#news();
    return {
      status: this.#status,
      header: (name) => {
        const value = this.#headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
    };
  }

  /** Everything that came since the last read; undefined at the end. Not an async function, as it is the hot path. */
  read(): Promise<readonly Buffer[] | undefined> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.#chunks.length > 0) resolve(this.#take());
        else if (this.#ended) resolve(undefined);
        else if (this.#failure) reject(this.#failure);
        else this.#wake = look;
      };
      look();
    });
  }

  #take(): readonly Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    if (this.#queued > highWater) this.#controller?.resume();
    this.#queued = 0;
    return chunks;
  }

  /** The whole body as text; what is longer than `limit` bytes is cut off. */
  async text(limit: number): Promise<{ text: string; complete: boolean }> {
    const { bytes, complete } = await this.bytes(limit);
    return { text: bytes.toString("utf8"), complete };
  }

  /** The same as it came. */
  async bytes(limit: number): Promise<{ bytes: Buffer; complete: boolean }> {
    const all: Buffer[] = [];
    let size = 0;
    for (let chunks = await this.read(); chunks; chunks = await this.read()) {
      for (const chunk of chunks) {
        all.push(chunk);
        size += chunk.length;
      }
      if (size > limit) return { bytes: Buffer.concat(all).subarray(0, limit), complete: false };
    }
    return { bytes: Buffer.concat(all), complete: true };
  }

  /** From now on the idle time-out counts. */
  firstPartCame(): void {
    const { idleMs } = this.#post.timeouts;
    this.#idle = true;
    this.#limitTo(idleMs, () => this.#late("nothing more", idleMs, "idleMs"));
  }

  /** `answered`: the answer is complete, only the end of the body may be missing. */
  close(answered: boolean): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#ended || this.#failure) return;
    if (answered) {
      this.#draining = true;
      this.#controller?.resume();
      this.#timer = setTimeout(() => this.#abort(), drainMs).unref();
    } else this.#fail(this.#error("aborted", "no longer wanted"));
  }

  #connected(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) return this.#abort();
    const { firstPartMs } = this.#post.timeouts;
    this.#limitTo(firstPartMs, () => this.#late("no first part", firstPartMs, "firstPartMs"));
  }

  #received(chunk: Buffer): void {
    if (this.#draining) return;
    this.#chunks.push(chunk);
    const before = this.#queued;
    this.#queued += chunk.length;
    if (this.#queued > highWater && before <= highWater) this.#controller?.pause();
    if (this.#idle) this.#timer.refresh();
    this.#notify();
  }

  #limitTo(ms: number, error: () => ModelError): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // A reader that is slow is not the provider's fault.
      if (this.#wake) this.#fail(error());
      else this.#timer.refresh();
    }, ms);
  }

  #news(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#wake = () => (this.#failure ? reject(this.#failure) : resolve());
    });
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #fail(error: ModelError): void {
    this.#failure ??= error;
    clearTimeout(this.#timer);
    this.#abort();
    this.#notify();
  }

  #abort(): void {
    if (!this.#ended) this.#controller?.abort(this.#failure ?? new Error("no longer wanted"));
  }

  #broken(error: Error): void {
    this.#failure ??= this.#connectionError(error);
    clearTimeout(this.#timer);
    this.#notify();
  }

  #late(what: string, ms: number, setting: keyof Timeouts): ModelError {
    const name = settingOf(this.#post.target, `timeouts.${setting}`);
    return this.#error("timeout", `${what} within ${ms} ms: ${name}`);
  }

  #error(kind: ModelErrorKind, words: string, cause?: unknown): ModelError {
    return failure(kind, this.#post.target, words, { cause });
  }

  #connectionError(error: Error): ModelError {
    const code = "code" in error ? String(error.code) : "";
    const { host } = this.#post.url;
    // Waiting does not mend it.
    if (code === "address_refused")
      return failure("unreachable", this.#post.target, error.message, { cause: error, retryable: false });
    if (code.startsWith("HPE_")) return this.#error("garbage", `the answer is not HTTP (${error.message})`, error);
    if (this.#status !== 0)
      return this.#error("cut", `the connection was lost in the middle of the answer (${error.message})`, error);
    if (code === "ECONNREFUSED")
      return this.#error("unreachable", `nothing listens at ${host}. Start the model server or change baseUrl.`, error);
    // A kept connection that the other side had just given up, or a server that died over the request.
    if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE") {
      return this.#error("cut", `the connection was closed before the answer began (${error.message})`, error);
    }
    if (code === "ENOTFOUND" || code === "EAI_AGAIN")
      return this.#error(
        "unreachable",
        `the host name ${host} can't be resolved. Check baseUrl and the network.`,
        error,
      );
    return this.#error("unreachable", `no connection to ${host} (${error.message || code})`, error);
  }
}
