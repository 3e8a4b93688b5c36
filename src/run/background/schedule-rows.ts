import type { ScheduleRecord } from "../../protocol/threads/schedule-shapes.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { MissedPolicy } from "../../protocol/threads/schedules.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Timetable, TimetableEntry } from "../engine/timetable.ts";
import type { StartInput } from "../runs.ts";

export type ScheduleRow = {
  readonly id: string;
  readonly user_id: string;
  readonly thread_id: string;
  readonly agent: string;
  readonly prompt: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly missed: MissedPolicy;
  readonly enabled: boolean;
  readonly last_run: string | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  /** Scopes of the API key it was created with; null: all rights of its owner. */
  readonly scopes: readonly string[] | null;
};

export const scheduleColumns =
  "id, user_id, thread_id, agent, prompt, cron, time_zone, missed, enabled, last_run, last_error, created_at, scopes";

export function toSchedule(row: ScheduleRow, timetable: Timetable): ScheduleRecord {
  return {
    id: row.id,
    userId: row.user_id,
    threadId: row.thread_id,
    agent: row.agent,
    prompt: row.prompt,
    cron: row.cron,
    timeZone: row.time_zone,
    missed: row.missed,
    enabled: row.enabled,
    next: row.enabled ? timetable.next(row.cron, row.time_zone)[0]!.toISOString() : null,
    lastRun: row.last_run,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
  };
}

export function entryOf(row: ScheduleRow): TimetableEntry {
  return { key: row.id, cron: row.cron, timeZone: row.time_zone, missed: row.missed };
}

export function inputOf(row: ScheduleRow): StartInput {
  return {
    agent: row.agent,
    threadId: row.thread_id,
    message: { content: row.prompt },
    mode: "queue",
    unattended: true,
  };
}

/** Keeps the run that was started, or why none was. */
export async function noteFiring(
  query: Query,
  id: string,
  { run, error }: { readonly run?: string; readonly error?: string },
): Promise<void> {
  await query("update schedules set last_run = coalesce($2, last_run), last_error = $3 where id = $1", [
    id,
    run ?? null,
    error === undefined ? null : plainText(error).slice(0, 500),
  ]);
}
