import type { Caller } from "../protocol/callers.ts";
import { isId } from "../protocol/ids.ts";
import type { RunRecord } from "../protocol/runs.ts";
import type { RunEnd } from "./append.ts";
import { endLocked, lockRun, noRun, publishItems } from "./locked.ts";
import { startNext } from "./pending.ts";
import { runColumns, toRun, type RunRow } from "./rows.ts";
import type { Runtime } from "./runtime.ts";

/** Stops a run: at once if it is queued or waits, else its owner is told. A run that has ended stays as it is. */
export async function cancelRun(runtime: Runtime, caller: Caller, runId: string): Promise<RunRecord> {
  if (!isId(runId)) throw noRun(runId);
  const userId = caller.role === "admin" ? undefined : caller.userId;
  const ended = await endIdleRun(
    runtime,
    { runId, ...(userId === undefined ? {} : { userId }) },
    { status: "cancelled" },
  );
  if (ended === "none") return cancelPending(runtime, caller, runId);
  if (ended === "running") {
    runtime.active.get(runId)?.stop("cancelled");
    runtime.deltas.tellStop(runId);
  }
  const [row] = await runtime.database.query<RunRow>(`select ${runColumns} from runs where id = $1`, [runId]);
  if (!row) throw noRun(runId);
  return toRun(row);
}

/** Ends a run that nobody works on. `running`: its owner was asked to cancel it instead. */
export async function endIdleRun(
  runtime: Runtime,
  { runId, userId }: { readonly runId: string; readonly userId?: string },
  end: RunEnd,
): Promise<"ended" | "running" | "none"> {
  const done = await runtime.database.transaction(async (query) => {
    const run = await lockRun(query, runId, userId);
    if (!run) return "none";
    if (run.status === "running") {
      await query("update runs set cancel_asked = true where id = $1", [runId]);
      return "running";
    }
    if (run.status !== "queued" && run.status !== "waiting") return "ended";
    return { threadId: run.threadId, appended: await endLocked(runtime, query, { run, end }) };
  });
  if (typeof done === "string") return done;
  publishItems(runtime, done.threadId, done.appended.items);
  if (done.appended.pending > 0) await startNext(runtime, done.threadId);
  return "ended";
}

/** A message that still waits in `pending` leaves a cancelled run behind, so that its id goes on answering. */
async function cancelPending(runtime: Runtime, caller: Caller, runId: string): Promise<RunRecord> {
  const [row] = await runtime.database.query<RunRow>(
    `with p as (delete from pending where run_id = $1 and user_id = $2 returning *),
          t as (update threads set pending = greatest(0, threads.pending - 1) from p where threads.id = p.thread_id)
     insert into runs (id, thread_id, user_id, agent, root_run, status, definition, definition_hash, caller, ended_at)
     select p.run_id, p.thread_id, p.user_id, p.start -> 'definition' -> 'agent' ->> 'id', p.run_id, 'cancelled', p.start -> 'definition', '', p.start -> 'caller', now() from p
     returning ${runColumns}`,
    [runId, caller.userId],
  );
  if (!row) throw noRun(runId);
  return toRun(row);
}
