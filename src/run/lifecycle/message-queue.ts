import { InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { announceRun, insertRun, IdempotencyKeyTaken, liveRootSql, type NewRun } from "./accept.ts";
import type { RunEnd } from "../log/append.ts";
import { refuseBehindClient } from "./missing-results.ts";
import { endItem } from "./end-run.ts";
import { insertItemsSql, itemsParameter, placeItems, type ItemPosition } from "../log/rows.ts";
import type { RunStart, StartInput } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { keepDefinitionSql } from "../log/run-definitions.ts";
import { deliveriesOf } from "./webhook-signals.ts";
import { violatedConstraint } from "../../store/driver/sql-state.ts";

const maxPending = 100;

/**
 * Lets a message wait behind the thread's live run. `free`: that run has ended meanwhile, so the message can start at once.
 * `told`: its id is an item already. The thread is locked by a statement of its own before the look at its runs, so the end
 * of a run can't be missed; nor can its wait, so with `showQuestions` nothing is queued behind a run that waits for a person,
 * and that run is returned instead; behind one that waits for its client's tools it is refused. Throws IdempotencyKeyTaken.
 */
export async function queueBehind(
  runtime: Runtime,
  beginning: NewRun,
  { showQuestions = false }: Pick<StartInput, "showQuestions"> = {},
): Promise<RunStart | "free" | "told"> {
  const { runId, threadId, caller, idempotency } = beginning;
  const messageId = beginning.items.at(-1)!.id;
  const queued = await runtime.database.transaction(async (query) => {
    const [thread] = await query<{ last: number; pending: number }>(
      "select next_seq - 1 as last, pending from threads where id = $1 and user_id = $2 for update",
      [threadId, beginning.ownerId ?? caller.userId],
    );
    if (!thread) throw new NotFound(`Thread ${threadId} not found.`);
    const [seen] = await query<{ busy: boolean; told: boolean; keyed: boolean }>(
      `select exists (${liveRootSql("$1")}) as busy, exists (select 1 from items where id = $2) as told,
         exists (select 1 from idempotency_keys where user_id = $3 and key = $4) as keyed`,
      [threadId, messageId, caller.userId, idempotency?.key ?? null],
    );
    if (seen!.told) return "told";
    if (seen!.keyed) throw new IdempotencyKeyTaken();
    if (!seen!.busy && thread.pending === 0) return "free";
    const asking = showQuestions ? await askingRun(query, threadId) : undefined;
    if (asking) return asking;
    if (showQuestions) await refuseBehindClient(query, threadId);
    if (thread.pending >= maxPending)
      throw new InvalidInput(`This thread already has ${maxPending} queued messages.`, { code: "too_many_pending" });
    const values: unknown[] = [runId, messageId, threadId, caller.userId, jsonText(beginning)];
    const key = idempotency
      ? `insert into idempotency_keys (user_id, key, body_hash, run_id, thread_id)
         values ($4, $${values.push(idempotency.key)}, $${values.push(idempotency.bodyHash)}, $1, $3) on conflict do nothing returning 1`
      : "select 1";
    const inserted = await query(
      `with k as (${key}), t as (update threads set pending = pending + 1 from k where id = $3)
       insert into pending (run_id, message_id, thread_id, user_id, start) select $1, $2, $3, $4, $5::jsonb from k returning run_id`,
      values,
    );
    if (inserted.length === 0) throw new IdempotencyKeyTaken();
    return { busy: seen!.busy, last: thread.last };
  });
  if (typeof queued === "string" || "runId" in queued) return queued;
  // Nobody's end will start what waits here.
  if (!queued.busy) await startNext(runtime, threadId);
  return { runId, threadId, cursor: { seq: queued.last, live: [] }, pending: true, replayed: false };
}

/** The thread's run that waits for a person, from its first open question on. */
async function askingRun(query: Query, threadId: string): Promise<RunStart | undefined> {
  const [row] = await query<{ id: string; first: number }>(
    `select r.id, min(q.seq) as first from runs r join items q on q.run_id = r.id and q.kind = 'question'
     where r.thread_id = $1 and r.parent_run is null and r.status = 'waiting' and not exists
       (select from items d where d.thread_id = q.thread_id and d.kind = 'decision' and d.body ->> 'question' = q.id::text)
     group by r.id`,
    [threadId],
  );
  return row && { runId: row.id, threadId, cursor: { seq: row.first - 1, live: [] }, pending: false, replayed: false };
}

/** Starts the thread's next pending message, if there is one and nothing is live. */
export async function startNext(runtime: Runtime, threadId: string): Promise<void> {
  let next: NewRun | undefined;
  try {
    const place = await runtime.database.transaction(async (query): Promise<ItemPosition | undefined> => {
      const thread = await query("select 1 from threads where id = $1 for update", [threadId]);
      if (thread.length === 0 || (await query(liveRootSql("$1"), [threadId])).length > 0) return undefined;
      const [row] = await query<{ start: NewRun }>(
        `with p as (delete from pending where run_id = (select run_id from pending where thread_id = $1 order by position limit 1) returning start),
            t as (update threads set pending = greatest(0, pending - 1) from p where id = $1)
       select start from p`,
        [threadId],
      );
      if (!row) return undefined;
      // Its key was recorded when it was accepted.
      next = { ...row.start, idempotency: null, newThread: null };
      const placed = await insertRun(runtime, query, next, { behindPending: false });
      if (!placed) throw new Error(`Thread ${threadId} is locked and free, but a run could not begin in it.`);
      return placed;
    });
    if (!next || !place) return;
    announceRun(runtime, next, place);
    runtime.queue.wake();
  } catch (error) {
    if (!next || violatedConstraint(error) !== "items_id_key") throw error;
    // Somebody used the message's id in another thread meanwhile; what waits behind it must not wait for ever.
    const message = "The id of its message was used for another one.";
    await endPending(
      runtime,
      { runId: next.runId },
      { status: "failed", error: { code: "message_id_taken", message } },
    );
    await startNext(runtime, threadId);
  }
}

/** Ends a run whose message still waits: its id goes on answering, and its followers hear of its end. False: it does not wait. */
export async function endPending(
  runtime: Runtime,
  { runId, userId }: { readonly runId: string; readonly userId?: string },
  end: RunEnd,
): Promise<boolean> {
  const time = new Date().toISOString();
  const items = [{ ...endItem(end), run: runId }];
  const error = end.error ? jsonText(end.error) : null;
  const [row] = await runtime.database.query<{ id: string; first: number; parent: string | null }>(
    `with l as (select t.id from threads t join pending p on p.thread_id = t.id where p.run_id = $1 for update of t),
     p as (delete from pending using l where run_id = $1 and ($2::uuid is null or user_id = $2) returning pending.*),
     t as (update threads set pending = greatest(0, threads.pending - 1), next_seq = next_seq + 1, previous_leaf = leaf, leaf = $3
           from p where threads.id = p.thread_id returning threads.id, threads.user_id, next_seq - 1 as first, previous_leaf as parent),
     r as (insert into runs (id, thread_id, user_id, agent, root_run, status, error, definition_hash, caller, ended_at)
           select p.run_id, p.thread_id, p.user_id, p.start -> 'definition' -> 'agent' ->> 'id', p.run_id, $4, $5::jsonb,
             definition_hash(p.start -> 'definition'), p.start -> 'caller', now() from p),
     d as (${keepDefinitionSql("p", { hash: "definition_hash(start -> 'definition')", body: "start -> 'definition'" })}),
     i as (${insertItemsSql("$6", "$7")}),
     h as (insert into deliveries (id, user_id, hook, body)
           select x.id, p.user_id, x.hook, x.body || jsonb_build_object('thread', p.thread_id, 'agent', p.start -> 'definition' -> 'agent' ->> 'id')
           from p, jsonb_to_recordset($8::jsonb) as x (id uuid, hook text, body jsonb))
     select id, first, parent from t`,
    [
      runId,
      userId ?? null,
      items[0]!.id,
      end.status,
      error,
      itemsParameter(items),
      time,
      jsonText(
        deliveriesOf(runtime, {
          runId,
          threadId: "",
          agent: "",
          event: end.status,
          ...(end.error ? { error: end.error } : {}),
        }),
      ),
    ],
  );
  if (!row) return false;
  runtime.feeds.publish(row.id, placeItems(items, { threadId: row.id, firstSeq: row.first, parent: row.parent, time }));
  runtime.deltas.touch(row.id);
  return true;
}
