import type { UsageGroup, UsageView } from "../../protocol/people/overview.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { agentOfCall, callTotals, dayOf, hourOf, isFault, rolledTo, stepFactor } from "./usage-rollups.ts";

export type UsageFilter = {
  readonly from: Date;
  readonly to: Date;
  readonly by: UsageGroup;
  /** Only this user's. */
  readonly userId?: string | undefined;
  /** Only of this model, by its id. */
  readonly model?: string | undefined;
  /** As many as there are, up to 1,000, when absent. */
  readonly limit?: number | undefined;
};

/** Whose use is read: of this account alone, or of these; absent: of all. */
type Whose = { readonly userId?: string | undefined; readonly users?: readonly string[] };

export const mostUsages = 1000;
const keys: Readonly<Record<UsageGroup, string>> = {
  user: "coalesce(u.name, '')",
  model: "c.model",
  agent: agentOfCall,
  day: "to_char(date_trunc('day', c.started_at at time zone 'UTC'), 'YYYY-MM-DD')",
  hour: `to_char(date_trunc('hour', c.started_at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:00"Z"')`,
};

/**
 * From what the call log came to in each hour and day that is over, and from the log itself for the rest; it goes back 90 days. By
 * time in its order, else the most requests first.
 */
export async function readUsage(query: Query, filter: UsageFilter): Promise<readonly UsageView[]> {
  const rolled = await rolledTo(query);
  const parts = rolled && partsOf(filter, rolled);
  if (!parts) return readFromLog(query, filter);
  const isByUser = filter.by === "user" && filter.userId === undefined;
  const asked = isByUser ? { ...filter, users: await busiest(query, filter, parts) } : filter;
  const totals = [...(await readRollups(query, asked, parts)), ...(await readRest(query, asked, parts.rest))];
  const usages = [...mergedByKey(totals)].map(([key, found]) => usageOf(key, found, filter.by));
  return usages.sort(filter.by === "day" || filter.by === "hour" ? byKey : byRequests).slice(0, limitOf(filter));
}

function limitOf({ limit = mostUsages }: UsageFilter): number {
  return Math.min(limit, mostUsages);
}

function byKey(a: UsageView, b: UsageView): number {
  return a.key < b.key ? -1 : 1;
}

function byRequests(a: UsageView, b: UsageView): number {
  return b.requests - a.requests || byKey(a, b);
}

/** Not rounded, so for a time of which nothing is counted yet. */
function readFromLog(query: Query, filter: UsageFilter): Promise<readonly UsageView[]> {
  const { from, to, by, userId, model } = filter;
  const key = keys[by];
  return query<UsageView>(
    `select ${key} as key, count(*)::integer as requests, count(*) filter (where ${isFault("c.error")})::integer as errors,
       coalesce(sum(c.input_tokens), 0)::float8 as "inputTokens", coalesce(sum(c.output_tokens), 0)::float8 as "outputTokens",
       coalesce(sum(c.cost), 0)::float8 as cost, count(distinct c.run_id)::integer as runs,
       percentile_cont(0.5) within group (order by c.first_part_ms) as "firstPartP50",
       percentile_cont(0.95) within group (order by c.first_part_ms) as "firstPartP95",
       percentile_cont(0.5) within group (order by c.total_ms) as "totalP50",
       percentile_cont(0.95) within group (order by c.total_ms) as "totalP95"
     from model_calls c ${by === "user" ? "left join users u on u.id = c.user_id" : ""}
       ${by === "agent" ? "left join runs r on r.id = c.run_id" : ""}
     where c.started_at >= $1 and c.started_at < $2 and ($3::uuid is null or c.user_id = $3)
       and ($4::text is null or c.model = $4)
     group by 1 order by ${by === "day" || by === "hour" ? "1" : "requests desc, 1"} limit $5`,
    [from, to, userId ?? null, model ?? null, limitOf(filter)],
  );
}

type Span = readonly [from: number, to: number];

/** Which days and hours are read as they were counted, and what is left, which the log tells. */
type UsageParts = { readonly days: Span; readonly hours: readonly Span[]; readonly rest: readonly Span[] };

/** Of all models and agents together there are fewer. */
function isOfAll({ by, model }: UsageFilter): boolean {
  return by !== "model" && by !== "agent" && model === undefined;
}

