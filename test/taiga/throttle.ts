import { throttled } from "./errors.ts";

export type Rate = {
  readonly requests: number;
  readonly seconds: number;
  /** Both when left out; each is counted for itself, as in Taiga's `user-read` and `user-write`. */
  readonly scope?: "read" | "write";
};

/** So many requests of one person in so many seconds; the window slides. */
export class Throttle {
  readonly #rate: Rate;
  readonly #history = new Map<string, number[]>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Throws the 429 with the seconds to wait. A refused request is not counted. */
  count(who: string, method: string): void {
    const { requests, seconds, scope: wanted } = this.#rate;
    const scope = isWrite(method) ? "write" : "read";
    if (wanted !== undefined && wanted !== scope) return;
    const now = performance.now();
    const key = `${scope} ${who}`;
    const recent = (this.#history.get(key) ?? []).filter((at) => at > now - seconds * 1000);
    this.#history.set(key, recent);
    const oldest = recent[0];
    if (oldest !== undefined && recent.length >= requests) throw throttled(seconds - (now - oldest) / 1000);
    recent.push(now);
  }
}

export function isWrite(method: string): boolean {
  return ["POST", "PUT", "PATCH", "DELETE"].includes(method);
}
