import type { BudgetPeriod, OnBudgetLimit, Amounts, BudgetView, UsedAmounts } from "../../protocol/people/budgets.ts";
import { ColloquyError, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { sqlState } from "../driver/sql-state.ts";

/** Whose it is: one account's, all members' of a group together, or each account's that has none of its own. */
export type BudgetSubject =
  | { readonly kind: "user"; readonly userId: string }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "default" };

/** A budget for a calendar day or month, UTC. At least one amount is limited. */
export type NewBudget = {
  readonly subject: BudgetSubject;
  readonly period: BudgetPeriod;
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly requests: number | null;
  /** From which part of an amount on it is told; 1: never before the end. */
  readonly warnAt: number;
  readonly onLimit: OnBudgetLimit;
};
export type Budget = Omit<NewBudget, "subject"> & {
  readonly id: string;
  readonly kind: BudgetView["kind"];
  readonly userId: string | null;
  readonly userName: string | null;
  readonly group: string | null;
  readonly updatedAt: Date;
};

/** A budget in the period of now, as it counts for somebody. */
export type BudgetState = Budget & {
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly used: UsedAmounts;
  /** Reserved by requests at work. */
  readonly held: Amounts;
  readonly state: NonNullable<BudgetView["state"]>;
};

type BudgetRow = {
  id: string;
  kind: BudgetSubject["kind"];
  user_id: string | null;
  user_name: string | null;
  group_name: string | null;
  period: BudgetPeriod;
  tokens_max: number | null;
  cost_max: number | null;
  requests_max: number | null;
  warn_at: number;
  on_limit: OnBudgetLimit;
  updated_at: Date;
};
const columns = `b.id, b.kind, b.user_id, (select name from users where id = b.user_id) as user_name, b.group_name, b.period, b.tokens_max, b.cost_max,
  b.requests_max, b.warn_at, b.on_limit, b.updated_at`;

function toBudget(row: BudgetRow): Budget {
  return {
    id: row.id,
    kind: row.kind,
    userId: row.user_id,
    userName: row.user_name,
    group: row.group_name,
    period: row.period,
    tokens: row.tokens_max,
    cost: row.cost_max,
    requests: row.requests_max,
    warnAt: row.warn_at,
    onLimit: row.on_limit,
    updatedAt: row.updated_at,
  };
}

/**
 * Makes the budget of this subject and period, or sets it anew. Nothing is counted while there is none: the counters of one
 * that is new catch up with the call log, which may know less than they if it is kept for a short time. Throws NotFound for an account or group that is not there. */
export async function saveBudget(query: Query, budget: NewBudget): Promise<Budget> {
  const { subject, period, tokens, cost, requests, warnAt, onLimit } = budget;
  const userId = subject.kind === "user" ? subject.userId : null;
  const group = subject.kind === "group" ? subject.group : null;
  const [there] = await query<{ is: boolean }>(
    `select ($1::uuid is null or exists (select from users where id = $1))
       and ($2::text is null or exists (select from groups where name = $2)) as is`,
    [userId, group],
  );
  if (!there!.is)
    throw userId === null
      ? new NotFound(`Group ${group} not found.`, { code: "group_not_found" })
      : new NotFound(`User ${userId} not found.`, { code: "user_not_found" });
  const [row] = await query<BudgetRow>(
    `with b as (
       insert into spending_budgets (id, kind, user_id, group_name, period, tokens_max, cost_max, requests_max, warn_at, on_limit)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (kind, period, user_id, group_name) do update set tokens_max = excluded.tokens_max, cost_max = excluded.cost_max,
         requests_max = excluded.requests_max, warn_at = excluded.warn_at, on_limit = excluded.on_limit, updated_at = now()
       returning *, xmax = 0 as is_new),
     log as (
       select s.who, s.period, s.starts_at, sum(coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0)) as tokens, sum(c.cost) as cost,
         count(*) filter (where c.error is null) as requests, count(*) filter (where c.error is null and c.cost is null) as unpriced
       from b join spending s on b.is_new and s.period = b.period and s.starts_at = period_start(b.period) and case b.kind
           when 'user' then s.user_id = b.user_id when 'group' then s.group_name = b.group_name
           else not exists (select from spending_budgets own where own.user_id = s.user_id and own.period = s.period) and s.user_id is not null end
         join model_calls c on c.started_at >= s.starts_at
           and (c.user_id = s.user_id or c.user_id in (select m.user_id from group_members m where m.group_name = s.group_name))
       group by s.who, s.period, s.starts_at),
     caught_up as (
       update spending s set tokens = greatest(s.tokens, log.tokens), cost = greatest(s.cost, log.cost),
         requests = greatest(s.requests, log.requests), unpriced = greatest(s.unpriced, log.unpriced), warned_at = null
       from log where s.who = log.who and s.period = log.period and s.starts_at = log.starts_at)
     select ${columns} from b`,
    [newId(), subject.kind, userId, group, period, tokens, cost, requests, warnAt, onLimit],
  );
  return toBudget(row!);
}

