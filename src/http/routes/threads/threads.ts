import { z } from "zod";
import {
  type DetailedThread,
  detailedThreadSchema,
  threadSettingsSchema,
  type EditedMessage,
  editedSchema,
  type ListedThread,
  pendingSchema,
  type PendingView,
  type ThreadListPage,
  threadPageSchema,
} from "../../../protocol/threads/threads.ts";
import { sentContentSchema } from "../../../protocol/threads/item-schema.ts";
import type { Caller } from "../../../protocol/base/callers.ts";
import type { Threads } from "../../../run/runs.ts";
import { endpoint } from "../../server/endpoint.ts";
import { itemPageQuery, itemPageSchema, readItemPage } from "../../shapes/item-page.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { placedThread, publicThread } from "../../../protocol/threads/public-views.ts";
import { placeChange } from "../../shapes/place-change.ts";
import { idParams, listOf, pageQuery } from "../../shapes/schemas.ts";

const nowhere = { kind: "conversation", folderId: null, pinnedAt: null, unread: false } as const;

export const createThread = endpoint({
  needs: ["ask", "threads:write"],
  tag: "threads",
  summary: "Make a thread",
  body: z
    .strictObject({
      id: idSchema.optional(),
      title: z.string().max(500).optional(),
      titleFrom: z
        .string()
        .max(10_000)
        .optional()
        .describe(
          "What a person begins the conversation with: the server makes its title, as its setting `titles` says. Not with `title`",
        ),
      agent: z.string().optional(),
      folderId: idSchema.optional().describe("A folder of yours; its agent answers if none is named"),
      temporary: z
        .boolean()
        .optional()
        .describe("In no list or search; what is said in it goes once it is closed, or a day after its last use"),
    })
    .refine(({ title, titleFrom }) => title === undefined || titleFrom === undefined, {
      message: "must not have both title and titleFrom",
      path: ["titleFrom"],
    })
    .optional(),
  answers: { 201: detailedThreadSchema },
  async handle({ body, caller, reply, services: { threads } }) {
    const { id } = await threads.createThread(caller, body ?? {});
    reply.code(201);
    return detailed(threads, caller, id);
  },
});

export const listThreads = endpoint({
  needs: "threads:list",
  tag: "threads",
  summary: "List your threads, newest first, or search them",
  description:
    "With `kind=all` conversations and the rooms that you are in, together. `search` finds conversations by their titles and by " +
    "the words of their messages (each word may be the beginning of one), archived ones too; `found` is then the newest message " +
    "that fits. A page of what is sorted by use holds its place if `next` is sent as `before`, whatever is used meanwhile.",
  query: z.object({
    before: z.string().max(60).optional().describe("`next` of the page before, or its last id"),
    archived: z.enum(["true", "false"]).optional().describe("Only archived ones; absent: none of them"),
    sort: z
      .enum(["made", "used", "pinned"])
      .optional()
      .describe("`used`: the last used first; `pinned`: only pinned ones, the last pinned first"),
    kind: z.enum(["conversation", "room", "all"]).optional().describe("Absent: conversations"),
    folder: z
      .union([idSchema, z.literal("none")])
      .optional()
      .describe("Only those in this folder, or in none"),
    pinned: z.literal("false").optional().describe("Without pinned ones"),
    search: z.string().max(500).optional(),
    ...pageQuery,
  }),
  answers: { 200: threadPageSchema },
  async handle({ query, caller, services: { threads } }): Promise<ThreadListPage> {
    const { search, archived, folder, pinned, kind = "conversation", ...page } = query;
    if (search === undefined || search.trim() === "") {
      const found = await threads.listPlaced(caller, {
        ...{ ...page, kind, archived: archived === "true", unpinned: pinned === "false" },
        folderId: folder === "none" ? null : folder,
      });
      return { data: found.threads.map(placedThread), ...(found.next !== undefined && { next: found.next }) };
    }
    const found = await threads.searchThreads(caller, { text: search, ...(page.limit && { limit: page.limit }) });
    const ids = found.map(({ thread }) => thread.id);
    const places = await threads.placed(caller, ids);
    return {
      data: found.map(({ thread, item }): ListedThread => ({
        ...placedThread(places.get(thread.id) ?? { ...thread, ...nowhere }),
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
  async handle({ params, caller, services: { threads } }) {
    const { id } = await threads.getThread(caller, params.id);
    return detailed(threads, caller, id);
  },
});

export const changeThread = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Rename, archive, pin or file a thread, change its settings, or choose the branch that it shows",
  description:
    "`leaf`: any item of a branch; the conversation goes on at the newest one below it. 409 `thread_busy` while a run works " +
    "in the thread. `settings` holds for all runs that begin from now on, and replaces what was set; 409 `thread_is_room`: " +
    "a room has none. `folderId`, `pinned`, `read` and `archived` take a room's id, too, if you are in it: they are your own.",
  params: idParams,
  body: z
    .strictObject({
      title: z.string().max(500).optional(),
      ...placeChange,
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
    const { title, leaf, settings, outsideRead, ...place } = body;
    if (settings !== undefined) await threads.changeSettings(caller, id, settings);
    if (leaf !== undefined) await threads.chooseBranch(caller, id, leaf);
    if (outsideRead) await threads.readOutside(caller, id);
    if (Object.keys(place).length > 0 && !(await threads.place(caller, [id], place)).has(id))
      await threads.getThread(caller, id);
    if (title !== undefined) await threads.renameThread(caller, id, title);
    return detailed(threads, caller, id);
  },
});

/** A room has no settings. */
async function detailed(threads: Threads, caller: Caller, id: string): Promise<DetailedThread> {
  // Says why there is none.
  const thread = (await threads.placed(caller, [id])).get(id) ?? {
    ...(await threads.getThread(caller, id)),
    ...nowhere,
  };
  const settings = thread.kind === "room" ? {} : await threads.settingsOf(caller, id);
  return { ...placedThread(thread), temporary: thread.temporary, settings };
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

export const closeThread = endpoint({
  needs: "threads:delete",
  tag: "threads",
  summary: "Close a temporary thread: all that was said in it is removed",
  description:
    "Its messages, files and runs go, and what works in it is stopped; what was used (models, tokens, cost) stays without text. From then " +
    "on it is not found. 409 `thread_not_temporary` for any other.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.threads.closeThread(caller, params.id);
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
