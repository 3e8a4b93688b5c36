import { setTimeout as sleep } from "node:timers/promises";
import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import { type GuardedOptions, guardedRequest } from "../../egress/guarded-request.ts";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export type ProviderRequest<Answer> = {
  /** As people know it. */
  readonly provider: string;
  readonly url: URL;
  readonly method?: GuardedOptions["method"];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly schema: z.ZodType<Answer>;
  /** What to do about such an answer, as the end of a sentence; undefined: nothing special is known of it. */
  readonly advice: (refusal: ProviderRefusal) => string | undefined;
};

export type ProviderRefusal = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

export type ProviderRequestOptions = {
  readonly pace: RateLimiter;
  readonly signal: AbortSignal;
  /** The first pause before another try; it doubles. */
  readonly pauseMs?: number;
  /** For one try. */
  readonly timeoutMs?: number;
};

const usualTimeoutMs = 20_000;
const maxBytes = 5_000_000;
const maxTries = 3;
const usualPauseMs = 500;
const longestPauseMs = 10_000;
const maxDetail = 200;

/**
 * One question to a search provider, in its turn. Tried again, a few times, where it says that it has too much to do or
 * fails (429, 5xx), and never else. Throws Unavailable `search_failed` that says what to do.
 */
export async function askProvider<Answer>(
  request: ProviderRequest<Answer>,
  { pace, signal, pauseMs = usualPauseMs, timeoutMs = usualTimeoutMs }: ProviderRequestOptions,
): Promise<Answer> {
  const { provider, url, schema, advice, body, headers = {}, method = "GET" } = request;
  const ask = () =>
    guardedRequest(url.href, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The operator named it, so it may be anywhere; and its key goes nowhere else.
      allow: [url.hostname],
      maxRedirects: 0,
      timeoutMs,
      maxBytes,
      signal,
    });
  for (let tries = 1; ; tries++) {
    const { status, headers: told, body: bytes } = await pace(provider, { signal }, ask);
    const answer = bytes.toString();
    if (status === 200) return read(answer, { provider, schema });
    const refusal = { status, headers: told, body: answer };
    const wait = pauseAfter(told, pauseMs * 2 ** (tries - 1));
    if (isPassing(status) && tries < maxTries && wait <= longestPauseMs) {
      await sleep(wait, undefined, { signal });
      continue;
    }
    throw failed(
      `${provider} refused the search (HTTP ${status})${detailOf(refusal)}`,
      advice(refusal) ?? redirection(refusal),
    );
  }
}

function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

function pauseAfter(headers: IncomingHttpHeaders, usual: number): number {
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.max(seconds * 1000, usual) : usual;
}

function read<Answer>(
  text: string,
  { provider, schema }: Pick<ProviderRequest<Answer>, "provider" | "schema">,
): Answer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw failed(`${provider} answered with something that is no JSON`, "look whether its address is right", { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw failed(`${provider} answered with something that is no list of results`, "look whether its address is right");
}

/** It is not followed: the key would go along. */
function redirection({ status }: ProviderRefusal): string | undefined {
  return status >= 300 && status < 400 ? "it redirects elsewhere: set its address to where it is now" : undefined;
}

/** What it says itself, if it says it in a short sentence. */
function detailOf({ body }: ProviderRefusal): string {
  const [, said] = /"(?:error|message|detail)"\s*:\s*"((?:[^"\\]|\\.){1,400})"/.exec(body.slice(0, 10_000)) ?? [];
  return said === undefined ? "" : `: ${said.slice(0, maxDetail)}`;
}

function failed(what: string, advice: string | undefined, options?: ErrorOptions): Unavailable {
  const text = what.replace(/(?<![.\s])[.\s]+$/, "");
  return new Unavailable(
    advice === undefined ? `${text}.` : `${text}. ${advice[0]!.toUpperCase()}${advice.slice(1)}.`,
    {
      code: "search_failed",
      ...options,
    },
  );
}
