import type { Migration } from "../migration.ts";

/** What was asked, as a hash: a client that lost the answer and asks the same again is given the run that is there. */
export const repeatedRequests: Migration = {
  name: "0034-repeated-requests",
  up: "alter table runs add column request text",
};
