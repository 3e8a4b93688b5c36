import { LostRun } from "../../protocol/base/errors.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import type { RunError, WaitReason } from "../../protocol/threads/runs.ts";
import type { Query, ToolResult } from "../../protocol/agents/tools.ts";
import { settleSpendingSql, settleValues, type ActualSpending } from "../../store/metering/spending.ts";
import {
  areCallsCountedSql,
  countCallsSql,
  releaseReservationsSql,
  reserveNextSql,
  settleReservationSql as settleReservation,
} from "./give-back.ts";
import { insertItemsSql, itemsParameter, placeItems, clearWaitSql } from "./rows.ts";

/** A run, and the epoch at which this process owns it. */
export type RunOwner = { readonly runId: string; readonly epoch: number; readonly threadId: string };

export type RunEnd = {
  readonly status: "done" | "failed" | "cancelled";
  readonly error?: RunError;
};

/** Further changes in the same statement: all of them or none. */
export type AppendExtras = {
  readonly end?: RunEnd;
  readonly wait?: {
    readonly reason: WaitReason;
    /** The run ends after this long, by the database's clock. */
    readonly maxMs: number;
    /** Continues by itself after this long. */
    readonly retryAfterMs?: number | undefined;
  };
  /** The run got somewhere, so earlier crashes no longer count. */
  readonly progress?: boolean;
  /** Replaces a finished step's reservation by what it used. A run that ends or waits releases all its reservations. */
  readonly settles?: { readonly reservation: string; readonly tokens: number; readonly cost: number };
  /**
   * Reserves the step that follows, under this name, where nothing but a number of steps limits the run and no budget its account: there
   * the next statement but this one would say the same. With nothing that settles or ends.
   */
  readonly reservesNext?: string;
  /** Takes the calls of this step from the limits, but no writes, where nothing but their number bounds them. With an answer. */
  readonly countsCalls?: { readonly step: string; readonly calls: number };
  /** A step without an answer, since its model was unavailable: neither the step nor its time counts against the run's limits. */
  readonly uncounted?: { readonly ms: number };
  /** A step's actual spending, counted against the account's budgets; its reservation is released. */
  readonly spent?: ActualSpending;
  /** Throws LostRun if `steered` has changed, since a message still needs an answer. */
  readonly expectedSteered?: number;
  /** Webhook deliveries because of this change. */
  readonly deliveries?: readonly Delivery[];
  readonly modelCalls?: readonly (ModelCallRecord & { readonly cost?: number })[];
  /** A step whose live text is now an item. */
  readonly deltasOf?: string;
  /** The outcome of a write. With `entry` its row is inserted here, since call, effect and result are one transaction. */
  readonly ledger?: {
    readonly step: string;
    readonly index: number;
    /** `withdrawn`: the tool says that nothing was done, so the row is deleted. */
    readonly status: "done" | "failed" | "unknown" | "withdrawn";
    readonly result: ToolResult | null;
    readonly entry?: LedgerEntry;
  };
};

/** One signal to one hook; `body` is sent as it is. */
export type Delivery = { readonly id: string; readonly hook: string; readonly body: unknown };

export type AppendResult = {
  readonly items: readonly Item[];
  /** Messages that wait for the run to end. */
  readonly pending: number;
  /** How many messages were said while the run worked, if `reservesNext` was granted. */
  readonly reservedAt?: number;
  /** Whether `countsCalls` was done. */
  readonly callsCounted?: boolean;
};

/**
 * Appends items to the run's thread in ONE statement that is fenced: an old epoch, or a run that is not running, changes
 * nothing and throws LostRun. Without items only the extras become true. Locks run → budget → spending → thread, each CTE fed by the one before so that PostgreSQL keeps the order.
 */
