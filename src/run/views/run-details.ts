import { isId } from "../../protocol/base/ids.ts";
import { getRun, listQuestions } from "./list-runs.ts";
import { noRun } from "../lifecycle/locked-run.ts";
import { type RunRow, runColumns, toRun } from "../log/rows.ts";
import { readTrace, type TraceQuery, wordsOf } from "./run-trace.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { RunOrigin } from "../../protocol/threads/runs.ts";
import type { AdminRun, SpentTokens, ModelUse, RunAbout } from "../../protocol/threads/run-trace.ts";
import type { RunDetails } from "../traced-run.ts";
import type { Query } from "../../protocol/agents/tools.ts";

export type AdminRow = RunRow & {
  user_name: string;
  node: string | null;
  wait_until: Date | null;
  cancel_asked: boolean;
};

/** SQL columns of runs `r` and users `u`. */
export const adminColumns = `${runColumns.replaceAll(/(\w+)/g, "r.$1")}, u.name as user_name, r.node, r.wait_until, r.cancel_asked`;

export function toAdminRun(row: AdminRow): AdminRun {
  return {
    ...toRun(row),
    userName: row.user_name,
    node: row.node,
    waitUntil: row.wait_until?.toISOString() ?? null,
    cancelAsked: row.cancel_asked,
  };
}

/** A run from inside, with all that it delegated. Throws NotFound. */
export async function readRunDetails(runtime: Runtime, asked: TraceQuery): Promise<RunDetails> {
  const { database } = runtime;
  const { runId, userId } = asked;
  if (!isId(runId)) throw noRun(runId);
  const [row] = await database.query<AdminRow & { origin: RunOrigin | null }>(
    `select ${adminColumns}, r.origin from runs r join users u on u.id = r.user_id where r.id = $1 and ($2::uuid is null or r.user_id = $2)`,
    [runId, userId ?? null],
  );
  const run = row ? toAdminRun(row) : await pendingRun(runtime, asked);
  const [about, job, questions, budget, models, trace] = await Promise.all([
    summariesOfRuns(database.listing.query, [runId]),
    row?.parent_run === null ? jobOf(runtime, row) : undefined,
    run.status === "waiting" ? listQuestions(database, { userId: run.userId }, runId) : [],
    row && budgetOf(runtime, row.root_run),
    modelsOf(runtime, runId),
    readTrace(database.listing.query, asked),
  ]);
  return { run, about: about.get(runId), origin: row?.origin ?? null, questions, job, budget, models, ...trace };
}

/** A message that waits for its turn. */
async function pendingRun({ database }: Runtime, { runId, userId }: TraceQuery): Promise<AdminRun> {
  const [row] = await database.query<{ user_id: string; name: string }>(
    "select p.user_id, u.name from pending p join users u on u.id = p.user_id where p.run_id = $1 and ($2::uuid is null or p.user_id = $2)",
    [runId, userId ?? null],
  );
  if (!row) throw noRun(runId);
  const run = await getRun(database, { userId: row.user_id }, runId);
  return { ...run, userName: row.name, node: null, waitUntil: null, cancelAsked: false };
}

/** Who works on a root run, or that anybody may begin to. */
async function jobOf(
  { database }: Runtime,
  { id, status, epoch, started_at, node }: AdminRow,
): Promise<RunDetails["job"]> {
  if (status !== "queued" && status !== "running") return undefined;
  const [seen] =
    status === "running" && database.kind === "postgres"
      ? await database.query<{ seconds: number }>(
          "select extract(epoch from now() - seen_at)::float8 as seconds from nodes where id = $1",
          [node],
        )
      : [];
  return {
    id,
    state: status === "running" ? "active" : epoch === 0 ? "created" : "retry",
    retryCount: Math.max(0, epoch - 1),
    startedAt: started_at?.toISOString() ?? null,
    heartbeatSeconds: seen?.seconds ?? null,
  };
}

async function budgetOf({ database }: Runtime, rootRun: string): Promise<RunDetails["budget"]> {
  const [row] = await database.query<Record<string, number | null> & { left_ms: number }>(
    `select steps, steps_max, calls, calls_max, writes, writes_max, tokens, tokens_max, cost, cost_max,
       case when deadline is null then left_ms else greatest(0, extract(epoch from deadline - now()) * 1000)::bigint end as left_ms
     from budgets where root_run = $1`,
    [rootRun],
  );
  if (!row) return undefined;
  const spent = (name: string): SpentTokens => ({ used: row[name] ?? 0, max: row[`${name}_max`] ?? null });
  return {
    steps: spent("steps"),
    toolCalls: spent("calls"),
    writes: spent("writes"),
    tokens: spent("tokens"),
    cost: spent("cost"),
    leftMs: row.left_ms,
  };
}

async function modelsOf({ database }: Runtime, runId: string): Promise<ModelUse[]> {
  return database.query<ModelUse>(
    `select model, provider, count(*) as calls, count(error) as failed, coalesce(sum(input_tokens), 0)::bigint as "inputTokens",
       coalesce(sum(output_tokens), 0)::bigint as "outputTokens", sum(cost) as cost, sum(total_ms) as "totalMs"
     from model_calls where run_id = $1 group by model, provider order by model, provider`,
    [runId],
  );
}

const maxText = 200;

/** Summarises runs without checking access, which the caller must have done. Of one that is queued there is no use yet. */
export async function summariesOfRuns(query: Query, runIds: readonly string[]): Promise<ReadonlyMap<string, RunAbout>> {
  type Used = { steps: number; calls: number; tokens: number; cost: number };
  type Row = { id: string; text: string | null; kind: "conversation" | "room" | "schedule"; title: string } & (
    | Used
    | { [Name in keyof Used]: null }
  );
  const rows = await query<Row>(
    `select one.id, left(coalesce(first.text, ${wordsOf("p.start -> 'items' -> -1 -> 'body' -> 'content'")}), ${maxText}) as text,
       case when exists (select from rooms where rooms.thread_id = t.id) then 'room'
         when coalesce(r.caller, p.start -> 'caller') ->> 'via' = 'system' then 'schedule' else 'conversation' end as kind,
       left(t.title, ${maxText}) as title, b.steps, b.calls, b.tokens, b.cost
     from unnest($1::uuid[]) as one (id) left join runs r on r.id = one.id left join pending p on p.run_id = one.id
     join threads t on t.id = coalesce(r.thread_id, p.thread_id) left join budgets b on b.root_run = r.id
     left join lateral (
       select case kind when 'call' then (body ->> 'name') || ' ' || (body ->> 'arguments') else ${wordsOf("body -> 'content'")} end as text
       from items where run_id = r.id and kind in ('message', 'call') order by seq limit 1) as first on true`,
    [runIds],
  );
  return new Map(
    rows.map(({ id, text, kind, title, steps, calls, tokens, cost }) => [
      id,
      { text, place: { kind, title }, used: steps === null ? null : { steps, toolCalls: calls, tokens, cost } },
    ]),
  );
}
