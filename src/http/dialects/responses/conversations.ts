import { z } from "zod";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import { refuse } from "../../answers/request-values.ts";
import { endpoint } from "../../server/endpoint.ts";
import { conversationItems, pageOf } from "./conversation-items.ts";
import { conversationId, threadOfConversation } from "./ids.ts";
import { deletedSchema, itemListQuery, itemListSchema, responseParams } from "./schemas.ts";

const conversationSchema = z.object({
  id: z.string(),
  object: z.literal("conversation"),
  created_at: z.int(),
  metadata: z.object({}),
});

export const createConversation = endpoint({
  needs: ["ask", "threads:write"],
  tag: "OpenAI",
  summary: "Begin a conversation",
  description: "It is a thread like any other. `metadata` is not kept, which the header x-colloquy-left-out says.",
  body: z.looseObject({ metadata: z.looseObject({}).nullish(), items: z.array(z.looseObject({})).nullish() }).nullish(),
  answers: { 200: conversationSchema },
  async handle({ body, caller, reply, services }) {
    if ((body?.items ?? []).length > 0)
      refuse("items", "a conversation begins empty: send them as input of a response");
    if (Object.keys(body?.metadata ?? {}).length > 0) reply.header("x-colloquy-left-out", "metadata");
    return view(await services.threads.createThread(caller, {}));
  },
});

export const getConversation = endpoint({
  needs: ["threads:read", "own"],
  tag: "OpenAI",
  summary: "Get a conversation",
  params: responseParams,
  answers: { 200: conversationSchema },
  handle: async ({ params, caller, services }) =>
    view(await services.threads.getThread(caller, threadOfConversation(params.id))),
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

function view({ id, createdAt }: ThreadRecord) {
  return {
    id: conversationId(id),
    object: "conversation" as const,
    created_at: Math.floor(new Date(createdAt).getTime() / 1000),
    metadata: {},
  };
}
