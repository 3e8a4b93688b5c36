import { ModelError } from "../../protocol/base/errors.ts";
import type { ModelErrorKind } from "../../protocol/base/errors.ts";
import { isPromptTooLong, contextWindowIn } from "./window-errors.ts";
import { maskSecrets } from "./mask-secrets.ts";

/** Which model and address an error speaks of; `id`: under which its settings stand. */
export type Target = {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string;
};

/** What somebody may have to change. */
export function settingOf({ id }: Target, name: string): string {
  return `${name} of the model "${id}" (in colloquy.yaml, or Administration, Models)`;
}

type Details = {
  cause?: unknown;
  upstreamStatus?: number;
  retryable?: boolean;
  retryAfterSeconds?: number;
  contextTokens?: number;
};

/** A ModelError whose message names model, endpoint and cause. */
export function failure(kind: ModelErrorKind, target: Target, cause: string, details?: Details): ModelError {
  return new ModelError(kind, `Model "${target.model}" at ${target.endpoint}: ${cause}`, {
    ...details,
    server: { provider: target.provider, model: target.model, host: URL.parse(target.endpoint)?.host },
  });
}

/** Turns an answer that is not 200 into an error. `text` is the body, already bounded. */
export function statusFailure(target: Target, status: number, text: string, retryAfter?: string): ModelError {
  // Some providers repeat the key that they refuse.
  const said = maskSecrets(messageInBody(text));
  const details = {
    upstreamStatus: status,
    retryAfterSeconds: retryAfter === undefined ? undefined : secondsOfRetryAfter(retryAfter),
    // What the provider itself said, apart from our words around it.
    cause: new Error(said),
  };
  const kind = kindOfStatus(status, said, text);
  return failure(kind, target, explain(target, status, said), { ...details, ...windowOf(kind, text) });
}

/** An error object inside a stream or in a body with status 200. */
export function providerFailure(target: Target, error: unknown): ModelError {
  const said = maskSecrets(messageInError(error) ?? "an error without words");
  const type = typeOfError(error);
  const kind = kindOfReport(type, said);
  const details = { cause: new Error(said), ...windowOf(kind, JSON.stringify(error) ?? "") };
  return failure(kind, target, `the provider reported: ${said}`, details);
}

/** Some say how much the model holds beside their words. */
function windowOf(kind: ModelErrorKind, text: string): { contextTokens?: number } {
  const contextTokens = kind === "context" ? contextWindowIn(text) : undefined;
  return contextTokens === undefined ? {} : { contextTokens };
}

/** By its words, or by its code, which stands beside them. */
function kindOfStatus(status: number, said: string, text: string): ModelErrorKind {
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate-limit";
  if (status === 408 || status === 504) return "timeout";
  if (status === 503 || status === 529) return "overloaded";
  if (status !== 413 || !/per minute|rate.?limit/i.test(text))
    if (isPromptTooLong(said) || /context_length_exceeded|exceed_context_size/.test(text)) return "context";
  if (status >= 500) return "server";
  if (status >= 400) return "refused";
  return "garbage";
}

function kindOfReport(type: string, said: string): ModelErrorKind {
  if (isPromptTooLong(said) || /context_length_exceeded|exceed_context_size/.test(type)) return "context";
  if (/overloaded|unavailable/.test(type)) return "overloaded";
  if (/rate_limit|too_many/.test(type)) return "rate-limit";
  if (/authentication|permission/.test(type)) return "auth";
  if (/invalid_request|not_found/.test(type)) return "refused";
  return "server";
}

function explain(target: Target, status: number, said: string): string {
  if (status === 401 || status === 403)
    return `the key was not accepted (${status}): ${said.replace(/[.!]?$/, ".")} Set ${settingOf(target, "apiKey")}.`;
  if (status === 404) return `not found (404): ${said}. Check baseUrl and the model's name.`;
  if (status >= 300 && status < 400) return `it answered with a redirect (${status}); set baseUrl to the final address`;
  return `${status}: ${said}`;
}

/** The provider's own words in an error body of any known shape, at most 500 characters. */
function messageInBody(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "no explanation";
  if (trimmed.startsWith("<")) return "an HTML page instead of an API answer; is baseUrl right?";
  try {
    return messageInError(JSON.parse(trimmed)) ?? trimmed.slice(0, 500);
  } catch {
    return trimmed.slice(0, 500);
  }
}

function messageInError(error: unknown): string | undefined {
  if (typeof error === "string") return error.slice(0, 500);
  if (typeof error !== "object" || error === null) return undefined;
  if ("error" in error && error.error) return messageInError(error.error);
  if ("message" in error && typeof error.message === "string") return error.message.slice(0, 500);
  if ("detail" in error)
    return (typeof error.detail === "string" ? error.detail : JSON.stringify(error.detail)).slice(0, 500);
  return undefined;
}

function typeOfError(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const type = "type" in error ? String(error.type) : "";
  const code = "code" in error ? String(error.code) : "";
  if (code === "503" || code === "529") return "overloaded";
  if (code === "429") return "rate_limit";
  return `${type} ${code}`;
}

/** Seconds in a Retry-After header: a number or an HTTP date. */
function secondsOfRetryAfter(header: string): number | undefined {
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}