export async function append(
  query: Query,
  owner: RunOwner,
  items: readonly NewItem[],
  extras: AppendExtras = {},
): Promise<AppendResult> {
  const time = new Date().toISOString();
  const placed = items.map((item) => ({ ...item, run: owner.runId }));
  const values: unknown[] = [
    owner.runId,
    owner.epoch,
    items.length,
    items.at(-1)?.id ?? null,
    itemsParameter(placed),
    time,
  ];
  const add = (value: unknown) => `$${values.push(value)}`;

  const sets: string[] = [];
  if (extras.progress) sets.push("takeovers = 0");
  if (extras.end)
    sets.push(
      `status = ${add(extras.end.status)}, ${clearWaitSql}, ended_at = now(), error = ${add(extras.end.error ? jsonText(extras.end.error) : null)}::jsonb`,
    );
  if (extras.wait)
    sets.push(
      `status = 'waiting', wait_reason = ${add(extras.wait.reason)}, wait_until = now() + ${add(extras.wait.maxMs)} * interval '1 millisecond', handed_over = true,
       retry_at = now() + ${add(extras.wait.retryAfterMs ?? null)}::float8 * interval '1 millisecond'`,
    );
  const endsOrWaits = Boolean(extras.end ?? extras.wait);

  const { settles } = extras;
  const used = settles && {
    reservation: settles.reservation,
    steps: extras.uncounted ? "0" : "1",
    tokens: `${add(settles.tokens)}::float8`,
    cost: `${add(settles.cost)}::float8`,
  };
  const { reservesNext: next } = extras;
  const settled = endsOrWaits
    ? releaseReservationsSql("r.id", used)
    : used && settleReservation("r.id", add(used.reservation), used);
  const { countsCalls } = extras;
  const calls = countsCalls && { step: add(countsCalls.step), calls: `${add(countsCalls.calls)}::integer` };
  const counted = [settled ?? [], calls ? countCallsSql("r.id", calls) : []].flat().join(", ");
  const backMs = endsOrWaits ? `${add(Math.round(extras.uncounted?.ms ?? 0))}::bigint` : "";
  const steeredSql = extras.expectedSteered === undefined ? "" : ` and steered = ${add(extras.expectedSteered)}`;

  const parts = [
    sets.length > 0
      ? `r as (update runs set ${sets.join(", ")} where id = $1 and epoch = $2 and status = 'running'${steeredSql} returning id, thread_id, user_id, root_run, parent_run, steered)`
      : "r as (select id, thread_id, user_id, root_run, parent_run, steered from runs where id = $1 and epoch = $2 and status = 'running' for share)",
    next
      ? `b as (update budgets set ${reserveNextSql("r.id", add(next))} from r where budgets.root_run = r.root_run
         returning case when unsettled #> array[r.id::text, $${values.length}::text] is not null then r.steered end as reserved_at, false as calls_counted)`
      : counted
        ? `b as (update budgets set ${counted}${
            endsOrWaits
              ? `, left_ms = case when r.parent_run is null and deadline is not null then greatest(0, extract(epoch from deadline - now()) * 1000)::bigint + ${backMs} else left_ms end,
           deadline = case when r.parent_run is null then null else deadline + ${backMs} * interval '1 millisecond' end`
              : ""
          } from r where budgets.root_run = r.root_run
           returning null::integer as reserved_at, ${calls ? areCallsCountedSql("r.id", calls) : "false"} as calls_counted)`
        : "b as (select null::integer as reserved_at, false as calls_counted from r)",
    ...(extras.spent
      ? [`s as materialized (select ${settleSpendingSql(...settleValues(extras.spent).map(add))} as settled from b)`]
      : []),
    items.length === 0
      ? `t as (select threads.id, threads.user_id, next_seq as first, leaf as parent, pending from threads, r, b${extras.spent ? ", s" : ""}
       where threads.id = r.thread_id${extras.spent ? " and s.settled is not null" : ""} and $3::integer = 0 and $4::uuid is null)`
      : `t as (update threads set next_seq = next_seq + $3, previous_leaf = leaf, leaf = $4, updated_at = now() from r, b${extras.spent ? ", s" : ""}
       where threads.id = r.thread_id${extras.spent ? " and s.settled is not null" : ""}
       returning threads.id, threads.user_id, next_seq - $3 as first, previous_leaf as parent, pending)`,
    `i as (${insertItemsSql("$5", "$6")})`,
  ];
  if (extras.modelCalls?.length)
    parts.push(`m as (${insertModelCallsSql(add(modelCallsParameter(extras.modelCalls)))})`);
  if (extras.deliveries?.length)
    parts.push(
      `h as (insert into deliveries (id, user_id, hook, body)
        select x.id, r.user_id, x.hook, x.body from r, jsonb_to_recordset(${add(jsonText(extras.deliveries))}::jsonb) as x (id uuid, hook text, body jsonb))`,
    );
  if (extras.deltasOf !== undefined)
    parts.push(
      `d as (delete from deltas using r where deltas.run_id = r.id and deltas.step = ${add(extras.deltasOf)})`,
    );
  if (extras.ledger) parts.push(`l as (${ledgerSql(extras.ledger, add)})`);
  type Row = {
    first: number;
    parent: string | null;
    pending: number;
    reserved_at: number | null;
    calls_counted: boolean;
  };
  const [row] = await query<Row>(
    `with ${parts.join(",\n")}\nselect first, parent, pending, b.reserved_at, b.calls_counted from t, b`,
    values,
  );
  if (!row) throw new LostRun(owner.runId);
  return {
    items: placeItems(placed, { threadId: owner.threadId, firstSeq: row.first, parent: row.parent, time }),
    pending: row.pending,
    ...(row.calls_counted && { callsCounted: true }),
    ...(row.reserved_at === null ? {} : { reservedAt: row.reserved_at }),
  };
}

