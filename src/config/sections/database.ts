import { z } from "zod";

/** Within the lease of 10 seconds that a node has on its runs, with the second that it listens for a late answer. */
const maxHeartSeconds = 9;

const seconds = z
  .number()
  .min(0.1, "must be at least 0.1: without an end, one lost answer would be waited for for ever");

/** Where everything is kept. What is said of connections and time counts on PostgreSQL only. */
export const databaseSchema = z
  .strictObject({
    /** Absent: PGlite in the data directory. */
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\/./, "must be a URL such as postgres://user:password@host:5432/database")
      .optional(),
    /** Of one node, besides one for notifications and one for signs of life; divided among what runs wait for, lists, and maintenance. */
    connections: z
      .int()
      .min(3, "must be at least 3: runs, lists and maintenance have connections of their own")
      .default(20),
    /** How long a statement may take that a run or a request waits for. */
    heartSeconds: seconds
      .max(
        maxHeartSeconds,
        `must be at most ${maxHeartSeconds}: a node that waits longer for an answer has lost its runs, whose lease is 10 seconds`,
      )
      .default(5),
    /** … one of a search, a list, or a round of upkeep. */
    listingSeconds: seconds.max(86_400).default(60),
    /** … one of a migration, an index or a move. */
    maintenanceSeconds: seconds.max(86_400).default(3600),
  })
  .prefault({});
