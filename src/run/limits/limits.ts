import { createHash } from "node:crypto";
import type { Limits } from "../../protocol/agents/agents.ts";
import { ColloquyError, LostRun } from "../../protocol/base/errors.ts";
import type { Item, ItemOf, QuestionBody } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import {
  asBudgetReached,
  type SpendingEstimate,
  type ReservedSpending,
  type HoldState,
  refuseWhileReached,
} from "../../store/metering/spending.ts";
import { normaliseArguments } from "../../tools/core/call-tool.ts";
import type { RunOwner } from "../log/append.ts";
import { countedCallsSql } from "../log/give-back.ts";

export type Reservation = {
  readonly steps?: number;
  readonly calls?: number;
  readonly writes?: number;
  readonly tokens?: number;
  readonly cost?: number;
  /** The step whose calls these are. They are counted once, even if a later process runs the remaining ones. */
  readonly callsOf?: string;
  /** Estimated spending of a step, reserved from the account's budgets for a day or a month. */
  readonly expected?: ReservedSpending;
};

export type StepReservation = { readonly steered: number; readonly held: HoldState };

/**
 * Reserves from the limits of the run's whole tree and from its account's budgets, before the work, in one fenced statement: all
 * or nothing. Throws when a limit or a budget is reached. The limits' counters are a row per root run in the table `budgets`
 * (an old name); the account's budgets are in `spending_budgets`.
 */
export async function reserve(query: Query, owner: RunOwner, reservation: Reservation): Promise<StepReservation> {
  try {
    return await reserveAll(query, owner, reservation);
  } catch (error) {
    const reached = asBudgetReached(error);
    if (!reached) throw error;
    throw reached.waits ? new BudgetExceeded(reached.error.message, reservation.expected!, error) : reached.error;
  }
}

async function reserveAll(
  query: Query,
  owner: RunOwner,
  { steps = 0, calls = 0, writes = 0, tokens = 0, cost = 0, callsOf, expected }: Reservation,
): Promise<StepReservation> {
  const once = (value: string, names: readonly string[]) =>
    `case when b.reserved ->> $1::text in (${names.join(", ")}) then 0 else ${value}::integer end`;
  const [callsOnce, writesOnce] = [once("$4", ["$8::text", countedCallsSql("$8")]), once("$5", ["$8::text"])];
  const [granted] = await query<StepReservation>(
    `with r as (select root_run, user_id, steered from runs where id = $1 and epoch = $2 and status = 'running' for share),
     b as (update budgets b set steps = steps + $3, calls = calls + ${callsOnce}, writes = writes + ${writesOnce}, tokens = tokens + $6,
       cost = cost + $7, reserved = case when $8::text is null then reserved else reserved || jsonb_build_object($1::text, $8::text) end,
       unsettled = case when $9::uuid is null then unsettled else unsettled || jsonb_build_object($1::text,
         coalesce(unsettled -> $1::text, '{}') || jsonb_build_object($9::text, jsonb_build_object('steps', $3, 'tokens', $6, 'cost', $7))) end
     from r where b.root_run = r.root_run and steps + $3 <= steps_max
       and calls + ${callsOnce} <= calls_max and writes + ${writesOnce} <= writes_max
       and (tokens_max is null or tokens + $6 <= tokens_max) and (cost_max is null or cost + $7 <= cost_max)
       and (deadline is null or now() < deadline) returning r.steered, r.user_id)
     select b.steered, case when $9::uuid is not null and exists (select from spending_budgets)
       then hold_spending($9, b.user_id, $1, $2, null, $10, $11) end as held from b`,
    [
      owner.runId,
      owner.epoch,
      steps,
      calls,
      writes,
      tokens,
      cost,
      callsOf ?? null,
      expected?.id ?? null,
      expected?.tokens ?? null,
      expected?.cost ?? null,
    ],
  );
  if (granted) return granted;
  const [row] = await query<{
    steps: number;
    steps_max: number;
    calls: number;
    calls_max: number;
    writes: number;
    writes_max: number;
    tokens: number;
    tokens_max: number | null;
    cost_max: number | null;
    late: boolean;
  }>(
    `select steps, steps_max, calls, calls_max, writes, writes_max, tokens, tokens_max, cost_max, coalesce(now() >= deadline, false) as late from budgets b join runs r on b.root_run = r.root_run
     where r.id = $1 and r.epoch = $2 and r.status = 'running'`,
    [owner.runId, owner.epoch],
  );
  if (!row) throw new LostRun(owner.runId);
  if (row.late) throw deadlineReached();
  if (row.steps + steps > row.steps_max) throw limitReached("steps", usedUp(row.steps_max, "step"));
  if (row.calls + calls > row.calls_max) throw limitReached("tool_calls", usedUp(row.calls_max, "tool call"));
  if (row.writes + writes > row.writes_max) throw limitReached("writes", usedUp(row.writes_max, "write"));
  if (row.tokens_max !== null && row.tokens + tokens > row.tokens_max)
    throw limitReached("tokens", usedUp(row.tokens_max, "token"));
  throw limitReached("cost", `the cost of ${row.cost_max} is used up`);
}