export type LedgerEntry = {
  readonly userId: string;
  readonly tool: string;
  readonly key: string;
  readonly argumentsHash: string;
};

function ledgerSql(
  { step, index, status, result, entry }: NonNullable<AppendExtras["ledger"]>,
  add: (value: unknown) => string,
): string {
  if (status === "withdrawn") {
    return `delete from ledger using r where ledger.run_id = r.id and ledger.step = ${add(step)} and call_index = ${add(index)} and ledger.status = 'executing'`;
  }
  const [stepValue, indexValue, statusValue, resultValue] = [add(step), add(index), add(status), add(jsonText(result))];
  if (entry) {
    return `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, result, ended_at)
      select r.id, ${stepValue}, ${indexValue}, ${add(entry.userId)}, ${add(entry.tool)}, ${statusValue}, ${add(entry.key)}, ${add(entry.argumentsHash)},
        ${resultValue}::jsonb, now() from r`;
  }
  // Keeps `remembered` of an unknown write, which `reconcile` needs later.
  const value = `coalesce(nullif(${resultValue}::jsonb, 'null'::jsonb), ledger.result)`;
  return `update ledger set status = ${statusValue}, result = ${value}, until = null, ended_at = ${status === "unknown" ? "null" : "now()"}
    from r where ledger.run_id = r.id and ledger.step = ${stepValue} and call_index = ${indexValue} and ledger.status in ('executing', 'unknown')`;
}

function insertModelCallsSql(parameter: string): string {
  return `insert into model_calls (id, user_id, run_id, step, attempt, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, finish, error)
    select x.* from r, jsonb_to_recordset(${parameter}::jsonb) as x (id uuid, user_id uuid, run_id uuid, step text, attempt integer, asked text, model text,
      provider text, started_at timestamptz, first_part_ms float8, total_ms float8, input_tokens bigint, output_tokens bigint, cost float8, finish text, error text)`;
}

function modelCallsParameter(records: NonNullable<AppendExtras["modelCalls"]>): string {
  return jsonText(
    records.map((record) => ({
      id: record.id,
      user_id: record.userId,
      run_id: record.runId,
      step: record.step,
      attempt: record.attempt,
      asked: record.asked,
      model: record.model,
      provider: record.provider,
      started_at: record.startedAt,
      first_part_ms: record.firstPartMs,
      total_ms: record.totalMs,
      input_tokens: record.inputTokens,
      output_tokens: record.outputTokens,
      cost: record.cost ?? null,
      finish: record.finish,
      error: record.error,
    })),
  );
}
