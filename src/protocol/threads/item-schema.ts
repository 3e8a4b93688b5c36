import { z } from "zod";
import { idSchema, timeSchema } from "../base/shapes.ts";
import type { MessageContent, ContentPart } from "./items.ts";

/** An item as the API tells of it; what its body holds by its kind, `Item` says. */
export const itemSchema = z.looseObject({
  id: idSchema,
  threadId: idSchema,
  seq: z.int(),
  kind: z.enum(["message", "call", "result", "question", "decision", "plan", "summary", "state", "notice"]),
  parentId: idSchema.nullable(),
  runId: idSchema.nullable(),
  step: z.string().nullable(),
  index: z.int().nullable(),
  attempt: z.int().nullable(),
  author: z.string().nullable(),
  body: z
    .looseObject({})
    .describe(
      "By kind; of a message {role, content, …}, of a call {name, arguments, target}, of a result {content, …}",
    ),
  createdAt: timeSchema,
});

const contentPartSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("image"), url: z.string() }),
]) satisfies z.ZodType<ContentPart>;

/** What may come from outside as the content of a message. */
export const contentSchema = z.union([
  z.string(),
  z.array(contentPartSchema).min(1),
]) satisfies z.ZodType<MessageContent>;
/** As it may be sent. */
export const sentContentSchema = z.union([
  z.string(),
  z.array(contentPartSchema).min(1).max(1000),
]) satisfies z.ZodType<MessageContent>;
