import { z } from "zod";
import { missedPolicies } from "./schedules.ts";
import { idSchema, type Shape } from "../base/shapes.ts";

/** An agent runs a prompt in a thread at set times. */
export const scheduleSchema = z.object({
  id: idSchema,
  threadId: idSchema,
  agent: z.string(),
  prompt: z.string(),
  /** Five fields, read in `timeZone`. */
  cron: z.string(),
  /** IANA. */
  timeZone: z.string(),
  missed: z.enum(missedPolicies),
  enabled: z.boolean(),
  /** null while it is disabled. */
  next: z.string().nullable().describe("When it is due next"),
  lastRun: idSchema.nullable(),
  lastError: z.string().nullable().describe("Why the last time started no run"),
  createdAt: z.string(),
});
export type ScheduleView = Shape<typeof scheduleSchema>;
export type ScheduleRecord = ScheduleView & { readonly userId: string };

export const scheduleTimesSchema = z.object({
  cron: z.string(),
  next: z.array(z.string()).describe("The first five"),
});
export type ScheduleTimes = Shape<typeof scheduleTimesSchema>;
