import { z } from "zod";
import { contentSchema } from "./item-schema.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

/** A read-only link to a thread. */
export const shareSchema = z.object({
  id: idSchema,
  threadId: idSchema,
  leaf: idSchema,
  createdAt: timeSchema,
  expiresAt: timeSchema.nullable(),
});
export type ShareView = Shape<typeof shareSchema>;

export const ownShareSchema = shareSchema.extend({ title: z.string() });
export type OwnShareView = Shape<typeof ownShareSchema>;

/** `page`: the link for people, below the server's address; told this once. */
export const madeShareSchema = z.object({ share: shareSchema, path: z.string(), page: z.string() });
export type MadeShare = Shape<typeof madeShareSchema>;

/** What whoever has a link reads. */
export const sharedSchema = z.object({
  title: z.string(),
  sharedAt: timeSchema,
  messages: z.array(
    z.object({
      role: z.enum(["user", "assistant"]),
      author: z.string().nullable(),
      content: contentSchema,
      createdAt: timeSchema,
    }),
  ),
});
export type SharedView = Shape<typeof sharedSchema>;
