import type { UsageGroup, UsageView } from "../../protocol/people/overview.ts";
import type { Query } from "../../protocol/agents/tools.ts";

export type UsageFilter = {
  readonly from: Date;
  readonly to: Date;
  readonly by: UsageGroup;
  /** Only this user's. */
  readonly userId?: string | undefined;
  /** Only of this model, by its id. */
  readonly model?: string | undefined;
};

/** SQL condition: the request failed by a fault of the model. Aborted ones say nothing about it. */
const isFault = (error: string) => `${error} not like 'model\\_aborted%'`;

const most = 1000;
const keys: Readonly<Record<UsageGroup, string>> = {
  user: "coalesce(u.name, '')",
  model: "c.model",
  agent: "coalesce(r.agent, '')",
  day: "to_char(date_trunc('day', c.started_at at time zone 'UTC'), 'YYYY-MM-DD')",
  hour: `to_char(date_trunc('hour', c.started_at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:00"Z"')`,
};

/** From the call log, which goes back 90 days. By time in its order, else the most requests first. */
export function readUsage(query: Query, { from, to, by, userId, model }: UsageFilter): Promise<readonly UsageView[]> {
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
     group by 1 order by ${by === "day" || by === "hour" ? "1" : "requests desc, 1"} limit ${most}`,
    [from, to, userId ?? null, model ?? null],
  );
}

export type ModelHealth = {
  readonly model: string;
  readonly lastUsedAt: Date;
  readonly lastError: string | null;
  readonly lastErrorAt: Date | null;
  /** Requests of the last day. */
  readonly requests: number;
  readonly errors: number;
};

/** How the models did that were asked within a week. What the newest error said is looked up: to sort them all is slow. */
export function readModelHealth(query: Query): Promise<readonly ModelHealth[]> {
  return query<ModelHealth>(
    `with seen as (
       select model, max(started_at) as last_used, max(started_at) filter (where ${isFault("error")}) as last_error,
         count(*) filter (where started_at > now() - interval '1 day')::integer as requests,
         count(*) filter (where started_at > now() - interval '1 day' and ${isFault("error")})::integer as errors
       from model_calls where started_at > now() - interval '7 days' group by model)
     select model, last_used as "lastUsedAt", last_error as "lastErrorAt", requests, errors,
       (select error from model_calls c where c.started_at = seen.last_error and c.model = seen.model and ${isFault("c.error")}
        order by c.id desc limit 1) as "lastError"
     from seen order by model`,
  );
}
