import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import {
  idParams,
  idSchema,
  itemSchema,
  listOf,
  pageQuery,
  publicItem,
  publicThread,
  threadSchema,
} from "../schemas.ts";

export const createThread = endpoint({
  tag: "threads",
  summary: "Make a thread",
  body: z
    .strictObject({ id: idSchema.optional(), title: z.string().max(500).optional(), agent: z.string().optional() })
    .optional(),
  answers: { 201: threadSchema },
  async handle({ body, caller, reply, services }) {
    reply.code(201);
    return publicThread(await services.runs.createThread(caller, body ?? {}));
  },
});

export const listThreads = endpoint({
  tag: "threads",
  summary: "List your threads, newest first, or search them",
  description:
    "`search` finds threads by their titles and by the words of their messages (each word may be the beginning of one), " +
    "archived ones too; `found` is then the newest message that fits.",
  query: z.object({
    before: idSchema.optional().describe("The last id of the page before"),
    archived: z.enum(["true", "false"]).optional().describe("Only archived ones; absent: none of them"),
    search: z.string().max(500).optional(),
    ...pageQuery,
  }),
  answers: {
    200: listOf(threadSchema.extend({ found: z.object({ item: idSchema, excerpt: z.string() }).optional() })),
  },
  async handle({ query: { search, archived, ...page }, caller, services: { runs } }) {
    if (search === undefined || search.trim() === "")
      return { data: (await runs.listThreads(caller, { ...page, archived: archived === "true" })).map(publicThread) };
    const found = await runs.searchThreads(caller, { text: search, ...(page.limit && { limit: page.limit }) });
    return {
      data: found.map(({ thread, item }) => ({
        ...publicThread(thread),
        ...(item && { found: { item: item.id, excerpt: item.excerpt } }),
      })),
    };
  },
});

export const getThread = endpoint({
  tag: "threads",
  summary: "Get a thread",
  params: idParams,
  answers: { 200: threadSchema },
  async handle({ params, caller, services }) {
    return publicThread(await services.runs.getThread(caller, params.id));
  },
});

export const changeThread = endpoint({
  tag: "threads",
  summary: "Rename or archive a thread, or choose the branch that it shows",
  description:
    "`leaf`: any item of a branch; the conversation goes on at the newest one below it. 409 `thread_busy` while a run works " +
    "in the thread.",
  params: idParams,
  body: z
    .strictObject({
      title: z.string().max(500).optional(),
      archived: z.boolean().optional(),
      leaf: idSchema.optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, "must change something"),
  answers: { 200: threadSchema },
  async handle({ params: { id }, body: { title, archived, leaf }, caller, services: { runs } }) {
    if (leaf !== undefined) await runs.chooseBranch(caller, id, leaf);
    if (archived !== undefined) await runs.archiveThread(caller, id, archived);
    return publicThread(
      await (title === undefined ? runs.getThread(caller, id) : runs.renameThread(caller, id, title)),
    );
  },
});

export const deleteThread = endpoint({
  tag: "threads",
  summary: "Delete a thread with all its items",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.runs.deleteThread(caller, params.id);
    reply.code(204);
  },
});

const seqSchema = z.coerce.number().int().nonnegative().optional();

export const listItems = endpoint({
  tag: "threads",
  summary: "List a thread's items by seq",
  description:
    "A page ends at `limit` items or about 4 MB. `next` is the seq to go on from (`after`, with `order=desc` `before`); " +
    "without it there was no more.",
  params: idParams,
  query: z.object({ after: seqSchema, before: seqSchema, order: z.enum(["asc", "desc"]).optional(), ...pageQuery }),
  answers: { 200: listOf(itemSchema).extend({ next: z.int().optional() }) },
  async handle({ params, query, caller, services }) {
    const { lastSeq } = await services.runs.getThread(caller, params.id);
    const data = (await services.runs.listItems(caller, params.id, query)).map(publicItem);
    const reached = data.at(-1)?.seq;
    const { after = 0, before = lastSeq + 1, order } = query;
    const more =
      reached !== undefined && (order === "desc" ? reached > after + 1 : reached < Math.min(lastSeq, before - 1));
    return { data, ...(more && { next: reached }) };
  },
});
