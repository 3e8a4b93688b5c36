import type { ModelError } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { ModelCallRecord, ModelPart, ModelRequest } from "../../protocol/agents/models.ts";
import { charactersOf, estimateUsage } from "../transport/answer-writer.ts";

/** Takes every prompt with its answer; must not throw or wait. */
export type PromptSink = { write(entry: PromptEntry): void };
export type PromptEntry = {
  readonly call: ModelCallRecord;
  readonly request: ModelRequest;
  readonly parts: readonly ModelPart[];
};

export type RecordedCall = {
  readonly asked: string;
  readonly model: string;
  readonly provider: string;
  readonly request: ModelRequest;
  /** Takes every record; must not throw. */
  readonly sink?: (record: ModelCallRecord) => void;
  readonly prompts?: PromptSink;
};

/** Keeps the times of one request to a provider and reports it once, whichever way it ended. */
export class CallRecorder {
  readonly #call: RecordedCall;
  readonly #startedAt = new Date();
  readonly #start = performance.now();
  readonly #parts: ModelPart[] = [];
  #firstPartMs: number | null = null;
  #characters = 0;
  #reported = false;

  constructor(call: RecordedCall) {
    this.#call = call;
  }

  batch(parts: readonly ModelPart[]): void {
    this.#firstPartMs ??= this.#elapsed();
    for (const part of parts) this.#characters += charactersOf(part);
    if (this.#call.prompts) this.#parts.push(...parts);
    const last = parts.at(-1);
    if (last?.type === "finish") this.#report(last, null);
  }

  failed(error: ModelError): void {
    this.#report(undefined, `${error.code}: ${error.message}`);
  }

  /** The consumer went away; nothing to do if the call has ended. */
  stopped(): void {
    this.#report(undefined, "model_aborted: the reader stopped");
  }

  #elapsed(): number {
    return Math.round((performance.now() - this.#start) * 10) / 10;
  }

  #report(finish: Extract<ModelPart, { type: "finish" }> | undefined, error: string | null): void {
    if (this.#reported) return;
    this.#reported = true;
    const { request, sink, prompts, asked, model, provider } = this.#call;
    // What broke off was begun, and is paid for: its provider only did not come to say how much it was.
    const hasBegun = this.#firstPartMs !== null;
    const usage = finish?.usage ?? (hasBegun ? estimateUsage(request, this.#characters) : undefined);
    const record: ModelCallRecord = {
      id: newId(),
      userId: request.origin?.userId ?? null,
      runId: request.origin?.runId ?? null,
      step: request.origin?.step ?? null,
      attempt: request.origin?.attempt ?? null,
      asked,
      model,
      provider,
      startedAt: this.#startedAt,
      firstPartMs: this.#firstPartMs,
      totalMs: this.#elapsed(),
      inputTokens: usage?.inputTokens ?? null,
      outputTokens: usage?.outputTokens ?? null,
      finish: finish?.reason ?? null,
      error,
    };
    request.onCall?.(record);
    sink?.(record);
    prompts?.write({ call: record, request, parts: this.#parts });
  }
}
