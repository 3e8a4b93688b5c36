import type { Migration } from "../migration.ts";

/** What each account used is counted by the hour, too, so the log is counted anew. */
export const usageHours: Migration = {
  name: "0033-usage-hours",
  up: `
    delete from usage_rollups;
    delete from meta where key = 'usage_rolled_to';
    drop index usage_rollups_by_user;
    create index usage_rollups_by_user on usage_rollups (user_id, span, of_all, starts_at) where user_id is not null;
    drop index usage_rollups_by_time;
    create index usage_rollups_by_time on usage_rollups (span, of_user, of_all, starts_at) include (user_id, model, requests);
  `,
};
