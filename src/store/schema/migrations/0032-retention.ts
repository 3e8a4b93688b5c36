import type { Migration } from "../migration.ts";

/** A thread that goes takes its schedules with it, which are looked for. */
export const retention: Migration = {
  name: "0032-retention",
  up: "create index schedules_by_thread on schedules (thread_id)",
};