/** Undefined: nothing of it was counted. Of accounts by model or agent, days alone are. */
function partsOf(filter: UsageFilter, rolled: Date): UsageParts | undefined {
  const { from, to, by, userId } = filter;
  const [start, end, counted] = [from.getTime(), to.getTime(), rolled.getTime()];
  const hasHours = isOfAll(filter) || (userId === undefined && by !== "user");
  const days: Span = by === "hour" ? [start, start] : [-dayOf(-start), dayOf(Math.min(end, counted))];
  const hours: Span = [-hourOf(-start), hourOf(Math.min(end, counted))];
  const hasDays = days[0] < days[1];
  if (!hasHours) return hasDays ? { days, hours: [], rest: besides([start, end], days) } : undefined;
  if (hours[0] >= hours[1]) return undefined;
  const rest = besides([start, end], hours);
  return hasDays ? { days, hours: besides(hours, days), rest } : { days: [start, start], hours: [hours], rest };
}

function besides([from, to]: Span, [first, last]: Span): readonly Span[] {
  return [[from, first] as const, [last, to] as const].filter(([a, b]) => a < b);
}

type UsageTotals = {
  readonly key: string;
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly runs: number;
  readonly model_runs: number;
  /** How many requests took how long, by the numbers of their steps. */
  readonly first_parts: Readonly<Record<string, number>>;
  readonly totals: Readonly<Record<string, number>>;
};

const rolledKeys: Readonly<Record<UsageGroup, string>> = {
  user: keys.user,
  model: "c.model",
  agent: "c.agent",
  day: keys.day.replace("started_at", "starts_at"),
  hour: keys.hour.replace("started_at", "starts_at"),
};

function readRollups(
  query: Query,
  asked: UsageFilter & Whose,
  { days, hours }: UsageParts,
): Promise<readonly UsageTotals[]> {
  const { by, userId, model } = asked;
  const ofUser = userId !== undefined || by === "user";
  const columns = `${rolledKeys[by]} as key, requests, errors, input_tokens, output_tokens, cost, runs, model_runs, first_parts, totals`;
  const rows = (span: string, times: string) =>
    `select ${columns} from usage_rollups c ${by === "user" ? "left join users u on u.id = c.user_id" : ""} where span = '${span}' and of_user = ${ofUser} and of_all = ${isOfAll(asked)} and ${times}
       and ${isTheirs(asked)} and ($2::text is null or model = $2)`;
  return query<UsageTotals>(
    `${rows("day", "starts_at >= $3 and starts_at < $4")} union all ${rows("hour", "(starts_at >= $5 and starts_at < $6 or starts_at >= $7 and starts_at < $8)")}`,
    [whose(asked), model ?? null, ...timesOf([days]), ...timesOf(hours, 2)],
  );
}

/** Who has the most requests, without what is not summed up for it. Those of accounts that are gone are asked for with any. */
async function busiest(
  query: Query,
  filter: UsageFilter,
  { days, hours, rest }: UsageParts,
): Promise<readonly string[]> {
  const rows = (span: string, times: string) =>
    `select user_id, requests from usage_rollups where span = '${span}' and of_user and of_all = ${isOfAll(filter)} and ${times} and ($1::text is null or model = $1)`;
  const found = await query<{ id: string }>(
    `select user_id as id from (
       ${rows("day", "starts_at >= $2 and starts_at < $3")}
       union all ${rows("hour", "(starts_at >= $4 and starts_at < $5 or starts_at >= $6 and starts_at < $7)")}
       union all select user_id, 1 from model_calls
         where (started_at >= $8 and started_at < $9 or started_at >= $10 and started_at < $11) and ($1::text is null or model = $1)) used
     where user_id is not null group by user_id order by sum(requests) desc, user_id limit $12`,
    [filter.model ?? null, ...timesOf([days]), ...timesOf(hours, 2), ...timesOf(rest, 2), limitOf(filter)],
  );
  return found.map(({ id }) => id);
}

/** What the log has of the times that were not counted; two of them at most. */
function readRest(query: Query, asked: UsageFilter & Whose, rest: readonly Span[]): Promise<readonly UsageTotals[]> {
  const { by, model } = asked;
  const from = `${by === "user" ? "left join users u on u.id = c.user_id" : ""} ${by === "agent" ? "left join runs r on r.id = c.run_id" : ""}`;
  const where = `(c.started_at >= $3 and c.started_at < $4 or c.started_at >= $5 and c.started_at < $6)
    and ${isTheirs(asked)} and ($2::text is null or c.model = $2)`;
  return query<UsageTotals>(callTotals({ key: keys[by], from, where }), [
    whose(asked),
    model ?? null,
    ...timesOf(rest, 2),
  ]);
}

