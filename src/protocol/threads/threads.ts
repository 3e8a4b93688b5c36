import { z } from "zod";
import { modelSettingsSchema } from "../agents/agents.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

export const threadSchema = z.object({
  id: idSchema,
  title: z.string(),
  agent: z.string().nullable(),
  leaf: idSchema.nullable(),
  lastSeq: z.int(),
  archivedAt: timeSchema.nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  usedAt: timeSchema.describe("When it last got a run or a name: the order of `sort=used`"),
});
export type ThreadView = Shape<typeof threadSchema>;

/**
 * What a person has set for all further answers of one conversation. It narrows what its agent may do, and never widens it;
 * what a request says for its own run comes first.
 */
export const threadSettingsSchema = z.strictObject({
  model: z.string().min(1).max(256).optional().describe("Instead of the agent's, of those that you may use"),
  temperature: modelSettingsSchema.shape.temperature,
  reasoningEffort: z.string().min(1).max(50).optional(),
  maxTokens: modelSettingsSchema.shape.maxTokens.describe("Of an answer; at most as many as the agent allows"),
  instructions: z.string().max(20_000).optional().describe("They follow the agent's own"),
  toolsOff: z
    .array(z.string().min(1).max(200))
    .max(500)
    .optional()
    .describe("Names of the agent's tools that it may not use"),
});
export type ThreadSettings = Readonly<z.infer<typeof threadSettingsSchema>>;

/** A thread by itself. */
export const detailedThreadSchema = threadSchema.extend({
  settings: threadSettingsSchema.describe("What is set for this conversation; empty: nothing"),
});
export type DetailedThread = ThreadView & { readonly settings: ThreadSettings };

/** A thread in a list; of a search with the newest message that fits. */
export const listedThreadSchema = threadSchema.extend({
  found: z.object({ item: idSchema, excerpt: z.string() }).optional(),
});
export type ListedThread = Shape<typeof listedThreadSchema>;

/** A message that waits for its turn. */
export const pendingSchema = z.object({
  id: idSchema.describe("Of the run that it will begin"),
  agent: z.string(),
  text: z.string(),
  whole: z.boolean().describe("Whether `text` is complete"),
  files: z.array(z.object({ id: z.string(), name: z.string(), mediaType: z.string() })),
  createdAt: z.string(),
});
export type PendingView = Shape<typeof pendingSchema>;

/** `id`: of the message with the new words. */
export const editedSchema = z.object({ id: idSchema, thread: threadSchema });
export type EditedMessage = Shape<typeof editedSchema>;
