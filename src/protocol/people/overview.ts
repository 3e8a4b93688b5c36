import { z } from "zod";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

export const usageGroups = ["user", "model", "agent", "day", "hour"] as const;
export type UsageGroup = (typeof usageGroups)[number];

const milliseconds = z.number().nullable();

/** Of requests to models. Latencies in milliseconds; null where nothing was measured. */
export const usageSchema = z.object({
  key: z.string().describe("A user, model, agent, day or hour; empty: of none"),
  requests: z.int(),
  errors: z.int(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** In the unit of `prices`; of models without a price nothing. */
  cost: z.number(),
  runs: z.int(),
  firstPartP50: milliseconds,
  firstPartP95: milliseconds,
  totalP50: milliseconds,
  totalP95: milliseconds,
});
export type UsageView = Shape<typeof usageSchema>;

export const settingSchema = z.object({ path: z.string(), value: z.unknown(), source: z.string() });
export type SettingView = Shape<typeof settingSchema>;

export const auditSchema = z.object({
  id: idSchema,
  at: timeSchema,
  userId: idSchema.nullable(),
  userName: z.string(),
  via: z.string(),
  address: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  requestId: z.string(),
});
export type AuditView = Shape<typeof auditSchema>;

/** What an examination of the server has found. */
export const findingSchema = z.object({
  grade: z.enum(["ok", "note", "trouble"]).describe("trouble: somebody must mend it"),
  about: z.string(),
  text: z.string(),
});
export type Finding = Shape<typeof findingSchema>;
