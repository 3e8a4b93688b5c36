import { InvalidInput, NotFound } from "../protocol/errors.ts";
import { jsonText } from "../protocol/json-text.ts";
import { accepted, insertBeginning, type Beginning } from "./accept.ts";
import type { Place } from "./rows.ts";
import type { Started } from "./runs.ts";
import type { Runtime } from "./runtime.ts";

const mostPending = 100;
const liveRoot =
  "select 1 from runs where thread_id = $1 and parent_run is null and status in ('queued', 'running', 'waiting')";

/**
 * Lets a message wait behind the thread's live run. `free`: that run has ended meanwhile, so the message can start at once.
 * The thread is locked by a statement of its own before the look at its runs, so the end of a run can't be missed.
 */
export async function queueBehind(runtime: Runtime, beginning: Beginning): Promise<Started | "free" | "key-used"> {
  const { runId, threadId, caller, idempotency } = beginning;
  return runtime.database.transaction(async (query) => {
    const [thread] = await query<{ last: number; pending: number }>(
      "select next_seq - 1 as last, pending from threads where id = $1 and user_id = $2 for update",
      [threadId, caller.userId],
    );
    if (!thread) throw new NotFound(`There is no thread ${threadId}.`);
    if (thread.pending >= mostPending)
      throw new InvalidInput(`${mostPending} messages wait in this thread already.`, { code: "too_many_pending" });
    if ((await query(liveRoot, [threadId])).length === 0) return "free";
    const values: unknown[] = [runId, beginning.items.at(-1)!.id, threadId, caller.userId, jsonText(beginning)];
    const key = idempotency
      ? `insert into idempotency_keys (user_id, key, body_hash, run_id, thread_id)
         values ($4, $${values.push(idempotency.key)}, $${values.push(idempotency.bodyHash)}, $1, $3) on conflict do nothing returning 1`
      : "select 1";
    const inserted = await query(
      `with k as (${key}), t as (update threads set pending = pending + 1 from k where id = $3)
       insert into pending (run_id, message_id, thread_id, user_id, start) select $1, $2, $3, $4, $5::jsonb from k returning run_id`,
      values,
    );
    if (inserted.length === 0) return "key-used";
    return { runId, threadId, cursor: { seq: thread.last, live: [] }, pending: true, replayed: false };
  });
}

/** Starts the thread's next pending message, if there is one and nothing is live. */
export async function startNext(runtime: Runtime, threadId: string): Promise<void> {
  const started = await runtime.database.transaction(
    async (query): Promise<{ beginning: Beginning; place: Place } | undefined> => {
      const thread = await query("select 1 from threads where id = $1 for update", [threadId]);
      if (thread.length === 0 || (await query(liveRoot, [threadId])).length > 0) return undefined;
      const [next] = await query<{ start: Beginning }>(
        `with p as (delete from pending where run_id = (select run_id from pending where thread_id = $1 order by position limit 1) returning start),
            t as (update threads set pending = greatest(0, pending - 1) from p where id = $1)
       select start from p`,
        [threadId],
      );
      if (!next) return undefined;
      // Its key was recorded when it was accepted.
      const beginning: Beginning = { ...next.start, idempotency: null, newThread: null };
      const place = await insertBeginning(query, beginning);
      if (!place) return undefined;
      await runtime.engine.send(query, {
        id: beginning.jobId,
        runId: beginning.runId,
        userId: beginning.caller.userId,
      });
      return { beginning, place };
    },
  );
  if (started) accepted(runtime, started.beginning, started.place);
}
