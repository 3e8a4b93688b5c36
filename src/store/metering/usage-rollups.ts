import { setTimeout as delay } from "node:timers/promises";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { titleStep } from "./model-calls.ts";
import { getMeta, setMeta } from "../schema/meta.ts";

/** Up to where the call log has been counted. */
export const rolledKey = "usage_rolled_to";
const lock = 7_206_031;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A request is logged at its end: what began in the last minutes may be missing, and of long ones what began hours ago. */
const [latestMs, longestMs] = [15 * 60_000, 6 * hourMs];
/** What is counted in one transaction. */
const stepMs = 2 * dayMs;

/** SQL condition: the request failed by a fault of the model. Aborted ones say nothing about it. */
export const isFault = (error: string) => `${error} not like 'model\\_aborted%'`;

/** How long a request took, as the number of its step: each is five percent longer than the one before. */
const stepOf = (milliseconds: string) => `floor(ln(greatest(${milliseconds}, 1)) / ln(1.05))::integer`;
export const stepFactor = 1.05;

/** SQL condition: the call `c` is the first of its run, or the first that asked its model. */
const isFirst = (more: string) =>
  `c.run_id is not null and not exists (select from model_calls e where e.run_id = c.run_id${more} and (e.started_at, e.id) < (c.started_at, c.id))`;

/** SQL: for whom a call `c` of a run `r` is counted: its agent; of none "", but what named conversations for itself. */
export const agentOfCall = `case when c.run_id is null and c.step = '${titleStep}' then 'titles' else coalesce(r.agent, '') end`;

const histogram = (step: string) => `select key, jsonb_object_agg(step, count) as counts
    from (select key, ${step} as step, count(*) as count from calls where ${step} is not null group by 1, 2) h group by key`;

/** SQL of what the calls `c` of a condition come to, by a key; `from` may join more to them. */
export function callTotals({
  key,
  from = "",
  where,
}: {
  readonly key: string;
  readonly from?: string;
  readonly where: string;
}): string {
  return `with calls as materialized (
      select ${key} as key, c.*, ${isFirst("")} as starts_run, ${isFirst(" and e.model = c.model")} as asks_first,
        ${stepOf("c.first_part_ms")} as first_step, ${stepOf("c.total_ms")} as total_step
      from model_calls c ${from} where ${where})
    select s.*, coalesce(f.counts, '{}') as first_parts, coalesce(t.counts, '{}') as totals from (
      select key, count(*) as requests, count(*) filter (where ${isFault("error")}) as errors,
        coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens,
        coalesce(sum(cost), 0)::float8 as cost, count(*) filter (where starts_run) as runs,
        count(*) filter (where asks_first) as model_runs, max(started_at) as last_at,
        max(started_at) filter (where ${isFault("error")}) as last_error_at
      from calls group by key) s
    left join (${histogram("first_step")}) f using (key) left join (${histogram("total_step")}) t using (key)`;
}

/** Up to where there are rollups; what began later is in the call log alone. Undefined: none yet. */
export async function rolledTo(query: Query): Promise<Date | undefined> {
  const value = await getMeta(query, rolledKey);
  return value === undefined ? undefined : new Date(value);
}

/**
 * Counts what the call log has of the hours that are over, and counts the last ones again, for what was logged late. Does nothing
 * while another node is at it, and when no hour has ended since.
 */
export async function rollUpUsage({ transaction }: Database, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const begun = performance.now();
    const done = await transaction(async (query) => {
      const [free] = await query<{ is: boolean }>("select pg_try_advisory_xact_lock($1) as is", [lock]);
      return !free!.is || (await rollUpStep(query));
    });
    if (done) return;
    // As long as others had to wait, on PGlite.
    await delay(Math.min(100, performance.now() - begun), undefined, { signal });
  }
}

async function rollUpStep(query: Query): Promise<boolean> {
  const [log] = await query<{ first: Date | null; now: Date }>(
    "select (select min(started_at) from model_calls) as first, now() as now",
  );
  const { first, now } = log!;
  const target = hourOf(now.getTime() - latestMs);
  if (first === null) return true;
  const rolled = (await rolledTo(query))?.getTime();
  if (rolled !== undefined && rolled >= target) return true;
  const from = rolled === undefined ? hourOf(first.getTime()) : Math.max(rolled - longestMs, hourOf(first.getTime()));
  const to = Math.min(target, from + longestMs + stepMs);
  await count(query, "hour", { from, to });
  // Days that are over: those of before midnight are counted again with the late ones of their last hours.
  await count(query, "day", { from: dayOf(from), to: dayOf(to) });
  // What the log no longer has is not told of either. All that stands before the time is named, so that their index is used.
  await query(
    `delete from usage_rollups where span in ('hour', 'day') and of_user in (false, true) and of_all in (false, true)
       and starts_at < date_trunc('day', $1::timestamptz at time zone 'UTC') at time zone 'UTC'`,
    [first],
  );
  await setMeta(query, rolledKey, new Date(to).toISOString());
  return to >= target;
}

async function count(
  query: Query,
  span: "hour" | "day",
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  if (from >= to) return;
  const times = [new Date(from), new Date(to)];
  await query(`delete from usage_rollups where span = '${span}' and starts_at >= $1 and starts_at < $2`, times);
  for (const ofUser of [false, true]) {
    const user = ofUser ? "(select id from users where id = c.user_id)" : "null::uuid";
    // By account, model and agent an hour has nearly as many rows as the log.
    for (const ofAll of ofUser && span === "hour" ? [true] : [true, false]) {
      const what = ofAll ? "'', ''" : `c.model, ${agentOfCall}`;
      const key = `jsonb_build_array(date_trunc('${span}', c.started_at at time zone 'UTC'), ${user}, ${what})`;
      await query(
        `insert into usage_rollups (span, starts_at, of_user, of_all, user_id, model, agent, requests, errors, input_tokens, output_tokens, cost, runs,
           model_runs, last_at, last_error_at, first_parts, totals)
         select '${span}', (t.key ->> 0)::timestamp at time zone 'UTC', ${ofUser}, ${ofAll}, (t.key ->> 1)::uuid, t.key ->> 2, t.key ->> 3, t.requests, t.errors,
           t.input_tokens, t.output_tokens, t.cost, t.runs, t.model_runs, t.last_at, t.last_error_at, t.first_parts, t.totals
         from (${callTotals({ key, from: "left join runs r on r.id = c.run_id", where: "c.started_at >= $1 and c.started_at < $2" })}) t`,
        times,
      );
    }
  }
}

export function hourOf(time: number): number {
  return Math.floor(time / hourMs) * hourMs;
}

export function dayOf(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

const everyMs = 10 * 60_000;

/** Keeps the rollups up to the last full hour; the returned function stops it. */
export function startRollUps(database: Database, onError: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController();
  const round = () =>
    rollUpUsage(database, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) onError(error);
    });
  // Not at the start, when others have more to do.
  let rounds = Promise.resolve();
  const timer = setInterval(() => (rounds = rounds.then(round)), everyMs).unref();
  return async () => {
    clearInterval(timer);
    stopping.abort(new Error("The server stops."));
    await rounds;
  };
}
