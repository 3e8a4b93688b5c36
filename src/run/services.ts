import type { ReadinessProblem } from "../protocol/base/readiness.ts";
import type { ScheduleRecord } from "../protocol/threads/schedule-shapes.ts";
import type { MissedPolicy } from "../protocol/threads/schedules.ts";
import type { Caller } from "../protocol/base/callers.ts";
import type { AdminRun } from "../protocol/threads/run-trace.ts";
import type { RunStatus, WaitReason } from "../protocol/threads/runs.ts";
import type { Approvals, Runs, RunStart, StartInput, Threads } from "./runs.ts";
import type { RunDetails } from "./traced-run.ts";

export type AdminRunQuery = {
  readonly status?: RunStatus;
  readonly waitReason?: WaitReason;
  /** Id or name. */
  readonly user?: string;
  readonly agent?: string;
  readonly threadId?: string;
  /** Only runs that were not started by another run. */
  readonly isRoot?: boolean;
  readonly before?: string;
  readonly limit?: number;
};

/** Actions of admins on anybody's runs. Callers must have checked that the user is an admin. */
export type AdminRuns = {
  /** Newest first. */
  list(filter: AdminRunQuery): Promise<readonly AdminRun[]>;
  get(runId: string): Promise<RunDetails>;
  /** A new run with the message, agent and options of one that failed or was cancelled, for its owner. */
  retry(runId: string, idempotencyKey?: string): Promise<RunStart>;
  /** Says what became of a write whose outcome is unknown. */
  resolve(caller: Caller, runId: string, resolution: Resolution): Promise<void>;
};

export type Resolution = {
  readonly step: string;
  readonly index: number;
  readonly status: "done" | "failed";
  /** Known details. */
  readonly text?: string;
};

export type NewSchedule = {
  /** A UUID made by the client; the same id sent again answers the first. */
  readonly id?: string;
  readonly agent: string;
  readonly prompt: string;
  /** A thread of the caller's; absent: a new one. */
  readonly threadId?: string;
  /** One of the two: five fields, or a span such as `15m`. */
  readonly cron?: string;
  readonly every?: string;
  /** IANA; UTC when absent. */
  readonly timeZone?: string;
  readonly missed?: MissedPolicy;
  readonly enabled?: boolean;
};
export type ScheduleTiming = Pick<NewSchedule, "cron" | "every" | "timeZone">;
export type ScheduleChange = Partial<Omit<NewSchedule, "id" | "threadId">>;

/** The verbs on schedules. Each throws NotFound for what is not the caller's. */
export type Schedules = {
  create(caller: Caller, input: NewSchedule): Promise<ScheduleRecord>;
  /** Oldest first. */
  list(caller: Caller): Promise<readonly ScheduleRecord[]>;
  get(caller: Caller, id: string): Promise<ScheduleRecord>;
  update(caller: Caller, id: string, patch: ScheduleChange): Promise<ScheduleRecord>;
  delete(caller: Caller, id: string): Promise<void>;
  /** Explains a time: as cron, and its next occurrences. Throws InvalidInput. */
  times(time: ScheduleTiming): { readonly cron: string; readonly next: readonly Date[] };
  /** Starts its run now, whether it is enabled or not. */
  runNow(caller: Caller, id: string, idempotency?: StartInput["idempotency"]): Promise<RunStart>;
};

/** Steps of erasing a person that only `run/` may do. Each can be repeated. */
export type PersonErasure = {
  /** Ends all that they have at work or waiting, wherever that is: who works on it can write nothing more. */
  stopRuns(userId: string): Promise<void>;
  /** Removes some of their threads; false: there are none any more. Throws if somebody keeps beginning runs there. */
  removeThreads(userId: string): Promise<boolean>;
  /** In threads of others: bodies become `{erased: true}`; order, kinds and pairs stay. Of runs that have not ended nothing is taken. */
  eraseItems(userId: string, name: string, threadId: string): Promise<void>;
  /** The file of its session says what the thread does. */
  rewriteFile(threadId: string): Promise<void>;
};

/** Removal of old data that only `run/` may do. Each returns how many it removed. */
export type RunRetention = {
  threads(which: { readonly archived: boolean; readonly days: number; readonly most: number }): Promise<number>;
  /** Runs that ended, with those below them. */
  runs(which: { readonly days: number; readonly most: number }): Promise<number>;
};

export type RunsService = {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly approvals: Approvals;
  readonly adminRuns: AdminRuns;
  readonly schedules: Schedules;
  readonly old: RunRetention;
  readonly erasure: PersonErasure;
  /** Why this process can't work now; undefined: it can. */
  readonly unready: () => ReadinessProblem | undefined;
  /** How many runs this process works on. */
  readonly active: () => number;
  /** Takes no more runs, lets what works go on for `graceMs`, hands the rest over. Waits as long for whom `isAnswering` speaks of. Once. */
  readonly drain: (graceMs: number, isAnswering?: () => boolean) => Promise<void>;
  /** Drains, then closes everything that is open. */
  readonly stop: (graceMs: number) => Promise<void>;
};
