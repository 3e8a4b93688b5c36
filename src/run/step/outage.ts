import { ColloquyError, ModelError } from "../../protocol/base/errors.ts";
import type { Retry } from "../../protocol/threads/events.ts";
import type { ItemOf, Outage } from "../../protocol/threads/items.ts";
import type { OutagePolicy } from "../contract/runtime.ts";
import { openQuestions } from "../log/questions.ts";
import type { RunWork } from "./work.ts";

/** No attempt of the same request needs another answer than the first; whatever may pass does. */
const passing = ["rate-limit", "overloaded", "unreachable", "timeout", "cut", "server", "garbage"] as const;

/** Another attempt may well bring what this one did not. */
export function isTransient(error: unknown): error is ModelError {
  if (!(error instanceof ModelError)) return false;
  // A response that is not a model server's comes from something that temporarily stands in for it.
  return (error.retryable || error.kind === "garbage") && (passing as readonly string[]).includes(error.kind);
}

/** No model could be had, whether waiting mends that or not. Undefined: it is something else. */
export function isOutage(error: unknown): error is ColloquyError {
  if (error instanceof ModelError) return error.kind !== "aborted";
  return error instanceof ColloquyError && ["model_not_found", "model_unavailable"].includes(error.code);
}

/** Long attempts of one step before its run waits or ends. */
const maxLong = 2;

export type FailedAttempt = {
  readonly error: ModelError;
  /** Attempts under this epoch, this one counted. */
  readonly tries: number;
  /** Between them, in all. */
  readonly waitedMs: number;
  /** How many of them took long: they broke off in the middle, or nothing came. */
  readonly long: number;
  /** It brought something before it broke off. */
  readonly hadBegun: boolean;
  readonly isNested: boolean;
};

/** Milliseconds until the step is asked again by this process; undefined: that is over. */
export function delayOf(
  { error, tries, waitedMs, long, hadBegun, isNested }: FailedAttempt,
  work: RunWork,
): number | undefined {
  const { retryMs, baseMs } = work.runtime.outages;
  const { held, agent } = work.taken.definition;
  // In a room the others wait for its turn to be over.
  const isHeld = held === true || agent.room !== undefined;
  // A run that waits for it comes by again and again.
  if (!isTransient(error) || openOutage(work) || long > maxLong) return undefined;
  // Nobody is kept waiting for what is not there.
  if (isHeld && error.kind === "unreachable") return undefined;
  // Saying nothing has taken its whole time already; a wait shows what is the matter and holds no slot, and nobody who holds the
  // connection is kept for three such times.
  if (error.kind === "timeout" && !hadBegun && !isNested) return undefined;
  const { retryAfterSeconds } = error.detail;
  const backoff = baseMs * 2 ** (tries - 1) * (0.75 + Math.random() / 2);
  const delay = Math.max(backoff, (retryAfterSeconds ?? 0) * 1000);
  return waitedMs + delay <= retryMs ? delay : undefined;
}

/**
 * Until a run that waits asks again: half of the time that it has waited already, so that it needs no count, and never before
 * the provider wants to be asked.
 */
export function retryDelay(error: ModelError, waitedMs: number, { firstMs, longestMs }: OutagePolicy): number {
  const usual = Math.min(longestMs, Math.max(firstMs, waitedMs / 2));
  return Math.max(usual * (0.85 + Math.random() * 0.3), (error.detail.retryAfterSeconds ?? 0) * 1000);
}

/** The question of a run that waits for a provider. */
export function openOutage(work: Pick<RunWork, "items">): ItemOf<"question"> | undefined {
  return openQuestions(work.items).find(({ body }) => body.reason === "provider");
}

const providerNames: Readonly<Record<string, string>> = {
  ollama: "Ollama",
  anthropic: "Anthropic",
  openai: "The model server",
};

/** Describes the outage of the step that failed last. */
export function outageOf(work: RunWork, error: ColloquyError, repeats: boolean): Outage {
  const { host, model: name, provider: kind = "" } = (error instanceof ModelError ? error.server : undefined) ?? {};
  const provider = host?.endsWith("api.openai.com") ? "OpenAI" : providerNames[kind];
  return {
    model: work.asked ?? work.taken.definition.agent.model,
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
    ...(host === undefined ? {} : { host }),
    code: error.code,
    repeats,
  };
}

const faults: Readonly<Record<string, string>> = {
  model_unreachable: "does not answer",
  model_timeout: "does not answer in time",
  model_rate_limit: "takes no more requests for now",
  model_overloaded: "is overloaded",
  model_server: "reports a fault of its own",
  model_cut: "broke off its answer",
  model_garbage: "its answer doesn't follow the protocol",
  model_auth: "does not accept the key",
  model_refused: "refused the request",
  model_context: "has no room for the prompt",
};

/** "Ollama at 127.0.0.1:11434 does not answer" */
export function outageText({ model, name = model, provider, host, code }: Omit<Outage, "repeats">): string {
  const who = host === undefined ? `The model ${name}` : `${provider ?? "The model server"} at ${host}`;
  return `${who} ${faults[code] ?? "is not there"}`;
}

/** Describes a failed attempt to followers. */
export function retryOf(work: RunWork, error: ModelError, afterMs: number): Retry {
  const { repeats: _, ...outage } = outageOf(work, error, true);
  return {
    ...outage,
    text: `${outageText(outage)}; trying again in ${wordsOf(afterMs)}`,
    afterMs: Math.round(afterMs),
  };
}

/** "5 s", "60 min" */
export function wordsOf(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
