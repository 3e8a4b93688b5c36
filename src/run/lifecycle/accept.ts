import type { Caller, Rights } from "../../protocol/base/callers.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import { newId } from "../../protocol/base/ids.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { RunDefinition, RunOrigin } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { firstReservationSql } from "../log/give-back.ts";
import { insertItemsSql, itemsParameter, placeItems, type ItemPosition } from "../log/rows.ts";
import { sqlState } from "../../store/driver/sql-state.ts";
import { keepDefinitionSql, named } from "../log/run-definitions.ts";
import { toTakenRun, userColumns } from "./take-run.ts";
import type { TakenRun } from "../contract/taken-run.ts";
import type { RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";

/** Everything a run begins with, fixed before the first statement; what waits in `pending` is this, as JSON. */
export type NewRun = {
  readonly runId: string;
  readonly threadId: string;
  readonly caller: Caller;
  readonly definition: RunDefinition;
  readonly items: readonly (NewItem & { readonly run: string | null })[];
  /** It begins with a step of its own, so that one can be reserved with it: a room's turns and a call of a tool have none. */
  readonly asksModel?: boolean;
  /** Secrets that the caller passed for the duration of the run, by name, sealed. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  readonly origin?: RunOrigin;
  /** What was asked, as a hash. */
  readonly request?: string;
  /** Whose thread it is, if not the caller's: a room that the caller is a member of. */
  readonly ownerId?: string;
  /** The item it follows, if not the newest of its thread; null: the beginning. */
  readonly after?: string | null;
  /** Absent: the thread exists. */
  readonly newThread: {
    readonly title: string;
    readonly hidden: boolean;
    readonly sessionKey: string | null;
    readonly days: number;
  } | null;
};

/**
 * Accepts a run in one statement. Where this node has a place for it, and its person may have one more run at work, it begins here at
 * once; else it is queued. Undefined: the thread has a live run, or messages that came before this one. Throws IdempotencyKeyTaken.
 */
export async function accept(runtime: Runtime, beginning: NewRun): Promise<RunStart | undefined> {
  const { database, queue, node } = runtime;
  const place = queue.takePlace();
  try {
    const here = place && { node, perUser: queue.perUser };
    const inserted = await insertRun(runtime, database.query, beginning, { behindPending: true, here });
    if (!inserted) {
      place?.free();
      return undefined;
    }
    // Only here is it committed: in a transaction of its caller it may still be undone.
    runtime.definitions.add(beginning.caller.userId, inserted.definitionHash);
    const { taken } = inserted;
    const start = announceRun(runtime, beginning, inserted);
    if (taken) place!.use(() => runtime.workOn(taken));
    else {
      place?.free();
      queue.wake();
    }
    return start;
  } catch (error) {
    place?.free();
    throw error;
  }
}

/** The Idempotency-Key names another run already. Thrown, so that nothing of this one is kept. */
export class IdempotencyKeyTaken extends Error {}

export function announceRun(runtime: Runtime, beginning: NewRun, place: ItemPosition): RunStart {
  runtime.feeds.publish(beginning.threadId, placeItems(beginning.items, place));
  const history = beginning.items.findIndex((item) => item.run !== null);
  return {
    runId: beginning.runId,
    threadId: beginning.threadId,
    cursor: { seq: place.firstSeq - 1 + history, live: [] },
    pending: false,
    replayed: false,
  };
}

/** Raised by `refuse_used_key`, so that nothing of the statement is kept. */
const keyTaken = "CQ006";

/** Where a run may begin at once, if its person may have one more at work. */
export type RunHere = { readonly node: string; readonly perUser: number };
/** `taken`: it has begun here. `definitionHash`: whose definition is kept once this is committed. */
export type InsertedRun = ItemPosition & { readonly definitionHash: string; readonly taken?: TakenRun };

/**
 * Item, run, budget and thread in one statement. The thread comes first, and only if no live run of it can be seen:
 * the end of a run locks run, then thread, so an insert that waited for that end while it holds the thread would be a deadlock.
 */
export async function insertRun(
  { definitions }: Pick<Runtime, "definitions">,
  query: Query,
  beginning: NewRun,
  { behindPending, here }: { behindPending: boolean; here?: RunHere | undefined },
): Promise<InsertedRun | undefined> {
  const {
    runId,
    threadId,
    caller,
    definition,
    items,
    secrets,
    idempotency,
    newThread,
    after,
    ownerId,
    origin,
    request,
  } = beginning;
  const time = new Date().toISOString();
  const { limits } = definition;
  const { hash, text } = named(definition);
  const values: unknown[] = [
    runId,
    threadId,
    caller.userId,
    items.length,
    items.at(-1)!.id,
    itemsParameter(items),
    time,
    definition.agent.id,
    hash,
    jsonText(caller),
    limits.steps,
    limits.toolCalls,
    limits.writes,
    limits.tokens ?? null,
    Math.round(limits.deadlineSeconds * 1000),
    limits.cost ?? null,
  ];
  const add = (value: unknown) => `$${values.push(value)}`;
  const nodeSql = here ? add(here.node) : "";
  // The first step is reserved with the run, where nothing but a number of steps limits it.
  const reservation = newId();
  const isAhead =
    here && beginning.asksModel && limits.steps > 0 && limits.tokens === undefined && limits.cost === undefined;
  const ahead = isAhead ? add(reservation) : undefined;
  const parts = [
    newThread
      ? `t as (insert into threads (id, user_id, key_id, title, agent, hidden, session_key, next_seq, leaf, expires_at)
         values ($2, $3, ${add(caller.key ?? null)}, ${add(newThread.title)}, $8, ${add(newThread.hidden)}, ${add(newThread.sessionKey)}, $4::bigint + 1, $5, ${
           newThread.hidden ? `now() + ${add(newThread.days)} * interval '1 day'` : "null"
         }) returning id, user_id, 1::bigint as first, null::uuid as parent)`
      : `t as (update threads set next_seq = next_seq + $4, previous_leaf = leaf, leaf = $5, updated_at = now(), used_at = now()
         where id = $2 and user_id = ${ownerId === undefined ? "$3" : add(ownerId)} and not exists (${liveRootSql("$2")}) ${behindPending ? "and pending = 0" : ""}
         returning id, $3::uuid as user_id, next_seq - $4 as first, ${after === undefined ? "previous_leaf" : `${add(after)}::uuid`} as parent)`,
    idempotency
      ? `k as (insert into idempotency_keys (user_id, key, body_hash, run_id, thread_id)
         select $3, ${add(idempotency.key)}, ${add(idempotency.bodyHash)}, $1, $2 from t on conflict do nothing returning 1)`
      : "k as (select 1 from t)",
    // Last, so that nobody waits for a thread or a key with the lock of a place.
    ...(here ? [`p as materialized (select take_place($3, ${add(here.perUser)}) as place from t, k)`] : []),
    `r as (insert into runs (id, thread_id, user_id, agent, root_run, definition_hash, caller, origin, request, ${takenSql.columns})
      select $1, t.id, t.user_id, $8, $1, $9, $10::jsonb, ${add(origin ? jsonText(origin) : null)}::jsonb, ${add(request ?? null)}::text, ${
        here ? takenSql.values(nodeSql) : takenSql.queued
      } from t, k${here ? ", p" : ""} returning id, user_id, status)`,
    `b as (insert into budgets (root_run, user_id, steps_max, calls_max, writes_max, tokens_max, left_ms, cost_max, deadline, steps, unsettled)
      select r.id, $3, $11, $12, $13, $14, $15::bigint, $16, case when r.status = 'running' then now() + $15 * interval '1 millisecond' end,
        ${ahead ? `a.step, case when a.step = 1 then ${firstReservationSql("r.id", ahead)} else '{}' end` : "0, '{}'"}
      from r${ahead ? `, lateral (select (r.status = 'running' and not exists (select from spending_budgets))::integer as step) a` : ""} returning steps)`,
    `i as (${insertItemsSql("$6", "$7")})`,
  ];
  const isKept = definitions.has(caller.userId, hash);
  if (!isKept) parts.push(`d as (${keepDefinitionSql("r", { hash: "$9::text", body: `${add(text)}::jsonb` })})`);
  if (secrets)
    parts.push(
      `s as (insert into run_secrets (run_id, name, user_id, sealed) select r.id, x.key, $3, x.value from r, jsonb_each_text(${add(jsonText(secrets))}::jsonb) x)`,
    );
  type Row = { first: number; parent: string | null; status: string; steps: number | null; disabled: boolean } & Rights;
  const [row] = await query<Row>(
    `with ${parts.join(",\n")}
     select first, parent, coalesce(r.status, case when refuse_used_key() then '' end) as status, b.steps, ${userColumns}
     from t join users on users.id = $3 left join r on true left join b on true`,
    values,
  ).catch((error: unknown) => {
    throw sqlState(error) === keyTaken ? new IdempotencyKeyTaken() : error;
  });
  if (!row) return undefined;
  const place = { threadId, firstSeq: row.first, parent: row.parent, time, definitionHash: hash };
  if (row.status !== "running") return place;
  const taken = toTakenRun({
    ...{ id: runId, root_run: runId, thread_id: threadId, root_thread: threadId, epoch: 1, caller, definition },
    ...{ takeovers: 0, cancel_asked: false, left_ms: Math.round(limits.deadlineSeconds * 1000), steered: 0 },
    ...{ leaf: items.at(-1)!.id, next_seq: row.first + items.length },
    ...{ disabled: row.disabled, role: row.role, permissions: row.permissions },
  });
  return { ...place, taken: row.steps === 1 ? { ...taken, ahead: { reservation, steered: 0 } } : taken };
}

/** The root run that occupies a thread. */
export function liveRootSql(threadId: string): string {
  return `select id from runs where thread_id = ${threadId} and parent_run is null and status in ('queued', 'running', 'waiting')`;
}

/** Columns that say whether a new run is queued or begins on a node, if `p` has a place. It starts when that was asked, not when the statement began. */
const takenSql = {
  columns: "status, epoch, node, place, started_at, handed_over, takes",
  queued: "'queued', 0, null, null, null, true, '[]'::jsonb",
  values: (
    node: string,
  ) => `case when p.place is null then 'queued' else 'running' end, (p.place is not null)::integer, case when p.place is not null then ${node} end, p.place,
        case when p.place is not null then clock_timestamp() end, p.place is null, case when p.place is null then '[]'
          else jsonb_build_array(jsonb_build_object('epoch', 1, 'node', ${node}::text, 'at', now(), 'over', false)) end`,
};
