import { z } from "zod";
import type { Shape } from "../base/shapes.ts";

/** What is kept for a time only, if somebody says for how long. */
export const retentionNames = [
  "threads",
  "archivedThreads",
  "runs",
  "uploads",
  "workspaces",
  "shares",
  "callLog",
  "audit",
] as const;
export type RetentionKind = (typeof retentionNames)[number];
export const retentionKindSchema = z.enum(retentionNames);

/** How long a kind of things is kept. */
export const retentionSchema = z.object({
  kind: retentionKindSchema,
  what: z.string(),
  days: z.number().nullable().describe("null: for ever"),
  default: z.number().nullable(),
  source: z.string().describe("`admin`, `default`, or where the configuration says it"),
  readOnly: z.boolean().describe("Set by the configuration, and only there changed"),
  lastAt: z.string().nullable().describe("When the last round ran; ISO 8601"),
  lastRemoved: z.number().nullable(),
  lastError: z.string().nullable(),
});
export type RetentionView = Shape<typeof retentionSchema>;

/** How much would go now. */
export const dueSchema = z.object({ kind: retentionKindSchema, days: z.number(), count: z.int() });
export type DueView = Shape<typeof dueSchema>;

/** What a round removed; `error` kept it from going on. */
export const roundSchema = z.object({ kind: retentionKindSchema, removed: z.int(), error: z.string().nullable() });
export type RoundResult = Shape<typeof roundSchema>;
