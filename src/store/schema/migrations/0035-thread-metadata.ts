import type { Migration } from "../migration.ts";

/** What a program writes down about a conversation, as pairs of texts; and that it wants to hear no more of a run.
 * `list`: whose tasks they are among the person's own, as a program named them; '': the person's. */
export const threadMetadata: Migration = {
  name: "0035-thread-metadata",
  up: `
    alter table threads add column metadata jsonb;
    alter table tasks add column list text not null default '';
    alter table runs add column forgotten boolean not null default false;
  `,
};
