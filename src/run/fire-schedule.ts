import { createHash } from "node:crypto";
import { callerOf, type Rights } from "../protocol/callers.ts";
import { ColloquyError } from "../protocol/errors.ts";
import { startRun } from "./run.ts";
import type { StartInput } from "./runs.ts";
import type { Runtime } from "./runtime.ts";
import { inputOf, noteFiring, type ScheduleRow } from "./schedule-rows.ts";

/**
 * What happens when the time has come: a run with the rights that the owner has now. The same occurrence again is the same
 * run. Throws what is worth another try; everything else is kept in the schedule's `last_error`.
 */
export async function fireSchedule(runtime: Runtime, id: string, occurrence: string): Promise<void> {
  const { database } = runtime;
  const [row] = await database.query<ScheduleRow & Rights & { owner: string; disabled: boolean; waits: boolean }>(
    `select s.*, u.name as owner, u.role, u.disabled, permissions_of(u.id, u.role) as permissions, exists (select from pending where run_id = s.last_run) as waits
     from schedules s join users u on u.id = s.user_id where s.id = $1`,
    [id],
  );
  // It went with its thread or its owner, which the timetable does not see.
  if (!row) return database.transaction((query) => runtime.engine.timetable.remove(query, id));
  if (!row.enabled) return;
  if (row.disabled) {
    await database.transaction(async (query) => {
      await query("update schedules set enabled = false, last_error = $2 where id = $1", [
        id,
        `The account ${row.owner} is disabled.`,
      ]);
      await runtime.engine.timetable.remove(query, id);
    });
    return;
  }
  if (row.waits) return noteFiring(database.query, id, { error: "Left out: the one before still waits for its turn." });
  const owner = callerOf({ ...row, id: row.user_id, name: row.owner }, "system");
  try {
    const started = await startRun(runtime, owner, { ...inputOf(row), idempotency: keyOf(id, occurrence) });
    await noteFiring(database.query, id, { run: started.runId });
  } catch (error) {
    const known = error instanceof ColloquyError;
    await noteFiring(database.query, id, { error: known ? error.message : "The server failed." });
    // Only what may pass is worth another try.
    if (!known || error.status >= 500) throw error;
  }
}

/** Of the occurrence alone: a prompt that was changed between two tries makes no second run. */
function keyOf(id: string, occurrence: string): NonNullable<StartInput["idempotency"]> {
  const key = `schedule:${id}:${occurrence}`;
  return { key, bodyHash: createHash("sha256").update(key).digest("hex") };
}