/** Throws NotFound. */
export async function removeBudget(query: Query, id: string): Promise<void> {
  const rows = isId(id) ? await query("delete from spending_budgets where id = $1 returning 1", [id]) : [];
  if (rows.length === 0) throw new NotFound(`Budget ${id} not found.`, { code: "budget_not_found" });
}

const most = 1000;

/** All that are set, those of everybody first; `defaults` count by account, so their state is asked for by `budgetsOf`. */
export async function listBudgets(query: Query): Promise<readonly (Budget | BudgetState)[]> {
  const rows = await query<StateRow>(
    `${stateSql(`select b.*, case b.kind when 'user' then 'user ' || b.user_id when 'group' then 'group ' || b.group_name end as who from spending_budgets b`)}
     order by b.kind = 'default' desc, b.kind, b.group_name, user_name, b.period limit ${most}`,
  );
  return rows.map((row) => (row.who === null ? toBudget(row) : toState(row)));
}

/** Those that count for an account, with what is used of them. */
export async function budgetsOf(query: Query, userId: string): Promise<readonly BudgetState[]> {
  const rows = await query<StateRow>(
    `${stateSql("select s.*, o.who from budgets_of($1) o join spending_budgets s on s.id = o.id")} order by b.kind, b.group_name, b.period`,
    [userId],
  );
  return rows.map(toState);
}

type StateRow = BudgetRow & {
  who: string | null;
  starts_at: Date;
  ends_at: Date;
  tokens: number;
  cost: number;
  requests: number;
  unpriced: number;
  held_tokens: number;
  held_cost: number;
  held_requests: number;
};

/** SQL for the state of budgets. Until a period's first request creates its counter, the call log gives the value it will start with. */
function stateSql(budgets: string): string {
  return `select ${columns}, b.who, period_start(b.period) as starts_at, period_end(b.period) as ends_at,
      coalesce(s.tokens, log.tokens, 0)::bigint as tokens, coalesce(s.cost, log.cost, 0) as cost,
      coalesce(s.requests, log.requests, 0)::bigint as requests, coalesce(s.unpriced, log.unpriced, 0)::bigint as unpriced,
      h.tokens as held_tokens, h.cost as held_cost, h.requests as held_requests
    from (${budgets}) b left join spending s on s.who = b.who and s.period = b.period and s.starts_at = period_start(b.period)
    cross join lateral held_spending(b.who, b.period, period_start(b.period)) h
    left join lateral (
      select sum(coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0)) as tokens, sum(c.cost) as cost,
        count(*) filter (where c.error is null) as requests, count(*) filter (where c.error is null and c.cost is null) as unpriced
      from model_calls c where s.who is null and b.who is not null and c.started_at >= period_start(b.period) and c.user_id in (
        select substr(b.who, 6)::uuid where b.who like 'user %'
        union all select m.user_id from group_members m where b.who = 'group ' || m.group_name)
    ) log on true`;
}

function toState(row: StateRow): BudgetState {
  const budget = toBudget(row);
  const { tokens, cost, requests, unpriced } = row;
  const part = Math.max(partOf(tokens, budget.tokens), partOf(cost, budget.cost), partOf(requests, budget.requests));
  return {
    ...budget,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    used: { tokens, cost, requests, unpriced },
    held: { tokens: row.held_tokens, cost: row.held_cost, requests: row.held_requests },
    state: part >= 1 ? "reached" : part >= budget.warnAt ? "warning" : "ok",
  };
}

function partOf(used: number, limit: number | null): number {
  if (limit === null) return 0;
  return limit === 0 ? 1 : used / limit;
}

/** Reservation of one request: its ID and maximum. */
export type ReservedSpending = { readonly id: string; readonly tokens: number; readonly cost: number };

/** Actual usage of a request. */
export type ActualSpending = ReservedSpending & {
  /** 0 for one that brought nothing. */
  readonly requests: 0 | 1;
  /** Whether no price of it is known. */
  readonly isUnpriced: boolean;
};

/** Warning that a budget is nearly used up. */
export type BudgetWarning = {
  readonly id: string;
  readonly kind: BudgetSubject["kind"];
  readonly group: string | null;
  readonly period: BudgetPeriod;
  /** Nobody was told in this period. */
  readonly first: boolean;
};
/** `null`: no budget counts for the account, and nothing was reserved. */
export type HoldState = { readonly warning?: BudgetWarning } | null;

/** For a request outside of runs, for so long at most. Throws what `asBudgetReached` reads. */
export async function holdSpending(
  query: Query,
  userId: string,
  { id, tokens, cost, seconds }: ReservedSpending & { readonly seconds: number },
): Promise<HoldState> {
  const [row] = await query<{ state: HoldState }>("select hold_spending($1, $2, null, null, $3, $4, $5) as state", [
    id,
    userId,
    seconds,
    tokens,
    cost,
  ]);
  return row!.state;
}

export async function settleSpending(query: Query, spent: ActualSpending): Promise<void> {
  await query(`select ${settleSpendingSql("$1", "$2", "$3", "$4", "$5")}`, settleValues(spent));
}

