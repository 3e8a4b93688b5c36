import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { Conflict, NotFound } from "../../../protocol/base/errors.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import type { ThreadMetadata } from "../../../run/kept-conversations.ts";
import { bodyFields } from "../../answers/request-values.ts";
import { endpoint, type EndpointCall } from "../../server/endpoint.ts";
import { readAddedItems } from "./added-items.ts";
import { conversationItems, isToldAs, itemsOf, pageOf, shownBranch } from "./conversation-items.ts";
import { conversationId, threadOfConversation } from "./ids.ts";
import { metadataIn } from "./metadata.ts";
import { deletedSchema, itemListQuery, itemListSchema, itemSchema, responseParams } from "./schemas.ts";

const metadataSchema = z.record(z.string(), z.string());
const conversationSchema = z.object({
  id: z.string(),
  object: z.literal("conversation"),
  created_at: z.int(),
  metadata: metadataSchema,
});
/** For the document only: metadata.ts and added-items.ts read by hand. */
const metadataBody = metadataSchema.nullish().describe("At most 16 pairs, keys of 64 and values of 512 characters.");
const itemsBody = z.array(z.looseObject({ type: z.string().optional() })).describe("At most 20.");
const itemParams = responseParams.extend({ item_id: z.string().max(100) });

export const createConversation = endpoint({
  needs: ["ask", "threads:write"],
  tag: "OpenAI",
  summary: "Begin a conversation",
  description: "It is a thread like any other.",
  takesLong: true,
  body: z.looseObject({ metadata: metadataBody, items: itemsBody.nullish() }).nullish(),
  decodesBody: true,
  answers: { 200: conversationSchema },
  async handle(call) {
    const { caller, services } = call;
    const body = bodyFields(call.body ?? {});
    const metadata = metadataIn(body);
    const list: unknown = body["items"] ?? [];
    const items = Array.isArray(list) && list.length === 0 ? [] : await readAddedItems(call, list);
    const thread = await services.threads.createThread(caller, {});
    if (Object.keys(metadata).length > 0) await services.threads.setMetadata(caller, thread.id, metadata);
    if (items.length > 0) await services.threads.addItems(caller, thread.id, items);
    return view(thread, metadata);
  },
});

export const getConversation = endpoint({
  needs: ["threads:read", "own"],
  tag: "OpenAI",
  summary: "Get a conversation",
  params: responseParams,
  answers: { 200: conversationSchema },
  handle: (call) => readConversation(call, threadOfConversation(call.params.id)),
});

export const updateConversation = endpoint({
  needs: "threads:write",
  tag: "OpenAI",
  summary: "Replace a conversation's metadata",
  params: responseParams,
  body: z.looseObject({ metadata: metadataBody }),
  decodesBody: true,
  answers: { 200: conversationSchema },
  async handle(call) {
    const threadId = threadOfConversation(call.params.id);
    const metadata = metadataIn(bodyFields(call.body));
    await call.services.threads.setMetadata(call.caller, threadId, metadata);
    return readConversation(call, threadId);
  },
});

export const deleteConversation = endpoint({
  needs: "threads:delete",
  tag: "OpenAI",
  summary: "Delete a conversation with all that was said in it",
  params: responseParams,
  answers: { 200: deletedSchema },
  async handle({ params, caller, services }) {
    await services.threads.deleteThread(caller, threadOfConversation(params.id));
    return { id: params.id, object: "conversation.deleted", deleted: true as const };
  },
});

export const listConversationItems = endpoint({
  needs: ["threads:read", "own"],
  tag: "OpenAI",
  summary: "List what was said in a conversation",
  params: responseParams,
  query: itemListQuery,
  answers: { 200: itemListSchema },
  async handle({ params, query, caller, services }) {
    const threadId = threadOfConversation(params.id);
    await services.threads.getThread(caller, threadId);
    return pageOf(await conversationItems({ services, caller }, threadId), query);
  },
});

export const addConversationItems = endpoint({
  needs: "threads:write",
  tag: "OpenAI",
  summary: "Add what was said elsewhere to a conversation",
  description: "Nobody answers it. 409 `thread_busy` while a run works in the conversation.",
  takesLong: true,
  params: responseParams,
  body: z.looseObject({ items: itemsBody }),
  decodesBody: true,
  answers: { 200: itemListSchema },
  async handle(call) {
    const { params, caller, services } = call;
    const threadId = threadOfConversation(params.id);
    await services.threads.getThread(caller, threadId);
    const items = await readAddedItems(call, bodyFields(call.body)["items"]);
    const added = items.length === 0 ? [] : await services.threads.addItems(caller, threadId, items);
    const told = itemsOf(added);
    return pageOf(told, { limit: told.length, order: "asc" });
  },
});

export const getConversationItem = endpoint({
  needs: ["threads:read", "own"],
  tag: "OpenAI",
  summary: "Get one item of a conversation",
  params: itemParams,
  answers: { 200: itemSchema },
  async handle(call) {
    const { params, caller, services } = call;
    const threadId = threadOfConversation(params.id);
    await services.threads.getThread(caller, threadId);
    const item = (await conversationItems(call, threadId)).find(({ id }) => id === params.item_id);
    return item ?? noItem(params.item_id);
  },
});

export const deleteConversationItem = endpoint({
  needs: "threads:delete",
  tag: "OpenAI",
  summary: "Take the last item of a conversation back",
  description:
    "A log is only added to: the conversation goes on before the item, which goes with the conversation. 409 `item_not_last` for one " +
    "that something follows, `item_is_result` for the output of a call, which goes with its call.",
  params: itemParams,
  answers: { 200: conversationSchema },
  async handle(call) {
    const { params, caller, services } = call;
    const threadId = threadOfConversation(params.id);
    const { leaf } = await services.threads.getThread(caller, threadId);
    const branch = leaf === null ? [] : await shownBranch(call, threadId, leaf);
    const items = itemsOf(branch);
    const at = items.findIndex(({ id }) => id === params.item_id);
    if (at === -1) noItem(params.item_id);
    if (items[at]!.type.endsWith("_output"))
      throw new Conflict("The output of a call goes with its call: delete that.", { code: "item_is_result" });
    const place = branch.findIndex((item) => isToldAs(item, params.item_id));
    const before = itemsOf(branch.slice(0, place));
    const rest = items.slice(at + 1).filter(({ type }) => !type.endsWith("_output"));
    // Of calls made together the results come behind all of them: one without its result must not stay.
    if (rest.length > 0 || !isDeepStrictEqual(before, items.slice(0, at)))
      throw new Conflict("Something follows the item: only the last one can be taken back.", { code: "item_not_last" });
    await services.threads.takeBack(caller, threadId, { itemId: branch[place]!.id, leaf });
    return readConversation(call, threadId);
  },
});

function noItem(id: string): never {
  throw new NotFound(`Item with id '${id.slice(0, 100)}' not found.`, { param: "item_id", code: "item_not_found" });
}

async function readConversation({ services, caller }: Pick<EndpointCall, "services" | "caller">, threadId: string) {
  const thread = await services.threads.getThread(caller, threadId);
  return view(thread, await services.threads.metadataOf(caller, threadId));
}

function view({ id, createdAt }: ThreadRecord, metadata: ThreadMetadata) {
  return {
    id: conversationId(id),
    object: "conversation" as const,
    created_at: Math.floor(new Date(createdAt).getTime() / 1000),
    metadata,
  };
}
