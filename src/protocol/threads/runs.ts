import type { ThreadView } from "./threads.ts";
import type { ColloquyError } from "../base/errors.ts";
import type { AgentDefinition, Limits, OnOutage } from "../agents/agents.ts";
import type { StrategySettings } from "../agents/strategies.ts";
import type { ModelSettings, ResponseFormat, ToolChoice, ToolSchema } from "../agents/models.ts";

export const runStatuses = ["queued", "running", "waiting", "done", "failed", "cancelled"] as const;
export type RunStatus = (typeof runStatuses)[number];
export const waitReasons = ["approval", "question", "limit", "unknown", "client", "provider"] as const;
export type WaitReason = (typeof waitReasons)[number];

export function isEnded(status: RunStatus): boolean {
  return status === "done" || status === "failed" || status === "cancelled";
}

/** Why a run ended or waits. */
export type RunError = {
  readonly code: string;
  readonly message: string;
  /** From when on the provider wants to be asked again. */
  readonly retryAt?: string;
};

export function runErrorOf({ code, message, detail: { retryAfterSeconds } }: ColloquyError): RunError {
  if (retryAfterSeconds === undefined) return { code, message };
  return { code, message, retryAt: new Date(Date.now() + retryAfterSeconds * 1000).toISOString() };
}

/** What a caller may set for one run. */
export type RunOptions = {
  /** Another model than the agent's own. */
  readonly model?: string;
  /** The caller's for this answer only: they follow the agent's own, and are no part of the conversation. */
  readonly instructions?: string;
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
  /** What an outage of the model's provider is to the run, instead of what its agent says. */
  readonly onOutage?: OnOutage;
  /** What the protocol of whoever asked tells back of the request, in its own words; the run has no use for it. */
  readonly echo?: { readonly [name: string]: unknown };
};

/** All that a run needs to go on the same after a crash or a deploy: kept with the run from its start. */
export type RunDefinition = {
  readonly version: 1;
  readonly agent: AgentDefinition;
  readonly options: RunOptions;
  readonly limits: Limits;
  /** MCP servers that had not told their tools when it began: it waits for them before its first step. */
  readonly awaited?: readonly string[];
  /** What the agent's model saw of the server's tools. */
  readonly tools: readonly ToolSchema[];
  /** By name, those that it may find by `search_tools`; from then on they are offered. */
  readonly deferred?: readonly string[];
  readonly model?: { readonly provider: string; readonly name: string };
  /** Names of tools that are off in its conversation, for those too whom it hands work to. */
  readonly toolsOff?: readonly string[];
  /** Whom it may hand work to. */
  readonly team?: readonly TeamMember[];
  /** The texts that its strategy works with, by name. */
  readonly prompts?: Readonly<Record<string, string>>;
  readonly strategies?: StrategySettings;
  /** `fail`: an outage of the model's provider ends it, unless it has already written something. */
  readonly onOutage?: OnOutage;
  /** Whoever began it holds the connection and has nothing to come back to, so that little is tried again before they are told. */
  readonly held?: true;
  /** Nobody is there to be asked whether something may leave after text from outside was read: a clock began it. */
  readonly unattended?: true;
  /** The temporary conversation that it belongs to, so that what it began with is no other's, and goes with it. */
  readonly temporary?: string;
  /** Of a delegated run: what its ancestors work on, the root first. */
  readonly path?: readonly DelegationKey[];
};

/** An agent that works for another, with the names of the tools that it may use itself. */
export type TeamMember = { readonly agent: AgentDefinition; readonly tools: readonly string[] };

/** Of a run that begins with steps of another one, or answers the message of another one once more. */
export type RunOrigin = {
  readonly run: string;
  readonly kind: "fork" | "again";
  /** The last step that was kept. */
  readonly step?: string;
};

/** Who was asked to do what; the task as a hash. */
export type DelegationKey = { readonly agent: string; readonly task: string };

export type ThreadRecord = ThreadView & {
  readonly userId: string;
  readonly hidden: boolean;
  /** It is hidden, and all of it goes once it is closed, or a day after its last use. */
  readonly temporary: boolean;
};
