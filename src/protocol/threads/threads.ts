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

/** What a person makes of a conversation or room. A room is many people's: these are each one's own. */
export const threadPlaceSchema = z.object({
  kind: z.enum(["conversation", "room"]),
  folderId: idSchema.nullable(),
  pinnedAt: timeSchema.nullable(),
  unread: z.boolean().describe("Something was said that you have not marked as read"),
});
export type ThreadPlace = Shape<typeof threadPlaceSchema>;

export const placedThreadSchema = threadSchema.extend(threadPlaceSchema.shape);
export type PlacedThreadView = Shape<typeof placedThreadSchema>;

/** What conversations are called that people begin: nothing; their first words; what a model says, and until then these. */
export const titleModes = ["off", "first-words", "model"] as const;
export type TitleMode = (typeof titleModes)[number];

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
export const detailedThreadSchema = placedThreadSchema.extend({
  temporary: z.boolean().describe("In no list, and gone once it is closed, or a day after its last use"),
  settings: threadSettingsSchema.describe("What is set for this conversation; empty: nothing"),
});
export type DetailedThread = PlacedThreadView & { readonly temporary: boolean; readonly settings: ThreadSettings };

/** A thread in a list; of a search with the newest message that fits. */
export const listedThreadSchema = placedThreadSchema.extend({
  found: z.object({ item: idSchema, excerpt: z.string() }).optional(),
});
export type ListedThread = Shape<typeof listedThreadSchema>;

/** A page of the list. */
export const threadPageSchema = z.object({
  data: z.array(listedThreadSchema),
  next: z.string().optional().describe("`before` of the next page; absent: there is none"),
});
export type ThreadListPage = Shape<typeof threadPageSchema>;

export const maxTogether = 500;

/** What became of each of those that one request names, in their order. */
export const bulkAnswerSchema = z.object({
  data: z.array(
    z.object({
      id: idSchema,
      done: z.boolean(),
      error: z.object({ code: z.string(), message: z.string() }).optional().describe("Why not"),
    }),
  ),
});
export type BulkAnswer = Shape<typeof bulkAnswerSchema>;

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
