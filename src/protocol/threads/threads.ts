import { z } from "zod";
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
