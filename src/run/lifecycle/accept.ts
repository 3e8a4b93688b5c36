import { createHash } from "node:crypto";
import type { Caller } from "../../protocol/base/callers.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { RunDefinition, RunOrigin } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { insertItemsSql, itemsParameter, placeItems, type ItemPosition } from "../log/rows.ts";
import type { RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";

/** Everything a run begins with, fixed before the first statement; what waits in `pending` is this, as JSON. */
export type NewRun = {
  readonly runId: string;
  readonly jobId: string;
  readonly threadId: string;
  readonly caller: Caller;
  readonly definition: RunDefinition;
  readonly items: readonly (NewItem & { readonly run: string | null })[];
  /** Secrets that the caller passed for the duration of the run, by name, sealed. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  readonly origin?: RunOrigin;
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

/** Undefined: the thread has a live run, or messages that came before this one. Throws IdempotencyKeyTaken. */
export async function accept(runtime: Runtime, beginning: NewRun): Promise<ItemPosition | undefined> {
  return runtime.database.transaction(async (query) => {
    const place = await insertRun(query, beginning, { behindPending: true });
    if (place)
      await runtime.engine.send(query, {
        id: beginning.jobId,
        runId: beginning.runId,
        userId: beginning.caller.userId,
      });
    return place;
  });
}

/** The Idempotency-Key names another run already. Thrown, so that nothing of this one is kept. */
export class IdempotencyKeyTaken extends Error {}

export function announceRun(runtime: Runtime, beginning: NewRun, place: ItemPosition): RunStart {
  runtime.feeds.publish(beginning.threadId, placeItems(beginning.items, place));
  runtime.engine.wake();
  const history = beginning.items.filter((item) => item.run === null).length;
  return {
    runId: beginning.runId,
    threadId: beginning.threadId,
    cursor: { seq: place.firstSeq - 1 + history, live: [] },
    pending: false,
    replayed: false,
  };
}

/**
 * Item, run, budget and thread in one statement. The thread comes first, and only if no live run of it can be seen:
 * the end of a run locks run, then thread, so an insert that waited for that end while it holds the thread would be a deadlock.
 */
export async function insertRun(
  query: Query,
  beginning: NewRun,
  { behindPending }: { behindPending: boolean },
): Promise<ItemPosition | undefined> {
  const { runId, jobId, threadId, caller, definition, items, secrets, idempotency, newThread, after, ownerId, origin } =
    beginning;
  const time = new Date().toISOString();
  const { limits } = definition;
  const definitionText = jsonText(definition);
  const values: unknown[] = [
    runId,
    threadId,
    caller.userId,
    items.length,
    items.at(-1)!.id,
    itemsParameter(items),
    time,
    definition.agent.id,
    jobId,
    definitionText,
    sha256(definitionText),
    jsonText(caller),
    limits.steps,
    limits.toolCalls,
    limits.writes,
    limits.tokens ?? null,
    Math.round(limits.deadlineSeconds * 1000),
    limits.cost ?? null,
  ];
  const add = (value: unknown) => `$${values.push(value)}`;
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
    `r as (insert into runs (id, thread_id, user_id, agent, root_run, status, job_id, definition, definition_hash, caller, origin)
      select $1, t.id, t.user_id, $8, $1, 'queued', $9, $10::jsonb, $11, $12::jsonb, ${add(origin ? jsonText(origin) : null)}::jsonb from t, k returning id)`,
    `b as (insert into budgets (root_run, user_id, steps_max, calls_max, writes_max, tokens_max, left_ms, cost_max)
      select r.id, $3, $13, $14, $15, $16, $17, $18 from r)`,
    `i as (${insertItemsSql("$6", "$7")})`,
  ];
  if (secrets)
    parts.push(
      `s as (insert into run_secrets (run_id, name, user_id, sealed) select r.id, x.key, $3, x.value from r, jsonb_each_text(${add(jsonText(secrets))}::jsonb) x)`,
    );
  const [row] = await query<{ first: number; parent: string | null; fresh: boolean }>(
    `with ${parts.join(",\n")}\nselect first, parent, exists (select 1 from k) as fresh from t`,
    values,
  );
  if (row && !row.fresh) throw new IdempotencyKeyTaken();
  return row && { threadId, firstSeq: row.first, parent: row.parent, time };
}

/** The root run that occupies a thread. */
export function liveRootSql(threadId: string): string {
  return `select id from runs where thread_id = ${threadId} and parent_run is null and status in ('queued', 'running', 'waiting')`;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
