import type { ContextSource } from "./context-size.ts";
import type { ModelError } from "../../protocol/base/errors.ts";
import type { Model, ModelRequest, ModelStream } from "../../protocol/agents/models.ts";

/** Request fields of a provider that one try goes without; `stream` among them means: ask for a whole answer. */
export type OmittedFields = ReadonlySet<string>;
export const noOmittedFields: OmittedFields = new Set();

/** The same set with more fields. */
export function omitFields(leftOut: OmittedFields, fields: Iterable<string>): OmittedFields {
  return new Set([...leftOut, ...fields]);
}

/**
 * One model at one provider. Knows its wire and nothing of retries, fallback or logs: `serve.ts` adds those.
 * Contract: `stream` makes one request to the provider (more if that pauses in the middle of its answer) and yields
 * non-empty batches, one per network read, the last part being `finish`; there is no `start`. It throws only ModelError,
 * `aborted` soon after the signal fires, and closes its connection then and when the consumer stops.
 */
export interface Adapter {
  readonly provider: string;
  /** The name the provider knows. */
  readonly name: string;
  readonly contextTokens: number;
  readonly contextFrom?: ContextSource;
  /** As of a model. */
  ready?(): Promise<void> | undefined;
  readonly demo?: boolean;
  stream(request: ModelRequest, signal: AbortSignal, leftOut: OmittedFields): ModelStream;
  /** As of a model, one request. */
  readonly pass?: NonNullable<Model["pass"]>;
  /** What to leave out so that a refused request may pass; undefined: nothing would help. */
  adapt?(error: ModelError, leftOut: OmittedFields): OmittedFields | undefined;
}

/** Milliseconds; each must be positive. */
export type Timeouts = {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** From then until the first part: loading the model and reading the prompt. */
  readonly firstPartMs: number;
  /** Between two reads after that. */
  readonly idleMs: number;
};

export const defaultTimeouts: Timeouts = { connectMs: 10_000, firstPartMs: 120_000, idleMs: 60_000 };
