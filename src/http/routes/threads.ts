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
  summary: "List your threads, newest first",
  query: z.object({ before: idSchema.optional().describe("The last id of the page before"), ...pageQuery }),
  answers: { 200: listOf(threadSchema) },
  async handle({ query, caller, services }) {
    return { data: (await services.runs.listThreads(caller, query)).map(publicThread) };
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

export const renameThread = endpoint({
  tag: "threads",
  summary: "Give a thread another title",
  params: idParams,
  body: z.strictObject({ title: z.string().max(500) }),
  answers: { 200: threadSchema },
  async handle({ params, body, caller, services }) {
    return publicThread(await services.runs.renameThread(caller, params.id, body.title));
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
