import type { Migration } from "../migration.ts";

/** What a program writes down about a conversation, as pairs of texts. */
export const threadMetadata: Migration = {
  name: "0035-thread-metadata",
  up: "alter table threads add column metadata jsonb",
};
