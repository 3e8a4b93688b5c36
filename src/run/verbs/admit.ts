import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { accept, IdempotencyKeyTaken, liveRootSql, type NewRun } from "../lifecycle/accept.ts";
import { cancelRun } from "../lifecycle/cancel.ts";
import { threadBusy } from "../lifecycle/locked-run.ts";
import { queueBehind } from "../lifecycle/message-queue.ts";
import { startedWithKeySql } from "../log/rows.ts";
import type { RunStart, StartInput } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { steer } from "./steer.ts";
import { violatedConstraint } from "../../store/driver/sql-state.ts";

/** How often a thread may turn busy and free again under a run that wants in. */
const maxTries = 20;

/** How a run gets into a thread that may be busy; `message` is what a live run is steered with. */
export type Admission = Partial<Pick<StartInput, "mode" | "showQuestions" | "message" | "room">>;

/** Begins a run, or lets it wait behind the live one of its thread; what was accepted before is only answered. */
export async function startOrQueue(runtime: Runtime, given: NewRun, admission: Admission): Promise<RunStart> {
  const { caller, idempotency } = given;
  // A caller restricted to its own API key is not shown a run that another API key started with the same Idempotency-Key.
  const isApart = idempotency !== null && caller.only !== undefined;
  const beginning = isApart
    ? { ...given, idempotency: { ...idempotency, key: `${caller.only}:${idempotency.key}` } }
    : given;
  for (let tries = 1; ; tries++) {
    try {
      const started = await accept(runtime, beginning);
      if (started) return started;
      const met = await meetLiveRun(runtime, beginning, admission);
      if (met) return met;
      const queued = await queueBehind(runtime, beginning, admission);
      if (queued === "told") return await replay(runtime, beginning);
      if (queued !== "free") return queued;
    } catch (error) {
      if (error instanceof IdempotencyKeyTaken) return await replay(runtime, beginning);
      const constraint = violatedConstraint(error);
      if (constraint === "items_id_key" || constraint === "pending_message_id_key")
        return await replay(runtime, beginning);
      // Another message was the first in a thread that had just become free.
      if (constraint !== "runs_one_live_root") throw error;
    }
    if (tries === maxTries) throw new Conflict("The thread is busy. Send the message again.", { code: "thread_busy" });
  }
}

/** A message that is not to wait: refused, taken in by the live run, or said after that one is stopped. */
async function meetLiveRun(
  runtime: Runtime,
  beginning: NewRun,
  { mode = "queue", message, room }: Admission,
): Promise<RunStart | undefined> {
  const { threadId, caller, idempotency } = beginning;
  const { query } = runtime.database;
  // Sent again, it must not be refused because of its own run, much less stop it.
  if (mode === "queue" || (await isKnown(query, beginning))) return undefined;
  if (mode === "reject") {
    const [live] = await query<{ id: string }>(liveRootSql("$1"), [threadId]);
    throw threadBusy(live?.id);
  }
  if (mode === "steer") {
    if (!message) return undefined;
    const steered = await steer(runtime, caller, { threadId, message, idempotency, room });
    if (!steered) return undefined;
    const { runId, seq } = steered;
    return { runId, threadId, cursor: { seq: seq - 1, live: [] }, pending: false, replayed: false };
  }
  const [live] = await query<{ id: string }>(
    "select id from runs where thread_id = $1 and user_id = $2 and parent_run is null and status in ('queued', 'running', 'waiting')",
    [threadId, caller.userId],
  );
  if (live) await cancelRun(runtime, caller, live.id);
  return undefined;
}

async function isKnown(query: Query, { caller, idempotency, items }: NewRun): Promise<boolean> {
  const [row] = await query<{ known: boolean }>(
    `select exists (select 1 from idempotency_keys where user_id = $1 and key = $2) or exists (select 1 from items where id = $3)
       or exists (select 1 from pending where message_id = $3) as known`,
    [caller.userId, idempotency?.key ?? null, items.at(-1)!.id],
  );
  return row!.known;
}

/** Returns the existing run for a repeated request, by its key or message ID. Refuses another request with the same key. */
async function replay(runtime: Runtime, { caller, idempotency, items }: NewRun): Promise<RunStart> {
  const { query } = runtime.database;
  const [keyed] = await query<{ body_hash: string; run_id: string; thread_id: string }>(
    "select body_hash, run_id, thread_id from idempotency_keys where user_id = $1 and key = $2",
    [caller.userId, idempotency?.key ?? null],
  );
  if (keyed && keyed.body_hash !== idempotency?.bodyHash) {
    throw new InvalidInput("This Idempotency-Key was used with another request; use a new key.", {
      status: 422,
      code: "idempotency_key_reused",
    });
  }
  if (keyed) return replayed(runtime, keyed.run_id, keyed.thread_id);
  const { id } = items.at(-1)!;
  const [row] = await query<{ run_id: string; thread_id: string }>(
    `select run_id, thread_id from items where id = $1 and user_id = $2 and run_id is not null
       and ($3::text is null or exists (select from runs where runs.id = run_id and ${startedWithKeySql("$3", "runs.caller")}))
     union all select run_id, thread_id from pending where message_id = $1 and user_id = $2 and ${startedWithKeySql("$3", "start -> 'caller'")}`,
    [id, caller.userId, caller.only ?? null],
  );
  if (!row) throw new InvalidInput(`The id ${id} is taken.`, { status: 422, param: "message.id" });
  return replayed(runtime, row.run_id, row.thread_id);
}

/** A run that was begun before, to be followed from its beginning. */
export async function replayed(runtime: Runtime, runId: string, threadId: string): Promise<RunStart> {
  const [row] = await runtime.database.query<{ seq: number | null; resumed: number | null; last: number }>(
    `select seq, resumed, next_seq - 1 as last from threads cross join lateral
       (select min(seq) as seq, max(seq) filter (where kind = 'state' and body ->> 'type' = 'run-resume') as resumed
        from items where run_id = $1) as run where id = $2`,
    [runId, threadId],
  );
  if (!row) throw new NotFound("The thread of this request is gone.");
  return {
    runId,
    threadId,
    cursor: { seq: row.seq === null ? row.last : row.seq - 1, live: [] },
    pending: row.seq === null,
    replayed: true,
    ...(row.resumed === null ? {} : { resumedAt: row.resumed }),
  };
}
