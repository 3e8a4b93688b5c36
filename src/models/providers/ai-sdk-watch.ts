import type { ModelError } from "../../protocol/base/errors.ts";
import type { Timeouts } from "../transport/adapter.ts";
import { failure, settingOf } from "../transport/upstream-error.ts";
import type { Target } from "../transport/upstream-error.ts";

/** Ends waiting on our signal or on a time-out, also for packages that do not heed the signal they get. */
export class StreamDeadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #limits: Timeouts;
  readonly #stop = () => this.#controller.abort();
  #timer: NodeJS.Timeout;
  #late: { readonly words: string; readonly setting: string } | undefined;

  constructor(outer: AbortSignal, limits: Timeouts) {
    this.#outer = outer;
    this.#limits = limits;
    this.#timer = this.#timeout(limits.connectMs + limits.firstPartMs, "firstPartMs");
    outer.addEventListener("abort", this.#stop, { once: true });
    if (outer.aborted) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async over<Value>(work: PromiseLike<Value>): Promise<Value> {
    const { promise, reject } = Promise.withResolvers<never>();
    const stop = () => reject(new Error("stopped"));
    if (this.signal.aborted) stop();
    this.signal.addEventListener("abort", stop, { once: true });
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.signal.removeEventListener("abort", stop);
    }
  }

  firstPartCame(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#timeout(this.#limits.idleMs, "idleMs");
  }

  /** Why it was stopped by us, if it was. */
  stopped(target: Target): ModelError | undefined {
    if (this.#late) return failure("timeout", target, `${this.#late.words}: ${settingOf(target, this.#late.setting)}`);
    return this.#outer.aborted ? failure("aborted", target, "stopped by us") : undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#stop);
    this.#controller.abort();
  }

  #timeout(ms: number, setting: keyof Timeouts): NodeJS.Timeout {
    return setTimeout(() => {
      this.#late = { words: `nothing came for ${ms} ms`, setting: `timeouts.${setting}` };
      this.#stop();
    }, ms);
  }
}
