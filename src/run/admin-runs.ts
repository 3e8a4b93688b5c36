import { type Caller, cutBack, type Rights } from "../protocol/callers.ts";
import { Conflict, NotFound } from "../protocol/errors.ts";
import { isId } from "../protocol/ids.ts";
import type { ItemOf } from "../protocol/items.ts";
import { isEnded, type RunDefinition, type RunRecord, type RunStatus, type WaitReason } from "../protocol/runs.ts";
import { openQuestions } from "./decisions.ts";
import type { JobState } from "./engine.ts";
import { getRun, pendingColumns } from "./list-runs.ts";
import { itemsOfRun, noRun } from "./locked.ts";
import { resolveWrite, type Resolution } from "./resolve-write.ts";
import { runColumns, toRun, type RunRow } from "./rows.ts";
import { startRun } from "./run.ts";
import type { Started } from "./runs.ts";
import type { Runtime } from "./runtime.ts";

/** A run as whoever looks after the server sees it. */
export type AdminRun = RunRecord & {
  readonly userName: string;
  /** The process that took it last; undefined: none has. */
  readonly node: string | null;
  readonly waitUntil: string | null;
  readonly cancelAsked: boolean;
};

export type AdminRunFilter = {
  readonly status?: RunStatus;
  readonly waitReason?: WaitReason;
  /** Id or name. */
  readonly user?: string;
  readonly agent?: string;
  readonly threadId?: string;
  readonly before?: string;
  readonly limit?: number;
};

type Spent = { readonly used: number; readonly max: number | null };

export type AdminRunDetails = {
  readonly run: AdminRun;
  /** What it waits for. */
  readonly questions: readonly ItemOf<"question">[];
  /** Undefined: no job stands for it, as for one that waits or has ended. */
  readonly job: JobState | undefined;
  /** Of the whole tree; undefined for a message that waits for its turn. */
  readonly budget:
    | ({ readonly [Limit in "steps" | "toolCalls" | "writes" | "tokens" | "cost"]: Spent } & {
        readonly leftMs: number;
      })
    | undefined;
  readonly ledger: readonly LedgerView[];
  readonly models: readonly ModelUse[];
};

export type LedgerView = {
  readonly step: string;
  readonly index: number;
  readonly tool: string;
  readonly status: "executing" | "done" | "failed" | "unknown";
  /** The idempotency key that the tool was given. */
  readonly key: string;
  /** Before it nobody asks or repeats. */
  readonly until: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
};

export type ModelUse = {
  readonly model: string;
  readonly provider: string;
  readonly calls: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  readonly totalMs: number;
};

/** What an admin may do with anybody's runs; whoever calls these has made sure that the caller is one. */
export type AdminRuns = {
  /** Newest first. */
  list(filter: AdminRunFilter): Promise<readonly AdminRun[]>;
  get(runId: string): Promise<AdminRunDetails>;
  /** A new run with the message, agent and options of one that failed or was cancelled, for its owner. */
  retry(runId: string, idempotencyKey?: string): Promise<Started>;
  /** Says what became of a write whose outcome is unknown. */
  resolve(caller: Caller, runId: string, resolution: Resolution): Promise<void>;
};

export function createAdminRuns(runtime: Runtime): AdminRuns {
  return {
    list: (filter) => list(runtime, filter),
    get: (runId) => get(runtime, runId),
    retry: (runId, idempotencyKey) => retry(runtime, runId, idempotencyKey),
    resolve: (caller, runId, resolution) => resolveWrite(runtime, caller, { runId, ...resolution }),
  };
}

type AdminRow = RunRow & {
  user_name: string;
  node: string | null;
  wait_until: Date | null;
  cancel_asked: boolean;
  job_id: string | null;
};

const columns = `${runColumns.replaceAll(/(\w+)/g, "r.$1")}, u.name as user_name, r.node, r.wait_until, r.cancel_asked, r.job_id`;

function toAdminRun(row: AdminRow): AdminRun {
  return {
    ...toRun(row),
    userName: row.user_name,
    node: row.node,
    waitUntil: row.wait_until?.toISOString() ?? null,
    cancelAsked: row.cancel_asked,
  };
}

async function list({ database }: Runtime, filter: AdminRunFilter): Promise<AdminRun[]> {
  const { status, waitReason, user, agent, threadId, before, limit = 50 } = filter;
  const asked = `($1::text is null or r.status = $1) and ($2::text is null or r.wait_reason = $2)
       and ($3::text is null or u.name = $3 or u.id::text = $3) and ($4::text is null or r.agent = $4)
       and ($5::uuid is null or r.thread_id = $5) and ($6::uuid is null or r.id < $6)`;
  const rows = await database.query<AdminRow>(
    `(select ${columns} from runs r join users u on u.id = r.user_id where ${asked} order by r.id desc limit $7)
     union all
     (select ${columns} from (select ${pendingColumns}, null::text as node, null::timestamptz as wait_until, false as cancel_asked,
        null::uuid as job_id from pending) r join users u on u.id = r.user_id where ${asked} order by r.id desc limit $7)
     order by id desc limit $7`,
    [status ?? null, waitReason ?? null, user ?? null, agent ?? null, threadId ?? null, before ?? null, limit],
  );
  return rows.map(toAdminRun);
}

