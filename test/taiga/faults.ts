import type { SeenRequest } from "./seen-request.ts";
import { isWrite } from "./throttle.ts";

export type Match = {
  /** `write` is each of POST, PUT, PATCH and DELETE, signing in left out. */
  readonly method?: "write" | "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`: the whole path, or what it must match. */
  readonly path?: string | RegExp;
  readonly username?: string;
};

export type Fault =
  /** The connection breaks and nothing was done. */
  | "drop-before"
  /** It was done, and the connection breaks before the answer. */
  | "drop-after"
  /** Every access token of this user is over: 401 until a refresh. */
  | "expired"
  /** A status of a broken server, 500 if none is named; `after` it was done. */
  | { readonly kind: "error"; readonly status?: number; readonly after?: boolean }
  /** 200 and a page of HTML, as of a proxy; `after` it was done. */
  | { readonly kind: "nonsense"; readonly after?: boolean }
  | { readonly kind: "throttled"; readonly seconds?: number }
  /** It takes so long before anything is done. */
  | { readonly kind: "delay"; readonly ms: number };

/** Which of the requests that match: so many are let by first, then so many are taken (one). */
export type Which = { readonly skip?: number; readonly times?: number };

export type Pause = {
  /** The request stands. */
  readonly reached: Promise<SeenRequest>;
  /** Goes on. What was asked is done even if the client has gone: the request had arrived. */
  release(): void;
  /** Breaks the connection instead. Paused before, nothing was done. */
  drop(): void;
};

type HeldPause = {
  readonly when: "before" | "after";
  readonly reach: (request: SeenRequest) => void;
  readonly over: Promise<"release" | "drop">;
};

type Rule = { readonly match: Match; skip: number; times: number } & (
  | { readonly fault: Fault; readonly pause?: undefined }
  | { readonly pause: HeldPause; readonly fault?: undefined }
);

/** What a test has ordered for requests to come. */
export class Faults {
  #rules: Rule[] = [];
  readonly #letGo = new Set<() => void>();

  add(match: Match, fault: Fault, { skip = 0, times = 1 }: Which = {}): void {
    this.#rules.push({ match, fault, skip, times });
  }

  addPause(match: Match, { when = "before", skip = 0 }: { when?: "before" | "after"; skip?: number } = {}): Pause {
    const { promise: reached, resolve: reach } = Promise.withResolvers<SeenRequest>();
    const { promise: over, resolve: end } = Promise.withResolvers<"release" | "drop">();
    this.#rules.push({ match, skip, times: 1, pause: { when, reach, over } });
    this.#letGo.add(() => end("drop"));
    return { reached, release: () => end("release"), drop: () => end("drop") };
  }

  /** The first order that is meant for this request; it is used up by that. */
  take(request: SeenRequest): Pick<Rule, "fault" | "pause"> | undefined {
    for (const rule of this.#rules) {
      if (rule.times === 0 || !matches(rule.match, request)) continue;
      if (rule.skip > 0) {
        rule.skip--;
        continue;
      }
      rule.times--;
      return rule;
    }
    return undefined;
  }

  /** Forgets all orders; what is paused breaks off. */
  clear(): void {
    this.#rules = [];
    for (const letGo of this.#letGo) letGo();
    this.#letGo.clear();
  }
}

function matches({ method, path, username }: Match, request: SeenRequest): boolean {
  if (username !== undefined && request.username !== username) return false;
  if (typeof path === "string" && request.path !== path) return false;
  if (path instanceof RegExp && !path.test(request.path)) return false;
  if (method === "write") return isWrite(request.method) && !request.path.startsWith("/auth");
  return method === undefined || request.method === method;
}
