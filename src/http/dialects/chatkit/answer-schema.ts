import { z } from "zod";
import { eventStream } from "../../shapes/event-schema.ts";

/** Schema of an item, by its type only; ChatKit's documentation describes its fields. */
const item = z.looseObject({
  id: z.string(),
  type: z.enum(["user_message", "assistant_message", "workflow", "client_tool_call", "structured_input", "task"]),
  thread_id: z.string(),
  created_at: z.string(),
});
const page = z.object({ data: z.array(item), has_more: z.boolean(), after: z.string().optional() });
const thread = z.object({
  id: z.string(),
  title: z.string().optional(),
  created_at: z.string(),
  status: z.object({ type: z.literal("active") }),
  metadata: z.object({}),
  items: page,
});

const events = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["thread.created", "thread.updated"]), thread }),
  z.object({ type: z.enum(["thread.item.added", "thread.item.done", "thread.item.replaced"]), item }),
  z.object({
    type: z.literal("thread.item.updated"),
    item_id: z.string(),
    update: z.looseObject({ type: z.string() }),
  }),
  z.object({ type: z.literal("thread.item.removed"), item_id: z.string() }),
  z.object({ type: z.literal("stream_options"), stream_options: z.object({ allow_cancel: z.boolean() }) }),
  z.object({ type: z.literal("progress_update"), text: z.string() }),
  z.object({
    type: z.literal("notice"),
    level: z.enum(["info", "warning", "danger"]),
    message: z.string(),
    title: z.string().optional(),
  }),
]);
const failure = z.object({ type: z.literal("error"), code: z.string(), message: z.string(), allow_retry: z.boolean() });

/** Answer to a body with `conversation_id`. */
const conversationEvents = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_delta"), content: z.string() }),
  z.object({
    type: z.literal("message_complete"),
    conversation_id: z.int(),
    message_id: z.string().optional(),
    status: z.enum(["done", "waiting"]),
  }),
]);
const conversationFailure = z.object({ type: z.literal("error"), conversation_id: z.int(), message: z.string() });

const attachment = z.looseObject({ id: z.string(), type: z.enum(["file", "image"]), name: z.string() });
const threads = z.object({ data: z.array(thread), has_more: z.boolean(), after: z.string().optional() });

export const chatkitAnswer = eventStream(
  "Events for what starts work; JSON for the rest",
  z.object({ data: z.union([events, failure, conversationEvents, conversationFailure]) }),
  { "application/json": { schema: z.union([thread, threads, page, attachment, z.object({})]) } },
);