async function get(runtime: Runtime, runId: string): Promise<AdminRunDetails> {
  const { database, engine } = runtime;
  const { query } = database;
  if (!isId(runId)) throw noRun(runId);
  const [row] = await query<AdminRow>(
    `select ${columns} from runs r join users u on u.id = r.user_id where r.id = $1`,
    [runId],
  );
  const [job, items, budget, ledger, models] = await Promise.all([
    row?.job_id ? engine.find(row.job_id) : undefined,
    itemsOfRun(query, runId),
    row && budgetOf(runtime, row.root_run),
    ledgerOf(runtime, runId),
    modelsOf(runtime, runId),
  ]);
  return {
    run: row ? toAdminRun(row) : await pendingRun(runtime, runId),
    questions: row?.status === "waiting" ? openQuestions(items) : [],
    job,
    budget,
    ledger,
    models,
  };
}

/** A message that waits for its turn. */
async function pendingRun({ database }: Runtime, runId: string): Promise<AdminRun> {
  const [row] = await database.query<{ user_id: string; name: string }>(
    "select p.user_id, u.name from pending p join users u on u.id = p.user_id where p.run_id = $1",
    [runId],
  );
  if (!row) throw noRun(runId);
  const run = await getRun(database, { userId: row.user_id }, runId);
  return { ...run, userName: row.name, node: null, waitUntil: null, cancelAsked: false };
}

async function budgetOf({ database }: Runtime, rootRun: string): Promise<AdminRunDetails["budget"]> {
  const [row] = await database.query<Record<string, number | null> & { left_ms: number }>(
    `select steps, steps_max, calls, calls_max, writes, writes_max, tokens, tokens_max, cost, cost_max,
       case when deadline is null then left_ms else greatest(0, extract(epoch from deadline - now()) * 1000)::bigint end as left_ms
     from budgets where root_run = $1`,
    [rootRun],
  );
  if (!row) return undefined;
  const spent = (name: string): Spent => ({ used: row[name] ?? 0, max: row[`${name}_max`] ?? null });
  return {
    steps: spent("steps"),
    toolCalls: spent("calls"),
    writes: spent("writes"),
    tokens: spent("tokens"),
    cost: spent("cost"),
    leftMs: row.left_ms,
  };
}

async function ledgerOf({ database }: Runtime, runId: string): Promise<LedgerView[]> {
  type Row = Omit<LedgerView, "until" | "createdAt" | "endedAt"> & {
    until: Date | null;
    created_at: Date;
    ended_at: Date | null;
  };
  const rows = await database.query<Row>(
    `select step, call_index as index, tool, status, key, until, created_at, ended_at from ledger where run_id = $1
     order by created_at, step, call_index`,
    [runId],
  );
  return rows.map(({ until, created_at, ended_at, ...row }) => ({
    ...row,
    until: until?.toISOString() ?? null,
    createdAt: created_at.toISOString(),
    endedAt: ended_at?.toISOString() ?? null,
  }));
}

async function modelsOf({ database }: Runtime, runId: string): Promise<ModelUse[]> {
  return database.query<ModelUse>(
    `select model, provider, count(*) as calls, count(error) as failed, coalesce(sum(input_tokens), 0)::bigint as "inputTokens",
       coalesce(sum(output_tokens), 0)::bigint as "outputTokens", sum(cost) as cost, sum(total_ms) as "totalMs"
     from model_calls where run_id = $1 group by model, provider order by model, provider`,
    [runId],
  );
}

async function retry(runtime: Runtime, runId: string, idempotencyKey?: string): Promise<Started> {
  const { query } = runtime.database;
  if (!isId(runId)) throw noRun(runId);
  const [run] = await query<
    Pick<RunRow, "thread_id" | "agent" | "parent_run" | "status"> & { caller: Caller; definition: RunDefinition }
  >("select thread_id, agent, parent_run, status, caller, definition from runs where id = $1", [runId]);
  if (!run) throw noRun(runId);
  if (!isEnded(run.status) || run.status === "done")
    throw new Conflict(`The run is ${run.status}; one that failed or was cancelled can be tried again.`, {
      code: "run_not_failed",
    });
  const message = (await itemsOfRun(query, runId)).find(
    (item): item is ItemOf<"message"> => item.kind === "message" && item.body.role === "user",
  );
  if (run.parent_run !== null || !message)
    throw new Conflict("The run was not begun by a message: try the run or the tool call again that it comes from.", {
      code: "run_without_message",
    });
  const started = await startRun(runtime, await ownerOf(runtime, run.caller), {
    agent: run.agent,
    threadId: run.thread_id,
    message: { content: message.body.content },
    options: run.definition.options,
    ...(idempotencyKey === undefined
      ? {}
      : { idempotency: { key: `retry ${runId} ${idempotencyKey}`, bodyHash: runId } }),
  });
  runtime.log.info({ runId, retriedAs: started.runId }, "a run was tried again by an admin");
  return started;
}

/** The caller of the first run, with what is left of its rights today. */
async function ownerOf({ database }: Runtime, caller: Caller): Promise<Caller> {
  const [user] = await database.query<Rights & { name: string; disabled: boolean }>(
    "select name, role, disabled, permissions_of(id, role) as permissions from users where id = $1",
    [caller.userId],
  );
  if (!user) throw new NotFound(`There is no user ${caller.userId}.`);
  if (user.disabled) throw new Conflict(`The account of ${user.name} is disabled.`, { code: "account_disabled" });
  return { ...cutBack(caller, user), name: user.name };
}
