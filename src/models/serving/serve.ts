import { ModelError, messageOf } from "../protocol/errors.ts";
import type { Model, ModelCallRecord, ModelPart, ModelRequest, ModelStream } from "../protocol/models.ts";
import { nothingLeftOut } from "./adapter.ts";
import type { Adapter, LeftOut } from "./adapter.ts";
import { CallRecorder } from "./call-recorder.ts";
import type { PromptSink } from "./call-recorder.ts";
import { defaultRetryPolicy, delayBeforeRetry, impatient, wait } from "./retry.ts";
import type { RetryPolicy } from "./retry.ts";
import { countPictures, refusesPictures, type Sight, withoutPictures } from "./sight.ts";

export type ServeOptions = {
  /** Further tries after a first one that failed before its first part; default 2. */
  readonly retries?: number | undefined;
  readonly sink?: (record: ModelCallRecord) => void;
  readonly prompts?: PromptSink;
  /** Absent: it takes pictures. */
  readonly sight?: Sight | undefined;
};

/** How a model is asked within a chain. */
export type Asking = {
  /** The name it was asked by. */
  readonly asked: string;
  /** No other model follows if this one fails. */
  readonly last: boolean;
};

/** A model that serves itself: a provider's, not a chain of them. */
export type ServedModel = Model & { serve(request: ModelRequest, signal: AbortSignal, asking: Asking): ModelStream };

/** How often one request may be changed because its provider refused a field. */
const mostChanges = 4;

/** Makes a model of an adapter: tries again, leaves refused fields out, tells who serves, and records every request. */
export function serveModel(id: string, adapter: Adapter, options: ServeOptions): ServedModel {
  const patient: RetryPolicy = {
    ...defaultRetryPolicy,
    ...(options.retries !== undefined && { retries: options.retries }),
  };

  /** It has said so. */
  let isBlind = false;

  async function* serve(given: ModelRequest, signal: AbortSignal, asking: Asking): ModelStream {
    const policy = asking.last ? patient : impatient(patient);
    const asked = adapter.ready?.();
    if (asked) await asked;
    const pictures = countPictures(given);
    let unseen = pictures > 0 && (isBlind || (await options.sight?.()) === false) ? pictures : 0;
    let request = unseen > 0 ? withoutPictures(given) : given;
    let leftOut: LeftOut = nothingLeftOut;
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
        if (pictures > unseen && refusesPictures(error)) {
          isBlind = true;
          unseen = pictures;
          request = withoutPictures(given);
          tries--;
          continue;
        }
        const without = changes < mostChanges ? adapter.adapt?.(error, leftOut) : undefined;
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
      return adapter.contextTokens;
    },
    ready: () => adapter.ready?.(),
    ...(adapter.demo && { demo: true }),
    serve,
    stream: (request, signal) => serve(request, signal, { asked: id, last: true }),
  };
}

function isAway(error: ModelError): boolean {
  return error.kind === "unreachable" || error.kind === "timeout";
}
