import type { RunRecord } from "../../protocol/threads/run-shapes.ts";
import { type Caller, controllableRuns } from "../../protocol/base/callers.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { RunEnd } from "../log/append.ts";
import { endLocked, lockRun, noRun, publishEnd, requeueRun } from "./locked-run.ts";
import { endPending, startNext } from "./message-queue.ts";
import { placeInRoom } from "./place-in-room.ts";
import { runColumns, toRun, type RunRow } from "../log/rows.ts";
import type { Runtime } from "../contract/runtime.ts";

/** Stops a run: at once if it is queued or waits, else its owner is told. A run that has ended stays as it is. */
export async function cancelRun(runtime: Runtime, caller: Caller, runId: string): Promise<RunRecord> {
  if (!isId(runId)) throw noRun(runId);
  // Whoever left a room has nothing to say in it, also about what they began.
  const userId = controllableRuns(caller);
  if (caller.role !== "admin" && !caller.authority) await placeInRoom(runtime.database.query, caller, { id: runId });
  const which = { runId, ...(userId === undefined ? {} : { userId }) };
  let ended = await endIdleRun(runtime, which, { status: "cancelled" });
  if (ended === "none" && !(await endPending(runtime, which, { status: "cancelled" }))) {
    // It may have left `pending` for its turn between the two looks.
    ended = await endIdleRun(runtime, which, { status: "cancelled" });
  }
  if (ended === "running") {
    runtime.active.get(runId)?.stop("cancelled");
    runtime.deltas.tellStop(runId);
  }
  const [row] = await runtime.database.query<RunRow>(
    `select ${runColumns} from runs where id = $1 and ($2::uuid is null or user_id = $2)`,
    [runId, which.userId ?? null],
  );
  if (!row) throw noRun(runId);
  return toRun(row);
}

export type IdleRun = {
  readonly runId: string;
  readonly userId?: string;
  /** Only if it still waits, and too long. */
  readonly expired?: true;
};

/** Ends a run that nobody works on. `running`: its owner was asked to cancel it instead. */
export async function endIdleRun(
  runtime: Runtime,
  { runId, userId, expired }: IdleRun,
  end: RunEnd,
): Promise<"ended" | "running" | "none"> {
  const done = await runtime.database.transaction(async (query) => {
    const run = await lockRun(query, runId, userId);
    if (!run || (expired && !run.late)) return "none";
    if (run.status !== "queued" && run.status !== "waiting" && run.status !== "running") return "ended";
    // Also of one that ends here: it was stopped by itself, and not with the run above it.
    if (!expired) await query("update runs set cancel_asked = true where id = $1", [runId]);
    if (run.status === "running") return "running";
    const appended = await endLocked(runtime, query, { run, end });
    // Its parent has an answer to its call now.
    if (run.root) await requeueRun(query, run);
    return { threadId: run.threadId, appended };
  });
  if (typeof done === "string") return done;
  publishEnd(runtime, done.threadId, done.appended);
  runtime.queue.wake();
  if (done.appended.pending > 0) await startNext(runtime, done.threadId);
  return "ended";
}
