import { Agent, type Dispatcher } from "undici";
import { ColloquyError, messageOf, Unavailable } from "../protocol/base/errors.ts";
import { addressesOf, type ResolveHost } from "./addresses.ts";
import { responseOf } from "./answer-response.ts";
import { isConnectError } from "./connect-error.ts";
import { type EgressResponse, EgressExchange, type PendingExchange } from "./exchange.ts";
import { guardedConnector } from "./guarded-connector.ts";
import { type RedirectHop, isRedirect, nextHop, parseUrl } from "./redirects.ts";

export type GuardedFetchOptions = {
  /** What the operator named: origins that may be asked wherever they are. All others must be on the public internet. */
  readonly origins: readonly string[];
  /** Until the headers of an answer, then once more for all of it unless it is a stream of events; 60 s when absent. */
  readonly timeoutMs?: number;
  /** Of an answer, or of one event in a stream of them; 10 MB when absent. */
  readonly maxBytes?: number;
  /** Addresses that are refused whatever the operator named. */
  readonly refuse?: ((address: string) => boolean) | undefined;
  /** Finds the addresses of a name instead of the operating system. */
  readonly resolve?: ResolveHost;
};

/** The part of `fetch` that clients of protocols use; bodies are texts. */
export type FetchInit = {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
  readonly redirect?: string;
};

export type GuardedPost = (
  url: URL,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => PendingExchange;

export type GuardedFetch = {
  /**
   * Rejects with InvalidInput (`url_refused`, `address_refused`) and Unavailable: `unreachable` means that nothing was
   * sent, `connection_lost`, `timeout` and `answer_too_large` that the request may have been done. So does the body.
   */
  readonly fetch: (url: string | URL, init?: FetchInit) => Promise<Response>;
  /** The same for one request that follows no redirects, at a fraction of the cost. */
  readonly post: GuardedPost;
  readonly close: () => Promise<void>;
};

const connectTimeoutMs = 10_000;
const maxConnections = 128;
const maxRedirects = 5;

/**
 * `fetch` behind the guard of `guardedRequest`, for clients that keep connections and read streams of events. Every new
 * connection checks the address it goes to, so neither a redirect nor a name that changes its mind leads into our networks.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { origins, timeoutMs = 60_000, maxBytes = 10_000_000, refuse, resolve } = options;
  const agentFor = (isNamed: boolean) =>
    new Agent({
      connect: guardedConnector((host) => addressesOf(host, { allow: isNamed ? [host] : [], refuse, resolve }), {
        timeoutMs: connectTimeoutMs,
      }),
      connections: maxConnections,
      headersTimeout: timeoutMs,
      bodyTimeout: 0,
      allowH2: false,
    });
  const agents = { named: agentFor(true), other: agentFor(false) };

  function send({ url, method, headers, body }: RedirectHop<string>): PendingExchange {
    const { host } = url;
    const exchange = new EgressExchange({
      timeoutMs,
      maxBytes,
      tooLarge: () =>
        new Unavailable(`${host} sends more than ${maxBytes} bytes at once.`, { code: "answer_too_large" }),
      late: () => new Unavailable(`${host} gave no whole answer within ${timeoutMs} ms.`, { code: "timeout" }),
      failed: (error, isAnswered) => {
        if (error instanceof ColloquyError) return error;
        return failure(host, error, { isSent: isAnswered || !isConnectError(error), timeoutMs });
      },
    });
    const request = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
    };
    const agent = origins.includes(url.origin) ? agents.named : agents.other;
    agent.dispatch(request, exchange);
    return exchange;
  }

  async function answerTo(hop: RedirectHop<string>, signal: AbortSignal | null): Promise<EgressResponse> {
    signal?.throwIfAborted();
    const sent = send(hop);
    if (!signal) return sent.answer;
    const stop = (): void => sent.stop(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      const answer = await sent.answer;
      // A stream may be broken off as long as it lasts.
      if (!("reader" in answer)) signal.removeEventListener("abort", stop);
      return answer;
    } catch (error) {
      signal.removeEventListener("abort", stop);
      throw error;
    }
  }

  async function guardedFetch(input: string | URL, init: FetchInit = {}): Promise<Response> {
    const signal = init.signal ?? null;
    let hop: RedirectHop<string> = {
      url: parseUrl(String(input)),
      method: (init.method ?? "GET").toUpperCase(),
      headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
      body: init.body === undefined || init.body === null ? null : String(init.body),
    };
    for (let hops = 0; ; hops++) {
      const answer = await answerTo(hop, signal);
      const { status, headers } = answer;
      const location = isRedirect(status) && init.redirect !== "manual" ? [headers["location"]].flat()[0] : undefined;
      if (location === undefined) return responseOf(answer);
      if ("reader" in answer) await answer.reader.cancel();
      if (init.redirect === "error" || hops === maxRedirects)
        throw new Unavailable(`${hop.url.host} redirects, or redirects too often.`, { code: "too_many_redirects" });
      hop = nextHop(hop, status, location);
    }
  }

  return {
    fetch: guardedFetch,
    post: (url, { headers, body }) => send({ url, method: "POST", headers, body }),
    close: async () => void (await Promise.all([agents.named.destroy(), agents.other.destroy()])),
  };
}

function failure(
  host: string,
  cause: unknown,
  { isSent, timeoutMs }: { readonly isSent: boolean; readonly timeoutMs: number },
): Unavailable {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "UND_ERR_HEADERS_TIMEOUT")
    return new Unavailable(`${host} gave no answer within ${timeoutMs} ms.`, { code: "timeout", cause });
  // Several addresses that all refuse make an error without a message.
  const reason = (messageOf(cause) || code).slice(0, 300);
  return isSent
    ? new Unavailable(`The connection to ${host} was lost: ${reason}`, { code: "connection_lost", cause })
    : new Unavailable(`${host} can't be reached: ${reason}`, { code: "unreachable", cause });
}