/** How many calls and writes the run's tree may still make. Calls of a step that are counted already need no more room. */
export async function roomLeft(
  query: Query,
  owner: RunOwner,
  callsOf: string,
): Promise<{ readonly calls: number; readonly writes: number }> {
  const [row] = await query<{ calls: number; writes: number }>(
    `select case when b.reserved ->> r.id::text = ${countedCallsSql("$3")} then 2147483647 else calls_max - calls end as calls,
       writes_max - writes as writes from budgets b join runs r on b.root_run = r.root_run
     where r.id = $1 and r.epoch = $2 and r.status = 'running'`,
    [owner.runId, owner.epoch, callsOf],
  );
  if (!row) throw new LostRun(owner.runId);
  return row;
}

const usedUp = (most: number, what: string) => (most === 1 ? `1 ${what} is used up` : `${most} ${what}s are used up`);

/** The account's budget is used up; the run waits until it has room for `expected`. */
export class BudgetExceeded extends ColloquyError {
  readonly expected: ReservedSpending;

  constructor(what: string, expected: ReservedSpending, cause: unknown) {
    super("limit_budget", 422, what, { cause });
    this.expected = expected;
  }
}

export type LimitName =
  | "steps"
  | "tool_calls"
  | "writes"
  | "tokens"
  | "cost"
  | "deadline"
  | "repeated_call"
  /** A budget of the account, for a day or a month. */
  | "budget";

/** The limit that `limitReached` named, if the error comes from it. */
export function limitOf(error: unknown): LimitName | undefined {
  return error instanceof ColloquyError && error.code.startsWith("limit_")
    ? (error.code.slice(6) as LimitName)
    : undefined;
}

/**
 * Checks the limits in a delegated agent's own file, counted in its items, since the table `budgets` counts for the whole tree.
 * Reaching one ends the child, and its parent decides what to do; nobody is asked.
 */
export function checkOwnLimits(
  items: readonly Item[],
  limits: Partial<Limits>,
  { steps = 0, calls = 0 }: Pick<Reservation, "steps" | "calls">,
): void {
  const count = (kind: Item["kind"]) => items.filter((item) => item.kind === kind && item.step !== null).length;
  const spent = (what: string) =>
    new ColloquyError("own_limit", 422, `The delegated agent reached its own limit: ${what}.`);
  if (limits.steps !== undefined && steps > 0 && count("message") + steps > limits.steps)
    throw spent(`${limits.steps} steps`);
  // The calls about to be made are among its items already.
  if (limits.toolCalls !== undefined && calls > 0 && count("call") > limits.toolCalls)
    throw spent(`${limits.toolCalls} tool calls`);
}

/**
 * Adds as much again to the limit that was reached ("Continue"). A repeated call needs nothing: it is counted since the decision.
 * Budgets are up to an administrator: throws `budget_reached` while nothing is left.
 */
export async function extendLimit(
  query: Query,
  { rootRun, userId, limits }: { rootRun: string; userId: string; limits: Limits },
  { limit, state }: Pick<QuestionBody, "limit" | "state">,
): Promise<void> {
  if (limit === "budget") return refuseWhileReached(query, userId, (state ?? {}) as SpendingEstimate);
  const more: Record<Exclude<LimitName, "budget">, [column: string, amount: number]> = {
    steps: ["steps_max", limits.steps],
    tool_calls: ["calls_max", limits.toolCalls],
    // The one limit that may be 0, and "continue" is never nothing.
    writes: ["writes_max", Math.max(1, limits.writes)],
    tokens: ["tokens_max", limits.tokens ?? 0],
    cost: ["cost_max", limits.cost ?? 0],
    deadline: ["left_ms", Math.round(limits.deadlineSeconds * 1000)],
    repeated_call: ["calls_max", 0],
  };
  const [column, amount] = more[limit as Exclude<LimitName, "budget">];
  await query(`update budgets set ${column} = ${column} + $2 where root_run = $1`, [rootRun, amount]);
}

export function limitReached(name: LimitName, what: string): ColloquyError {
  return new ColloquyError(`limit_${name}`, 422, `The run reached its limit: ${what}.`);
}

export function deadlineReached(): ColloquyError {
  return limitReached("deadline", "its time is used up");
}

/** Hashes a call's name and arguments, independent of the arguments' order and spacing. */
export function hashOfCall(call: ItemOf<"call">): string {
  return createHash("sha256")
    .update(`${call.body.name}\n${normaliseArguments(call.body.arguments)}`)
    .digest("hex");
}
