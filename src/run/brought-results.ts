import type { ToolSchema } from "../protocol/agents/models.ts";
import type { AttachedFile, MessageContent } from "../protocol/threads/items.ts";

/** Of a tool that the caller runs itself. */
export type BroughtResult = { readonly callId: string; readonly content: string; readonly isError?: boolean };

/** What comes with results. */
export type BroughtWith = {
  /** Refuses results of any other run. */
  readonly runId?: string;
  /** What is said with them. */
  readonly message?: { readonly content: MessageContent; readonly files?: readonly AttachedFile[] };
  /** Tools of the client's: those that the run does not have are offered from now on. */
  readonly tools?: readonly ToolSchema[];
  /** Whether to tell the system text that the run began with. */
  readonly asksSystem?: boolean;
};