/** SQL that puts what was used in the place of what was reserved; its values are `settleValues`. */
export function settleSpendingSql(...[id, tokens, cost, requests, unpriced]: readonly string[]): string {
  return `settle_spending(${id}::uuid, ${tokens}::bigint, ${cost}::float8, ${requests}::integer, ${unpriced}::integer)`;
}

export function settleValues({ id, tokens, cost, requests, isUnpriced }: ActualSpending): readonly unknown[] {
  return [id, Math.max(0, Math.round(tokens)), Math.max(0, cost), requests, isUnpriced ? requests : 0];
}

/** Whether any budget is set at all. */
export async function hasBudgets(query: Query): Promise<boolean> {
  const [row] = await query<{ isLimited: boolean }>('select exists (select from spending_budgets) as "isLimited"');
  return row!.isLimited;
}

/** Reservations that count no more, and counters of more than a year. Says how many counters. */
export async function removeOldSpending(query: Query): Promise<void> {
  await query(
    `delete from spending_holds h where created_at < now() - interval '1 day' and (until is null or until < now())
       and not exists (select from runs r where r.id = h.run_id and r.epoch = h.epoch and r.status = 'running')`,
  );
  await query("delete from spending where starts_at < now() - interval '400 days'");
}

const amounts = ["tokens", "cost", "requests"] as const;
/** Estimated amounts of a request. */
export type SpendingEstimate = { readonly [Amount in (typeof amounts)[number]]?: number };

type BudgetRefusal = {
  readonly kind: BudgetSubject["kind"];
  readonly group: string | null;
  readonly period: BudgetPeriod;
  readonly what: (typeof amounts)[number];
  readonly max: number;
  readonly used: number;
  readonly held: number;
  readonly asked: number;
  readonly onLimit: OnBudgetLimit;
  readonly endsAt: string;
};

const budgetState = "CQ005";

/** The database's refusal of a reservation, as an error for people; undefined for anything else. */
export function asBudgetReached(
  error: unknown,
): { readonly error: ColloquyError; readonly waits: boolean } | undefined {
  if (sqlState(error) !== budgetState || !(error instanceof Error) || !("detail" in error)) return undefined;
  const refusal = JSON.parse(String(error.detail)) as BudgetRefusal;
  return { error: budgetReached(refusalText(refusal), refusal.endsAt, error), waits: refusal.onLimit === "wait" };
}

/** Throws `budget_reached` (429) if a budget that holds up the account has no room for a request that may need as much. */
export async function refuseWhileReached(query: Query, userId: string, asked: SpendingEstimate): Promise<void> {
  for (const { kind, group, period, endsAt, onLimit, used, held, ...limits } of await budgetsOf(query, userId)) {
    const what = amounts.find(
      (name) => limits[name] !== null && used[name] + held[name] + (asked[name] ?? 1) > limits[name],
    );
    if (what === undefined || onLimit === "warn") continue;
    const sums = { what, max: limits[what]!, used: used[what], held: held[what], asked: asked[what] ?? 1 };
    const refusal = { kind, group, period, onLimit, ...sums, endsAt: endsAt.toISOString() };
    throw budgetReached(refusalText(refusal), refusal.endsAt);
  }
}

function budgetReached(message: string, endsAt: string, cause?: unknown): ColloquyError {
  const retryAfterSeconds = Math.max(1, Math.ceil((Date.parse(endsAt) - Date.now()) / 1000));
  return new ColloquyError("budget_reached", 429, message, { retryAfterSeconds, cause });
}

function refusalText(refusal: BudgetRefusal): string {
  const { what, max, used, held, asked, endsAt } = refusal;
  const amount = (value: number) => (what === "cost" ? String(Number(value.toPrecision(6))) : String(value));
  const reserved = held > 0 ? `, ${amount(held)} are reserved by requests at work` : "";
  return (
    `${nameOf(refusal)} allows ${amount(max)} ${what === "cost" ? "of cost" : what}: ${amount(used)} are used${reserved}, ` +
    `and this request may need ${amount(asked)}. A new ${refusal.period} begins on ${dayAndTime(endsAt)}; an admin can raise it.`
  );
}

/** As people write it: "1 December 2026, 00:00 UTC". */
function dayAndTime(time: string): string {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Date(time).toLocaleString("en-GB", { ...options, timeZone: "UTC" });
  const day = format({ day: "numeric", month: "long", year: "numeric" });
  return `${day}, ${format({ hour: "2-digit", minute: "2-digit" })} UTC`;
}

function nameOf({ kind, group, period }: Pick<BudgetRefusal, "kind" | "group" | "period">): string {
  const name = period === "day" ? "daily" : "monthly";
  if (kind === "group") return `The ${name} budget of the group ${group}`;
  return kind === "user" ? `The account's ${name} budget` : `The ${name} budget of each account`;
}

/** For the log: which budget comes near its end. */
export function warningText(warning: BudgetWarning): string {
  return `${nameOf(warning)} is nearly used up`;
}
