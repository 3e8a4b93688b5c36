import type { PromptRegistry } from "../../agents/load-prompts.ts";
import type { AgentRegistry, Limits } from "../../protocol/agents/agents.ts";
import type { ApprovalPolicy } from "../../protocol/agents/approval.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { ModelRegistry } from "../../protocol/agents/models.ts";
import type { StrategySettings } from "../../protocol/agents/strategies.ts";
import type { ToolRegistry } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import type { SourceText } from "../log/citations.ts";
import type { DeltaWriter } from "../log/deltas.ts";
import type { JobEngine, Job } from "../engine/engine.ts";
import type { Feeds } from "../log/feeds.ts";
import type { SandboxInfo } from "./required-sandbox.ts";
import type { Strategy } from "./turn.ts";

/** What the run folder works with; made once by `createRuns`. */
export type Runtime = {
  readonly database: Database;
  readonly models: ModelRegistry;
  readonly agents: AgentRegistry;
  readonly tools: ToolRegistry;
  readonly strategies: Readonly<Record<string, Strategy>>;
  readonly strategySettings: StrategySettings;
  readonly prompts: PromptRegistry;
  readonly engine: JobEngine;
  readonly feeds: Feeds;
  readonly deltas: DeltaWriter;
  readonly log: Log;
  readonly limits: Limits;
  /** Signs what must come back to us unchanged; the same on all nodes. */
  readonly secret: string;
  /** This process, among those that share the database. */
  readonly node: string;
  /** What this process is working on, by run. */
  readonly active: Map<string, ActiveRun>;
  readonly retention: RetentionTimes;
  readonly outages: OutagePolicy;
  readonly approval: ApprovalPolicy;
  /** What commands run in; waits until that is known. */
  readonly sandbox: () => Promise<SandboxInfo>;
  /** How many tools an agent is offered before those of MCP servers must be searched for. */
  readonly deferAbove: number;
  /** Money for tokens; undefined: no price is known. */
  readonly costOf: (
    model: string,
    usage: { readonly inputTokens: number; readonly outputTokens: number },
  ) => number | undefined;
  /** A file that came with a message, as a `data:` URL; undefined: it can't be shown any more. */
  readonly imageUrl: (uploadId: string, userId: string) => Promise<string | undefined>;
  /** All of the text that a source of a result is a part of. */
  readonly sourceText: SourceText;
  /** Who wants to hear of an event, by the names of their hooks. */
  readonly hooksFor: (event: RunSignal) => readonly string[];
};

/** What the outside can be told of a run. */
export type RunSignal = "waiting" | "done" | "failed" | "cancelled";

export type RetentionTimes = {
  readonly hiddenThreadsDays: number;
  readonly idempotencyHours: number;
  /** How long a run waits for its client's tools, and for anybody else. */
  readonly clientWaitMinutes: number;
  readonly waitDays: number;
};

/** What is done while no model can be had. Milliseconds. */
export type OutagePolicy = {
  /** So long a step that fails waits between its attempts, in all, before its run waits or ends. */
  readonly retryMs: number;
  /** Before the second attempt; doubles each time. */
  readonly baseMs: number;
  /** How long a run that waits lets pass before it asks again: at first, and at most. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** It ends when it has waited so long. */
  readonly waitMs: number;
};

export const defaultOutages: OutagePolicy = {
  retryMs: 10_000,
  baseMs: 500,
  firstMs: 5000,
  longestMs: 300_000,
  waitMs: 86_400_000,
};

export type ActiveRun = {
  readonly runId: string;
  readonly epoch: number;
  /** A child run has none: it works in its root's. */
  readonly job: Job | undefined;
  readonly signal: AbortSignal;
  /** Aborts what the run is waiting for; the reason says why. */
  readonly stop: (reason: StopReason) => void;
};

/** Why work on a run is broken off here; `gave-up`: the database was silent for so long that others may have it. */
export type StopReason = "cancelled" | "lost" | "gave-up" | "hand-over" | "deadline" | "with-parent";
