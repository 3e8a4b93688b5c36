import type { ThreadView } from "./threads.ts";
import type { AgentDefinition, Limits } from "./agents.ts";
import type { StrategySettings } from "./strategies.ts";
import type { ModelSettings, ResponseFormat, ToolChoice, ToolSchema } from "./models.ts";

export const runStatuses = ["queued", "running", "waiting", "done", "failed", "cancelled"] as const;
export type RunStatus = (typeof runStatuses)[number];
export const waitReasons = ["approval", "question", "limit", "unknown", "client"] as const;
export type WaitReason = (typeof waitReasons)[number];

export function isEnded(status: RunStatus): boolean {
  return status === "done" || status === "failed" || status === "cancelled";
}

/** What a caller may set for one run. */
export type RunOptions = {
  /** Another model than the agent's own. */
  readonly model?: string;
  readonly settings?: ModelSettings;
  readonly format?: ResponseFormat;
  readonly toolChoice?: ToolChoice;
  /** Tools that the caller runs itself: the run waits for their results. */
  readonly clientTools?: readonly ToolSchema[];
  readonly limits?: Partial<Limits>;
  /** A webhook, by its name, that is told of this run's waits and its end, whatever else it wants to hear. */
  readonly callback?: string;
  /** Writes are only planned, until a person has allowed them all. */
  readonly dryRun?: boolean;
};

/** All that a run needs to go on the same after a crash or a deploy: kept with the run from its start. */
export type RunDefinition = {
  readonly version: 1;
  readonly agent: AgentDefinition;
  readonly options: RunOptions;
  readonly limits: Limits;
  /** What the agent's model saw of the server's tools. */
  readonly tools: readonly ToolSchema[];
  /** By name, those that it may find by `search_tools`; from then on they are offered. */
  readonly deferred?: readonly string[];
  readonly model?: { readonly provider: string; readonly name: string };
  /** Whom it may hand work to. */
  readonly team?: readonly TeamMember[];
  /** The texts that its strategy works with, by name. */
  readonly prompts?: Readonly<Record<string, string>>;
  readonly strategies?: StrategySettings;
  /** Of a delegated run: what its ancestors work on, the root first. */
  readonly path?: readonly Errand[];
};

/** An agent that works for another, with the names of the tools that it may use itself. */
export type TeamMember = { readonly agent: AgentDefinition; readonly tools: readonly string[] };

/** Who was asked to do what; the task as a hash. */
export type Errand = { readonly agent: string; readonly task: string };

export type ThreadRecord = ThreadView & { readonly userId: string; readonly hidden: boolean };
