import { z } from "zod";
import {
  type DetailedThread,
  detailedThreadSchema,
  threadSchema,
  threadSettingsSchema,
  type EditedMessage,
  editedSchema,
  type ListedThread,
  listedThreadSchema,
  pendingSchema,
  type PendingView,
} from "../../../protocol/threads/threads.ts";
import { sentContentSchema } from "../../../protocol/threads/item-schema.ts";
import type { Caller } from "../../../protocol/base/callers.ts";
import type { Threads } from "../../../run/runs.ts";
import { endpoint } from "../../server/endpoint.ts";
import { itemPageQuery, itemPageSchema, readItemPage } from "../../shapes/item-page.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { publicThread } from "../../../protocol/threads/public-views.ts";
import { idParams, listOf, pageQuery } from "../../shapes/schemas.ts";

export const createThread = endpoint({
  needs: ["ask", "threads:write"],
  tag: "threads",
  summary: "Make a thread",
  body: z
    .strictObject({ id: idSchema.optional(), title: z.string().max(500).optional(), agent: z.string().optional() })
    .optional(),
  answers: { 201: threadSchema },
  async handle({ body, caller, reply, services }) {
    reply.code(201);
    return publicThread(await services.threads.createThread(caller, body ?? {}));
  },
});

export const listThreads = endpoint({
  needs: "threads:list",
  tag: "threads",
  summary: "List your threads, newest first, or search them",
  description:
    "`search` finds threads by their titles and by the words of their messages (each word may be the beginning of one), " +
    "archived ones too; `found` is then the newest message that fits.",
  query: z.object({
    before: idSchema.optional().describe("The last id of the page before"),
    archived: z.enum(["true", "false"]).optional().describe("Only archived ones; absent: none of them"),
    sort: z.enum(["made", "used"]).optional().describe("`used`: the last used first"),
    search: z.string().max(500).optional(),
    ...pageQuery,
  }),
  answers: { 200: listOf(listedThreadSchema) },
  async handle({ query: { search, archived, sort, ...page }, caller, services: { threads } }) {
    if (search === undefined || search.trim() === "")
      return {
        data: (
          await threads.listThreads(caller, { ...page, byUse: sort === "used", archived: archived === "true" })
        ).map(publicThread),
      };
    const found = await threads.searchThreads(caller, { text: search, ...(page.limit && { limit: page.limit }) });
    return {
      data: found.map(({ thread, item }): ListedThread => ({
        ...publicThread(thread),
        ...(item && { found: { item: item.id, excerpt: item.excerpt } }),
      })),
    };
  },
});

export const listPending = endpoint({
  needs: ["threads:read", "own"],
  tag: "threads",
  summary: "List the messages that wait for their turn, the next one first",
  description: "Each waits behind a run that has not ended. To take one back, cancel its run.",
  params: idParams,
  answers: { 200: listOf(pendingSchema) },
  async handle({ params, caller, services }) {
    const messages = await services.threads.pending(caller, params.id);
    return { data: messages.map(({ isWhole, ...message }): PendingView => ({ ...message, whole: isWhole })) };
  },
});

export const getThread = endpoint({
  needs: ["threads:read", "own"],
  tag: "threads",
  summary: "Get a thread",
  params: idParams,
  answers: { 200: detailedThreadSchema },
  handle: ({ params, caller, services }) => detailed(services.threads, caller, params.id),
});

export const changeThread = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Rename or archive a thread, change its settings, or choose the branch that it shows",
  description:
    "`leaf`: any item of a branch; the conversation goes on at the newest one below it. 409 `thread_busy` while a run works " +
    "in the thread. `settings` holds for all runs that begin from now on, and replaces what was set; 409 `thread_is_room`: " +
    "a room has none.",
  params: idParams,
  body: z
    .strictObject({
      title: z.string().max(500).optional(),
      archived: z.boolean().optional(),
      leaf: idSchema.optional(),
      settings: threadSettingsSchema.optional().describe("In place of all that was set; {}: nothing is"),
      outsideRead: z
        .literal(true)
        .optional()
        .describe("You have read the external content so far: it triggers no more questions"),
    })
    .refine((changes) => Object.keys(changes).length > 0, "must change something"),
  answers: { 200: detailedThreadSchema },
  async handle({ params: { id }, body, caller, services: { threads } }) {
    const { title, archived, leaf, settings, outsideRead } = body;
    if (settings !== undefined) await threads.changeSettings(caller, id, settings);
    if (leaf !== undefined) await threads.chooseBranch(caller, id, leaf);
    if (outsideRead) await threads.readOutside(caller, id);
    if (archived !== undefined) await threads.archiveThread(caller, id, archived);
    if (title !== undefined) await threads.renameThread(caller, id, title);
    return detailed(threads, caller, id);
  },
});

async function detailed(threads: Threads, caller: Caller, id: string): Promise<DetailedThread> {
  const [thread, settings] = await Promise.all([threads.getThread(caller, id), threads.settingsOf(caller, id)]);
  return { ...publicThread(thread), settings };
}

export const editMessage = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Change the words of a message or an answer",
  description:
    "Nobody is asked anew: a branch beside the message begins with the new words and goes on with copies of what came after. " +
    "Nothing is overwritten. An answer is marked as `edited` (by whom, when, and the item that the model wrote); models read " +
    "the new words from then on. 409 `thread_busy` while a run works in the thread, `message_has_calls` for a message that " +
    "called tools.",
  params: idParams,
  takesLong: true,
  body: z.strictObject({
    message: z.strictObject({ id: idSchema.optional(), content: sentContentSchema }),
    instead: idSchema.describe("Your message, or an agent's, that this one replaces"),
  }),
  answers: { 201: editedSchema },
  async handle({ params, body: { message, instead }, caller, reply, services }): Promise<EditedMessage> {
    const { messageId, thread } = await services.threads.editMessage(caller, { threadId: params.id, message, instead });
    reply.code(201);
    return { id: messageId, thread: publicThread(thread) };
  },
});

export const deleteThread = endpoint({
  needs: "threads:delete",
  tag: "threads",
  summary: "Delete a thread with all its items",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.threads.deleteThread(caller, params.id);
    reply.code(204);
  },
});

export const listItems = endpoint({
  needs: ["threads:read", "own"],
  tag: "threads",
  summary: "List a thread's items by seq",
  description:
    "A page ends at `limit` items or about 4 MB. `next` is the seq to go on from (`after`, with `order=desc` `before`); " +
    "without it there was no more. `around`: the items on both sides of one.",
  params: idParams,
  query: itemPageQuery,
  answers: { 200: itemPageSchema },
  handle: ({ params, query, caller, services: { threads } }) => readItemPage(threads, caller, params.id, query),
});
