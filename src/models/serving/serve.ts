import { ModelError, messageOf } from "../../protocol/base/errors.ts";
import type { Model, ModelCallRecord, ModelPart, ModelRequest, ModelStream } from "../../protocol/agents/models.ts";
import { noOmittedFields, type Adapter, type OmittedFields } from "../transport/adapter.ts";
import { CallRecorder, type PromptSink } from "./call-recorder.ts";
import { countPictures, refusesPictures, type VisionSupport, withoutPictures } from "../discovery/vision-support.ts";
import { setTimeout as sleep } from "node:timers/promises";

type RetryPolicy = {
  /** Further tries after the first. */
  readonly retries: number;
  /** The wait before the first retry; doubles each time. */
  readonly baseMs: number;
  /** A provider that wants a longer wait than this has failed. */
  readonly longestMs: number;
};

export const defaultRetryPolicy: RetryPolicy = { retries: 2, baseMs: 400, longestMs: 30_000 };

/** For whoever tries again by themselves. */
const hasty: RetryPolicy = { ...defaultRetryPolicy, retries: 0 };

/** While another model stands by: no waiting for a server that is away, and no long waits for one that is busy. */
function impatient(policy: RetryPolicy): RetryPolicy {
  return { ...policy, longestMs: Math.min(policy.longestMs, 2000) };
}

/** Milliseconds until the next try; undefined: do not try again. `tries` counts those already made. */
export function delayBeforeRetry(error: ModelError, tries: number, policy: RetryPolicy): number | undefined {
  if (!error.retryable || wasSilent(error) || tries > policy.retries) return undefined;
  const { retryAfterSeconds } = error.detail;
  if (retryAfterSeconds !== undefined) {
    const asked = retryAfterSeconds * 1000;
    return asked <= policy.longestMs ? asked : undefined;
  }
  const backoff = policy.baseMs * 2 ** (tries - 1);
  return Math.min(policy.longestMs, backoff * (0.75 + Math.random() / 2));
}

/** Our own patience was at its end; whoever waits is not made to wait as long again. */
function wasSilent({ kind, upstreamStatus }: ModelError): boolean {
  return kind === "timeout" && upstreamStatus === undefined;
}

/** Waits; ends early and quietly when the signal fires. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

export type ServeOptions = {
  /** Further tries after a first one that failed before its first part; default 2. */
  readonly retries?: number | undefined;
  readonly sink?: (record: ModelCallRecord) => void;
  readonly prompts?: PromptSink;
  /** Absent: it takes pictures. */
  readonly sight?: VisionSupport | undefined;
  /** Where it is asked, if that is a private server. */
  readonly server?: string | undefined;
};

/** How a model is asked within a chain. */
export type ChainPosition = {
  /** The name it was asked by. */
  readonly asked: string;
  /** No other model follows if this one fails. */
  readonly last: boolean;
};

/** A model that serves itself: a provider's, not a chain of them. */
export type ServedModel = Model & {
  serve(request: ModelRequest, signal: AbortSignal, asking: ChainPosition): ModelStream;
};

/** The usual estimate for English. */
const charactersPerToken = 4;
const leastWindow = 512;

/** How often one request may be changed because its provider refused a field. */
const maxChanges = 4;

/** Makes a model of an adapter: tries again, leaves refused fields out, tells who serves, and records every request. */
export function serveModel(id: string, adapter: Adapter, options: ServeOptions): ServedModel {
  const patient: RetryPolicy = {
    ...defaultRetryPolicy,
    ...(options.retries !== undefined && { retries: options.retries }),
  };

  /** It has said so. */
  let isBlind = false;
  /** What it holds, as far as it has refused longer prompts. */
  let known = Infinity;
  const contextTokens = () => Math.min(adapter.contextTokens, known);

  /** Halved where it does not say how much it holds: of what it was sent, which may be far less than what it was thought to hold. */
  function learnWindow({ contextTokens: said }: ModelError, { messages }: ModelRequest): void {
    const sent = Math.ceil(JSON.stringify(messages).length / charactersPerToken);
    known = Math.min(known, Math.max(leastWindow, said ?? Math.floor(Math.min(contextTokens(), sent) / 2)));
  }

  async function* serve(given: ModelRequest, signal: AbortSignal, asking: ChainPosition): ModelStream {
    const policy = given.once ? hasty : asking.last ? patient : impatient(patient);
    const asked = adapter.ready?.();
    if (asked) await asked;
    const pictures = countPictures(given);
    let unseen = pictures > 0 && (isBlind || (await options.sight?.()) === false) ? pictures : 0;
    let request = unseen > 0 ? withoutPictures(given) : given;
    let leftOut: OmittedFields = noOmittedFields;
    let changes = 0;
    for (let tries = 1; ; tries++) {
      throwIfAborted(signal);
      const recorder = new CallRecorder({
        ...options,
        asked: asking.asked,
        model: id,
        provider: adapter.provider,
        request,
      });
      let told = false;
      try {
        for await (const batch of adapter.stream(request, signal, leftOut)) {
          recorder.batch(batch);
          yield told ? batch : [unseen > 0 ? { ...start, unseen } : start, ...batch];
          told = true;
        }
        return;
      } catch (thrown) {
        const error = asModelError(thrown, signal);
        recorder.failed(error);
        if (told) throw error;
        if (error.kind === "context") learnWindow(error, request);
        if (pictures > unseen && refusesPictures(error)) {
          isBlind = true;
          unseen = pictures;
          request = withoutPictures(given);
          tries--;
          continue;
        }
        const without = changes < maxChanges ? adapter.adapt?.(error, leftOut) : undefined;
        if (without) {
          leftOut = without;
          changes++;
          tries--;
          continue;
        }
        const delay = isAway(error) && !asking.last ? undefined : delayBeforeRetry(error, tries, policy);
        if (delay === undefined) throw error;
        await wait(delay, signal);
      } finally {
        recorder.stopped();
      }
    }
  }

  const start: Extract<ModelPart, { type: "start" }> = { type: "start", model: id, provider: adapter.provider };

  function throwIfAborted(signal: AbortSignal): void {
    if (signal.aborted) throw new ModelError("aborted", `Model "${adapter.name}": stopped by us`);
  }

  function asModelError(error: unknown, signal: AbortSignal): ModelError {
    if (error instanceof ModelError) return error;
    const kind = signal.aborted ? "aborted" : "server";
    return new ModelError(kind, `Model "${adapter.name}" of provider ${adapter.provider}: ${messageOf(error)}`, {
      cause: error,
      retryable: false,
    });
  }

  return {
    id,
    provider: adapter.provider,
    name: adapter.name,
    get contextTokens() {
      return contextTokens();
    },
    get contextFrom() {
      return known < adapter.contextTokens ? "told" : adapter.contextFrom;
    },
    ready: () => adapter.ready?.(),
    ...(options.server !== undefined && { servers: [options.server] }),
    ...(adapter.demo && { demo: true }),
    ...(adapter.pass && { pass: adapter.pass }),
    serve,
    stream: (request, signal) => serve(request, signal, { asked: id, last: true }),
  };
}

function isAway(error: ModelError): boolean {
  return error.kind === "unreachable" || error.kind === "timeout";
}
