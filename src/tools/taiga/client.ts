import { setTimeout as sleep } from "node:timers/promises";
import type { GuardedFetch } from "../../egress/guarded-fetch.ts";
import { ColloquyError, messageOf } from "../../protocol/base/errors.ts";
import { failureOf, TaigaFailure } from "./failure.ts";
import type { TaigaSession } from "./session.ts";

export type TaigaQuery = Readonly<Record<string, string | number | boolean | undefined>>;
export type TaigaRequest = {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query?: TaigaQuery;
  readonly body?: object;
  readonly signal: AbortSignal;
};

export type TaigaPageRequest = Pick<TaigaRequest, "path" | "query" | "signal">;

/** Taiga's REST API. Each throws TaigaFailure, or the signal's reason. */
export type TaigaApi = {
  /** The answer's JSON; undefined for none. */
  request(session: TaigaSession, request: TaigaRequest): Promise<unknown>;
  /** Page by page, as long as `take` wants more of them. False: there are more than anybody should look through. */
  pages(
    session: TaigaSession,
    request: TaigaPageRequest,
    take: (rows: readonly unknown[]) => boolean,
  ): Promise<boolean>;
  /** Without a login. */
  post(path: string, body: object): Promise<unknown>;
};

/** Whoever has to wait longer than this is told so instead. */
const longestThrottleMs = 8000;
const pageSize = 100;
const maxPages = 50;
/** For an answer to a question. A write is given longer: one that comes late is better than one that was not heard. */
const readMs = 8000;
/** Nothing was sent, or nothing could have been changed. */
const harmless = ["unreachable", "address_refused", "url_refused"];

export function createTaigaClient(url: string, fetch: GuardedFetch["fetch"]): TaigaApi {
  const base = `${url.replace(/(?<!\/)\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;

  type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

  async function exchange(request: TaigaRequest, authorization?: string): Promise<Answer> {
    const { method = "GET", path, query = {}, body, signal } = request;
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const patience = method === "GET" ? AbortSignal.timeout(readMs) : undefined;
    try {
      const response = await fetch(`${base}${path}${search.size > 0 ? `?${search}` : ""}`, {
        method,
        headers: {
          accept: "application/json",
          ...(body ? { "content-type": "application/json" } : {}),
          ...(authorization === undefined ? {} : { authorization }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: patience ? AbortSignal.any([signal, patience]) : signal,
        // Another address would get the login.
        redirect: "error",
      });
      return { status: response.status, headers: response.headers, body: jsonIn(await response.text()) };
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof ColloquyError ? error.code : "";
      const inDoubt = method !== "GET" && !harmless.includes(code);
      const silent = code === "timeout";
      const why = patience?.aborted ? `no answer within ${readMs / 1000} s` : messageOf(error);
      throw new TaigaFailure(0, `Taiga can't be asked: ${why}`, { inDoubt, silent, cause: error });
    }
  }

  /** Waits where Taiga asks for it. A request that was throttled was not looked at, so a write may be sent again. */
  async function unthrottled(request: TaigaRequest, authorization?: string): Promise<Answer> {
    for (let waited = 0; ;) {
      const answer = await exchange(request, authorization);
      if (answer.status !== 429) return answer;
      const seconds = Number(answer.headers.get("x-throttle-wait-seconds") ?? answer.headers.get("retry-after") ?? 1);
      const ms = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 1000;
      if (waited + ms > longestThrottleMs)
        throw new TaigaFailure(429, `Taiga accepts no requests for ${Math.ceil(ms / 1000)} seconds; nothing was done.`);
      waited += ms;
      await sleep(ms, undefined, { signal: request.signal });
    }
  }

  async function answered(session: TaigaSession, request: TaigaRequest): Promise<Answer> {
    const header = await session.header();
    let answer = await unthrottled(request, header);
    if (answer.status === 401 && (await session.renew(header)))
      answer = await unthrottled(request, await session.header());
    if (answer.status >= 400) throw failureOf(answer.status, answer.body);
    return answer;
  }

  return {
    request: async (session, request) => (await answered(session, request)).body,
    async pages(session, { path, query, signal }, take) {
      for (let page = 1; page <= maxPages; page++) {
        const { body, headers } = await answered(session, {
          path,
          query: { ...query, page, page_size: pageSize },
          signal,
        });
        if (!Array.isArray(body)) throw new TaigaFailure(0, "Taiga: its answer is not a list.");
        if (!take(body) || headers.get("x-pagination-next") === null) return true;
      }
      return false;
    },
    async post(path, body) {
      const answer = await unthrottled({ method: "POST", path, body, signal: AbortSignal.timeout(10_000) });
      if (answer.status >= 400) throw failureOf(answer.status, answer.body);
      return answer.body;
    },
  };
}

/** A proxy's page of HTML is a text like any other. */
function jsonIn(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
