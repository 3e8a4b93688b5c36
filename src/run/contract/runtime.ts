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
import type { RunQueue } from "../engine/queue.ts";
import type { Timetable } from "../engine/timetable.ts";
import type { KnownDefinitions } from "../log/run-definitions.ts";
import type { TakenRun } from "./taken-run.ts";
import type { Feeds } from "../log/feeds.ts";
import type { SandboxInfo } from "./required-sandbox.ts";
import type { Strategy } from "./turn.ts";

/** Parts that everything in `run/` works with; created once by `createRuns`. */
export type Runtime = {
  readonly database: Database;
  readonly models: ModelRegistry;
  readonly agents: AgentRegistry;
  readonly tools: ToolRegistry;
  readonly strategies: Readonly<Record<string, Strategy>>;
  readonly strategySettings: StrategySettings;
  readonly prompts: PromptRegistry;
  readonly queue: RunQueue;
  readonly timetable: Timetable;
  readonly definitions: KnownDefinitions;
  /** Works on a root run that begins here, until it ends, waits, or can't continue. Never throws. */
  readonly workOn: (taken: TakenRun) => Promise<void>;
  readonly feeds: Feeds;
  readonly deltas: DeltaWriter;
  readonly log: Log;
  readonly limits: Limits;
  /** Key that signs values which must come back unchanged; the same on all nodes. */
  readonly secret: string;
  /** ID of this process among those that share the database. */
  readonly node: string;
  /** Runs that this process is working on, by ID. */
  readonly active: Map<string, ActiveRun>;
  readonly retention: RetentionTimes;
  readonly outages: OutagePolicy;
  readonly approval: ApprovalPolicy;
  /** The sandbox that commands run in; waits until it is chosen. */
  readonly sandbox: () => Promise<SandboxInfo>;
  /** How many tools an agent is offered before those of MCP servers must be searched for. */
  readonly deferAbove: number;
  /** Price of this usage; undefined: unknown. */
  readonly costOf: (
    model: string,
    usage: { readonly inputTokens: number; readonly outputTokens: number },
  ) => number | undefined;
  /** A message's file as a `data:` URL; undefined: no longer available. */
  readonly imageUrl: (uploadId: string, userId: string) => Promise<string | undefined>;
  /** Removes a file that a person brought; absent where this process can't work with files. */
  readonly removeUpload?: ((uploadId: string) => Promise<void>) | undefined;
  /** Full text of a cited source. */
  readonly sourceText: SourceText;
  /** Names of the webhooks that receive an event. */
  readonly hooksFor: (event: RunSignal) => readonly string[];
};

/** Events that webhooks receive. */
export type RunSignal = "waiting" | "done" | "failed" | "cancelled";

export type RetentionTimes = {
  readonly hiddenThreadsDays: number;
  readonly idempotencyHours: number;
  /** How long a run waits for results of its client's tools, and how long for a person. */
  readonly clientWaitMinutes: number;
  readonly waitDays: number;
};

/** How runs behave while no model is available. Times in milliseconds. */
export type OutagePolicy = {
  /** Total pause between a step's retries, after which the run waits or ends. */
  readonly retryMs: number;
  /** Pause before the second attempt; doubles each time. */
  readonly baseMs: number;
  /** First and longest pause between automatic retries of a waiting run. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Maximum wait, after which the run ends. */
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
  readonly signal: AbortSignal;
  /** Aborts `signal` with a reason. */
  readonly stop: (reason: StopReason) => void;
};

/** Why this process stops working on a run. `gave-up`: the database was silent for so long that another process may have taken it. */
export type StopReason = "cancelled" | "lost" | "gave-up" | "hand-over" | "deadline" | "with-parent";
