import type { Migration } from "../migration.ts";

/**
 * What a person has set for one conversation. And what is left to do for a title that the server makes: how often it has begun
 * to ask a model for one (null: there is nothing to do), and since when somebody is at it.
 */
export const threadSettings: Migration = {
  name: "0037-thread-settings",
  up: `
    alter table threads add column settings jsonb, add column title_tries integer, add column title_asked_at timestamptz;
    create index threads_untitled on threads (id) where title_tries is not null;
  `,
};
