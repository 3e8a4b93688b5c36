import type { Caller } from "../../protocol/base/callers.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";

/** A run as this process took it: from here on it writes at this epoch, or not at all. */
export type TakenRun = {
  readonly runId: string;
  readonly threadId: string;
  readonly rootRun: string;
  readonly rootThreadId: string;
  readonly epoch: number;
  /** With the rights of its start, cut by those that the account has now. */
  readonly caller: Caller;
  readonly disabled: boolean;
  readonly definition: RunDefinition;
  /** How often a process died over it without getting anywhere. */
  readonly takeovers: number;
  readonly cancelAsked: boolean;
  /** Time it may still be worked on. */
  readonly leftMs: number;
  readonly leaf: string | null;
  readonly nextSeq: number;
  /** How many messages were taken in while it ran. */
  readonly steered: number;
  /** It waited, and was to go on by itself about now: so are those below it that wait for a provider. */
  readonly retried: boolean;
  /** Its first step was reserved as it began. */
  readonly ahead?: { readonly reservation: string; readonly steered: number };
};