/** SQL condition in which `$1` is the account, or those, if there are any: so that their index is used. */
function isTheirs({ userId, users }: Whose): string {
  if (userId !== undefined) return "c.user_id = $1::uuid";
  return users ? "(c.user_id = any ($1::uuid[]) or c.user_id is null)" : "$1::uuid is null";
}

function whose({ userId, users }: Whose): string | readonly string[] | null {
  return userId ?? users ?? null;
}

/** Two parameters for each; those that there are not are empty. */
function timesOf(spans: readonly Span[], count = 1): readonly Date[] {
  const none: Span = [0, 0];
  return Array.from({ length: count }, (_, at) => spans[at] ?? none).flatMap((span) =>
    span.map((time) => new Date(time)),
  );
}

function mergedByKey(totals: readonly UsageTotals[]): ReadonlyMap<string, readonly UsageTotals[]> {
  return Map.groupBy(totals, ({ key }) => key);
}

function usageOf(key: string, found: readonly UsageTotals[], by: UsageGroup): UsageView {
  const sum = (of: (totals: UsageTotals) => number) => found.reduce((all, totals) => all + of(totals), 0);
  const firstParts = merged(found.map(({ first_parts }) => first_parts));
  const totals = merged(found.map((each) => each.totals));
  return {
    key,
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    inputTokens: sum(({ input_tokens }) => input_tokens),
    outputTokens: sum(({ output_tokens }) => output_tokens),
    cost: sum(({ cost }) => cost),
    runs: sum(({ runs, model_runs }) => (by === "model" ? model_runs : runs)),
    firstPartP50: percentile(firstParts, 0.5),
    firstPartP95: percentile(firstParts, 0.95),
    totalP50: percentile(totals, 0.5),
    totalP95: percentile(totals, 0.95),
  };
}

function merged(histograms: readonly Readonly<Record<string, number>>[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const histogram of histograms)
    for (const [step, count] of Object.entries(histogram))
      counts.set(Number(step), (counts.get(Number(step)) ?? 0) + count);
  return counts;
}

/** In the middle of its step, so by two and a half percent wrong at most. */
function percentile(counts: ReadonlyMap<number, number>, part: number): number | null {
  const steps = [...counts].sort(([a], [b]) => a - b);
  let left = part * steps.reduce((sum, [, count]) => sum + count, 0);
  for (const [step, count] of steps) {
    left -= count;
    if (left <= 0) return stepFactor ** (step + 0.5);
  }
  return null;
}

export type ModelHealth = {
  readonly model: string;
  readonly lastUsedAt: Date;
  readonly lastError: string | null;
  readonly lastErrorAt: Date | null;
  /** Requests of the last day, or of an hour less: those that were counted are known by the hour. */
  readonly requests: number;
  readonly errors: number;
};

/**
 * How the models did that were asked within a week, from the hours that were counted and the log of those that were not. What the
 * newest error said is looked up: to sort them all is slow.
 */
export async function readModelHealth(query: Query): Promise<readonly ModelHealth[]> {
  const rolled = await rolledTo(query);
  return query<ModelHealth>(
    `with seen as (
       select model, max(last_at) as last_used, max(last_error_at) as last_error,
         coalesce(sum(requests) filter (where at > now() - interval '1 day'), 0)::integer as requests,
         coalesce(sum(errors) filter (where at > now() - interval '1 day'), 0)::integer as errors
       from (
         select model, starts_at as at, last_at, last_error_at, requests, errors from usage_rollups
         where span = 'hour' and not of_user and not of_all and starts_at > now() - interval '7 days' and starts_at < $1::timestamptz
         union all
         select model, started_at, started_at, case when ${isFault("error")} then started_at end, 1, (${isFault("error")})::integer
         from model_calls where started_at > now() - interval '7 days' and started_at >= coalesce($1, '-infinity')
       ) calls group by model)
     select model, last_used as "lastUsedAt", last_error as "lastErrorAt", requests, errors,
       (select error from model_calls c where c.started_at = seen.last_error and c.model = seen.model and ${isFault("c.error")}
        order by c.id desc limit 1) as "lastError"
     from seen order by model`,
    [rolled ?? null],
  );
}
