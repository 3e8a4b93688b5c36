import { z } from "zod";

/** Days; 0: for ever. Absent: what an admin has set, else the kind's own default. */
const days = z
  .number()
  .refine((value) => value === 0 || value >= 1, { error: "must be 0 (for ever) or 1 day or more" })
  .optional();

export const retentionSchema = z
  .strictObject({
    hiddenThreadsDays: z.number().positive().default(7),
    idempotencyHours: z.number().positive().default(24),
    /** How long a run waits for its client's own tools. */
    clientWaitMinutes: z.number().positive().default(60),
    /** How long it waits for a person. */
    waitDays: z.number().positive().default(7),
    /** How long things are kept, by kind. */
    threadsDays: days,
    archivedThreadsDays: days,
    runsDays: days,
    uploadsDays: days,
    workspacesDays: days,
    sharesDays: days,
    callLogDays: days,
    auditDays: days,
  })
  .prefault({});
