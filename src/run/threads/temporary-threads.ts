import { setTimeout as sleep } from "node:timers/promises";
import { type Caller, callerOf } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import { isIdle } from "../../store/privacy/retention.ts";
import { closedAt, removeTextOf, uploadsOnlyIn } from "../../store/privacy/temporary-threads.ts";
import { cancelRun } from "../lifecycle/cancel.ts";
import type { Runtime } from "../contract/runtime.ts";

/** After so long without use it goes, as if it had been closed. */
const unusedHours = 24;
/** So that no transaction holds up others for long. */
const together = 20;
/** For the end of what was stopped, before it is left to the next round. */
const maxLooks = 50;
const betweenLooksMs = 100;

/**
 * A temporary conversation that is closed is there for nobody from then on. What it was goes in steps, each of which may be done
 * again: what works in it is stopped, its files, then all rows at once. Whoever dies in between leaves the rest to the next round.
 */
export async function closeThread(
  runtime: Runtime,
  caller: Caller,
  { id, temporary }: { readonly id: string; readonly temporary: boolean },
): Promise<void> {
  if (!temporary)
    throw new Conflict("Only a temporary conversation is closed. Archive or delete this one.", {
      code: "thread_not_temporary",
    });
  await runtime.database.query(`update threads set expires_at = ${closedAt} where id = $1 and temporary`, [id]);
  for (let looks = 0; looks < maxLooks; looks++) {
    await stopRuns(runtime, caller, id);
    if (await removeClosed(runtime, [id])) return;
    await sleep(betweenLooksMs);
  }
}

/** A duty of the rounds: what was closed and is still there, and what nobody used for a day. */
export async function removeTemporary(runtime: Runtime): Promise<void> {
  if (!runtime.removeUpload) return;
  const { query } = runtime.database.listing;
  await query(
    `update threads t set expires_at = ${closedAt} where id in (select id from threads where temporary and expires_at > ${closedAt} and expires_at < now()
       and updated_at < now() - $1 * interval '1 hour' limit $2 for update skip locked) and ${isIdle}`,
    [unusedHours, together],
  );
  const closed = await query<{ id: string; user_id: string }>(
    `select id, user_id from threads where expires_at = ${closedAt} and temporary limit $1`,
    [together],
  );
  for (const { id, user_id } of closed) {
    await stopRuns(runtime, callerOf({ id: user_id, name: "", role: "user", permissions: [] }, "system"), id);
    await removeClosed(runtime, [id]);
  }
}

/** Messages that wait come first, or the end of a run would begin the next. */
async function stopRuns(runtime: Runtime, caller: Caller, threadId: string): Promise<void> {
  const runs = await runtime.database.query<{ id: string }>(
    `select run_id as id from pending where thread_id = $1 union all
     select id from runs where thread_id = $1 and parent_run is null and status in ('queued', 'running', 'waiting')`,
    [threadId],
  );
  for (const { id } of runs) await cancelRun(runtime, caller, id);
}

/** Whether they are gone. Where this process can't work with files, they wait for one that can. */
async function removeClosed({ database, removeUpload }: Runtime, ids: readonly string[]): Promise<boolean> {
  if (!removeUpload) return true;
  const { query, transaction } = database.listing;
  const idle = await query(`select 1 from threads t where id = any ($1::uuid[]) and not (${isIdle})`, [ids]);
  if (idle.length > 0) return false;
  // First the files: they are found by the rows.
  for (const id of await uploadsOnlyIn(query, ids)) await removeUpload(id);
  return transaction(async (within) => {
    // In a statement of its own: the next one then sees a run that was accepted meanwhile.
    await within("select 1 from threads where id = any ($1::uuid[]) order by id for update", [ids]);
    const busy = await within(`select 1 from threads t where id = any ($1::uuid[]) and not (${isIdle})`, [ids]);
    if (busy.length > 0) return false;
    await removeTextOf(within, ids);
    await within(
      "delete from deltas where thread_id = any ($1::uuid[]) or run_id in (select id from runs where root_run in (select id from runs where thread_id = any ($1::uuid[])))",
      [ids],
    );
    await within("delete from threads where id = any ($1::uuid[]) and temporary", [ids]);
    return true;
  });
}
