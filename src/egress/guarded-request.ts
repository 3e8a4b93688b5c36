import type { IncomingHttpHeaders } from "node:http";
import { Client, errors } from "undici";
import { ColloquyError, InvalidInput, messageOf, Unavailable } from "../protocol/base/errors.ts";
import { addressesOf, lookupOf, type ResolveHost } from "./addresses.ts";
import { type RedirectHop, isRedirect, nextHop, parseUrl, portOf } from "./redirects.ts";

export type GuardedOptions = {
  /** `GET` when absent. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** For everything together, redirects too; 30 s when absent. */
  readonly timeoutMs?: number;
  /** Of the answer's body; 5 MB when absent. */
  readonly maxBytes?: number;
  /** Hosts, addresses and ranges that may be asked though they are not on the public internet; or who says so for each hop. */
  readonly allow?: readonly string[] | ((url: URL) => readonly string[]);
  /** Addresses that are not asked though `allow` names them. */
  readonly refuse?: (address: string, port: number) => boolean;
  /** How many are followed; 5 when absent. With 0 a redirect is an answer like any other. */
  readonly maxRedirects?: number;
  /** Finds the addresses of a name instead of the operating system. */
  readonly resolve?: ResolveHost;
};

export type GuardedAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Where it came from, after redirects. */
  readonly url: string;
};

/**
 * One HTTP request to an address that somebody else chose (a model, a page, a configuration). Connects only to addresses
 * that were checked, so neither a redirect nor a name that changes its mind leads into the server's own networks. Uses no
 * proxy. Any status is an answer. Throws InvalidInput (`url_refused`, `address_refused`), Unavailable (`unreachable`,
 * `timeout`, `answer_too_large`, `too_many_redirects`), or the signal's reason. No message has more of a URL than its host.
 */
export async function guardedRequest(url: string, options: GuardedOptions = {}): Promise<GuardedAnswer> {
  const { timeoutMs = 30_000, maxRedirects = 5 } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  let ask: RedirectHop<string | Buffer> = {
    url: parseUrl(url),
    method: options.method ?? "GET",
    headers: options.headers ?? {},
    body: options.body ?? null,
  };
  try {
    for (let hop = 0; ; hop++) {
      const { location, ...answer } = await exchange(ask, options, signal);
      if (location === undefined || maxRedirects === 0) return answer;
      if (hop === maxRedirects)
        throw new Unavailable(`${ask.url.host} redirects more than ${maxRedirects} times.`, {
          code: "too_many_redirects",
        });
      ask = nextHop(ask, answer.status, location);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    const { host } = ask.url;
    if (timeout.aborted)
      throw new Unavailable(`${host} gave no whole answer within ${timeoutMs} ms.`, { code: "timeout", cause: error });
    if (error instanceof ColloquyError) throw error;
    throw new Unavailable(`${host} can't be asked: ${messageOf(error)}`, { code: "unreachable", cause: error });
  }
}

async function exchange(
  { url, method, headers, body }: RedirectHop<string | Buffer>,
  { maxBytes = 5_000_000, allow = [], refuse, resolve }: GuardedOptions,
  signal: AbortSignal,
): Promise<GuardedAnswer & { readonly location: string | undefined }> {
  const named = typeof allow === "function" ? allow(url) : allow;
  // The resolver can't be stopped; whoever waits for it can.
  const addresses = await orAborted(addressesOf(url.hostname, { allow: named, resolve }), signal);
  const port = portOf(url);
  if (refuse && addresses.some(({ address }) => refuse(address, port)))
    throw new InvalidInput(`${url.host} leads to this server itself, so it is not asked.`, { code: "address_refused" });
  const client = new Client(url.origin, {
    connect: { lookup: lookupOf(addresses), timeout: 0 },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxBytes,
  });
  try {
    const path = url.pathname + url.search;
    const answer = await client.request({ path, method, headers, body, signal, reset: true });
    const status = answer.statusCode;
    const location = isRedirect(status) ? [answer.headers.location].flat()[0] : undefined;
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status, headers: answer.headers, body: bytes, url: url.href, location };
  } catch (error) {
    if (error instanceof errors.ResponseExceededMaxSizeError)
      throw new Unavailable(`${url.host} answers with more than ${maxBytes} bytes.`, {
        code: "answer_too_large",
        cause: error,
      });
    throw error;
  } finally {
    await client.destroy();
  }
}

async function orAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
