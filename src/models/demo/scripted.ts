import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { ModelError } from "../../protocol/base/errors.ts";
import type { ModelErrorKind } from "../../protocol/base/errors.ts";
import type { ModelRequest, ModelStream } from "../../protocol/agents/models.ts";
import type { Adapter } from "../transport/adapter.ts";
import { AnswerWriter } from "../transport/answer-writer.ts";

const errorKinds = [
  "refused",
  "context",
  "auth",
  "rate-limit",
  "overloaded",
  "unreachable",
  "timeout",
  "cut",
  "garbage",
  "server",
] as const satisfies readonly ModelErrorKind[];

const stepSchema = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ reasoning: z.string() }),
  /** Arguments as JSON text, or a value that is written as such. */
  z.strictObject({ call: z.string(), arguments: z.unknown() }),
  z.strictObject({ waitMs: z.int().nonnegative() }),
  z.strictObject({
    error: z.enum(errorKinds),
    message: z.string().optional(),
    retryable: z.boolean().optional(),
    retryAfterSeconds: z.number().nonnegative().optional(),
    contextTokens: z.int().positive().optional(),
  }),
  z.strictObject({ hang: z.literal(true) }),
  z.strictObject({
    finish: z.enum(["stop", "length", "calls", "filter", "other"]),
    usage: z.strictObject({ inputTokens: z.int(), outputTokens: z.int() }).optional(),
    opaque: z.unknown().optional(),
    stoppedBy: z.string().optional(),
  }),
]);
const answerSchema = z.union([z.string(), z.array(stepSchema)]);
/** The answers in order of the requests. */
export const scriptSchema = z.array(answerSchema);

/**
 * One thing an answer does; each leaves as a batch of its own. `gate` goes on when its promise is fulfilled,
 * `hang` never does until it is aborted. An answer without `finish` finishes by itself.
 */
export type ScriptStep = z.infer<typeof stepSchema> | { readonly gate: () => Promise<unknown> };
/** A text alone is an answer in one piece. */
export type ScriptAnswer = string | readonly ScriptStep[];
/** Answers in order, or what to answer to a request; `count` is the number of requests before it. */
export type Script = readonly ScriptAnswer[] | ((request: ModelRequest, count: number) => ScriptAnswer);

export type ScriptedAdapter = Adapter & {
  /** Every request it saw, in order. */
  readonly requests: readonly ModelRequest[];
  /** How many answers were stopped before their end. */
  readonly stopped: () => number;
};

/** A model whose answers are given: for tests and demonstrations. A script that is used up refuses. */
export function createScripted(script: Script, options?: { name?: string; contextTokens?: number }): ScriptedAdapter {
  const name = options?.name ?? "scripted";
  const requests: ModelRequest[] = [];
  let stopped = 0;

  async function* stream(request: ModelRequest, signal: AbortSignal): ModelStream {
    const count = requests.push(request) - 1;
    const answer = typeof script === "function" ? script(request, count) : script[count];
    if (answer === undefined) throw new ModelError("refused", `Model "${name}": its script has only ${count} answers`);
    const writer = new AnswerWriter(request);
    try {
      for (const step of typeof answer === "string" ? [{ text: answer }] : answer) {
        await play(step, writer, signal);
        if (signal.aborted) throw new ModelError("aborted", `Model "${name}": stopped by us`);
        const batch = writer.take();
        if (batch.length > 0) yield batch;
      }
      if (writer.finished) return;
      writer.finish("stop", undefined);
      yield writer.take();
    } finally {
      if (!writer.finished) stopped++;
    }
  }

  return {
    provider: "scripted",
    name,
    contextTokens: options?.contextTokens ?? 128_000,
    stream,
    requests,
    stopped: () => stopped,
  };
}

async function play(step: ScriptStep, writer: AnswerWriter, signal: AbortSignal): Promise<void> {
  if ("text" in step) writer.text(step.text);
  else if ("reasoning" in step) writer.reasoning(step.reasoning);
  else if ("call" in step) {
    const text = typeof step.arguments === "string" ? step.arguments : JSON.stringify(step.arguments ?? {});
    writer.callArguments(writer.startCall(step.call), text);
  } else if ("error" in step) {
    const { retryable, retryAfterSeconds, contextTokens } = step;
    throw new ModelError(step.error, step.message ?? `The script says: ${step.error}`, {
      retryable,
      retryAfterSeconds,
      ...(contextTokens === undefined ? {} : { contextTokens }),
    });
  } else if ("finish" in step) writer.finish(step.finish, step.usage, step);
  else if ("waitMs" in step) await sleep(step.waitMs, undefined, { signal }).catch(() => undefined);
  else if ("gate" in step) await orAborted(step.gate(), signal);
  else await orAborted(new Promise(() => undefined), signal);
}

async function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
