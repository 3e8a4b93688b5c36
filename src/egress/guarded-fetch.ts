import { isIP } from "node:net";
import { Agent, type Dispatcher } from "undici";
import { ColloquyError, messageOf, Unavailable } from "../protocol/errors.ts";
import { type Address, addressesOf, type Resolve } from "./addresses.ts";
import { eventResponse, type EventResponse, readEvents } from "./event-reader.ts";
import { type Hop, isRedirect, nextHop, parseUrl } from "./hops.ts";
import { readWhole, wholeResponse } from "./whole-body.ts";

export type GuardedFetchOptions = {
  /** What the operator named: origins that may be asked wherever they are. All others must be on the public internet. */
  readonly origins: readonly string[];
  /** Until the headers of an answer, then once more for all of it unless it is a stream of events; 60 s when absent. */
  readonly timeoutMs?: number;
  /** Of an answer, or of one event in a stream of them; 10 MB when absent. */
  readonly maxBytes?: number;
  /** Finds the addresses of a name instead of the operating system. */
  readonly resolve?: Resolve;
};

/** The part of `fetch` that clients of protocols use; bodies are texts. */
export type FetchInit = {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
  readonly redirect?: string;
};

export type GuardedFetch = {
  /**
   * Rejects with InvalidInput (`url_refused`, `address_refused`) and Unavailable: `unreachable` means that nothing was
   * sent, `connection_lost`, `timeout` and `answer_too_large` that the request may have been done. So does the body.
   */
  readonly fetch: (url: string | URL, init?: FetchInit) => Promise<EventResponse>;
  readonly close: () => Promise<void>;
};

const connectTimeoutMs = 10_000;
const mostConnections = 128;
const mostRedirects = 5;

/**
 * `fetch` behind the guard of `guardedRequest`, for clients that keep connections and read streams of events. Every new
 * connection checks the address it goes to, so neither a redirect nor a name that changes its mind leads into our networks.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { origins, timeoutMs = 60_000, maxBytes = 10_000_000, resolve } = options;
  const agentFor = (isNamed: boolean) =>
    new Agent({
      connect: { lookup: checkedLookup({ isNamed, resolve }), timeout: connectTimeoutMs },
      connections: mostConnections,
      headersTimeout: timeoutMs,
      bodyTimeout: 0,
      allowH2: false,
    });
  const agents = { named: agentFor(true), other: agentFor(false) };

  async function exchange({ url, method, headers, body }: Hop<string>, signal: AbortSignal | null) {
    const isNamed = origins.includes(url.origin);
    // An address that stands in the URL is not looked up.
    if (!isNamed && isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) await addressesOf(url.hostname, { allow: [] });
    return agents[isNamed ? "named" : "other"].request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal,
    });
  }

  async function answerOf({ statusCode, headers, body }: Dispatcher.ResponseData, host: string): Promise<Response> {
    const tooLarge = () =>
      new Unavailable(`${host} sends more than ${maxBytes} bytes at once.`, { code: "answer_too_large" });
    const lost = (error: unknown) =>
      error instanceof ColloquyError ? error : failure(host, error, { isSent: true, timeoutMs });
    const init = { status: statusCode };
    if (/^text\/event-stream\b/i.test(String(headers["content-type"])))
      return withHeaders(eventResponse(readEvents(body, { maxBytes, tooLarge, lost }), init), headers);
    const late = () => new Unavailable(`${host} gave no whole answer within ${timeoutMs} ms.`, { code: "timeout" });
    const timer = setTimeout(() => body.destroy(late()), timeoutMs);
    try {
      return withHeaders(wholeResponse(await readWhole(body, { maxBytes, tooLarge }), init), headers);
    } catch (error) {
      throw lost(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function guardedFetch(input: string | URL, init: FetchInit = {}): Promise<Response> {
    const signal = init.signal ?? null;
    signal?.throwIfAborted();
    let hop: Hop<string> = {
      url: parseUrl(String(input)),
      method: (init.method ?? "GET").toUpperCase(),
      headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
      body: init.body === undefined || init.body === null ? null : String(init.body),
    };
    for (let hops = 0; ; hops++) {
      const { host } = hop.url;
      try {
        const answer = await exchange(hop, signal);
        const { statusCode: status, headers, body } = answer;
        const location = isRedirect(status) && init.redirect !== "manual" ? [headers["location"]].flat()[0] : undefined;
        if (location !== undefined) {
          await body.dump();
          if (init.redirect === "error" || hops === mostRedirects)
            throw new Unavailable(`${host} redirects, or redirects too often.`, { code: "too_many_redirects" });
          hop = nextHop(hop, status, location);
          continue;
        }
        return await answerOf(answer, host);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ColloquyError) throw error;
        throw failure(host, error, { isSent: !isOfConnecting(error), timeoutMs });
      }
    }
  }

  return {
    fetch: guardedFetch,
    close: async () => void (await Promise.all([agents.named.destroy(), agents.other.destroy()])),
  };
}

/** Asked by each new connection for where it is to go. */
function checkedLookup({ isNamed, resolve }: { readonly isNamed: boolean; readonly resolve: Resolve | undefined }) {
  return (
    host: string,
    { all }: { readonly all?: boolean | undefined },
    answer: (error: Error | null, address: string | Address[], family?: number) => void,
  ): void => {
    addressesOf(host, { allow: isNamed ? [host] : [], resolve }).then(
      (addresses) => (all ? answer(null, [...addresses]) : answer(null, addresses[0]!.address, addresses[0]!.family)),
      (error: Error) => answer(error, ""),
    );
  };
}

/** Surely before anything was sent; what is not listed may have been after it. */
function isOfConnecting(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "", syscall = "" } = error as { readonly code?: string; readonly syscall?: string };
  return (
    syscall === "connect" ||
    syscall === "getaddrinfo" ||
    /^(UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(
      code,
    ) ||
    (error instanceof AggregateError && error.errors.every(isOfConnecting))
  );
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

const ofConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Each set once: a Response that is made with headers copies them. */
function withHeaders(response: Response, headers: Dispatcher.ResponseData["headers"]): Response {
  for (const [name, value] of Object.entries(headers)) {
    if (ofConnection.has(name)) continue;
    if (typeof value === "string") response.headers.append(name, value);
    else for (const each of value ?? []) response.headers.append(name, each);
  }
  return response;
}
