import { z } from "zod";
import { questionSchema } from "../../../protocol/threads/run-shapes.ts";
import { itemSchema } from "../../../protocol/threads/item-schema.ts";
import { threadSchema } from "../../../protocol/threads/threads.ts";
import { presenceSchema } from "../../../protocol/agents/rooms.ts";
import { decisionInputSchema } from "../../shapes/decision-input.ts";
import { threadMarkdown } from "../../shapes/thread-text.ts";
import { askedCursor, openRoom, streamSubject } from "../../requests/followed-subjects.ts";
import { endpoint } from "../../server/endpoint.ts";
import { eventSchema, eventStream } from "../../shapes/event-schema.ts";
import { publicQuestion } from "../../shapes/question-view.ts";
import { followedEventSchema } from "../../shapes/run-event-schema.ts";
import { itemPageQuery, itemPageSchema, readItemPage } from "../../shapes/item-page.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { publicItem, publicThread } from "../../../protocol/threads/public-views.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

const maxExported = 10_000;

export const listRoomMessages = endpoint({
  needs: "threads:read",
  tag: "rooms",
  summary: "List the items of a room, by seq",
  description: "Like `/api/threads/{id}/items`; `next` is the seq to continue from.",
  params: idParams,
  query: itemPageQuery,
  answers: { 200: itemPageSchema },
  async handle({ params, query, caller, services: { rooms, threads } }) {
    return readItemPage(threads, await rooms.ownerOf(caller, params.id), params.id, query);
  },
});

export const exportRoom = endpoint({
  needs: "threads:read",
  tag: "rooms",
  summary: "Save a room as Markdown or JSON",
  description: `Of a long one its newest ${maxExported} items.`,
  params: idParams,
  query: z.object({ format: z.enum(["markdown", "json"]).default("markdown") }),
  answers: {
    200: {
      description: "A file",
      content: {
        "text/markdown": { schema: z.string() },
        "application/json": { schema: z.object({ thread: threadSchema, items: z.array(itemSchema) }) },
      },
    },
  },
  async handle({ params, query: { format }, caller, reply, services: { rooms, threads } }) {
    const owner = await rooms.ownerOf(caller, params.id);
    const thread = await threads.getThread(owner, params.id);
    const items = await threads.listBranch(owner, params.id, { most: maxExported });
    reply
      .header("content-disposition", `attachment; filename="room.${format === "json" ? "json" : "md"}"`)
      .header("content-type", format === "json" ? "application/json; charset=utf-8" : "text/markdown; charset=utf-8");
    return format === "json"
      ? JSON.stringify({ thread: publicThread(thread), items: items.map(publicItem) }, null, 2)
      : threadMarkdown(thread.title, items);
  },
});

export const listRoomQuestions = endpoint({
  needs: "threads:read",
  tag: "rooms",
  summary: "List the open questions of a room",
  params: idParams,
  answers: { 200: listOf(questionSchema) },
  async handle({ params, caller, services }) {
    return { data: (await services.rooms.questions(caller, params.id)).map(publicQuestion) };
  },
});

export const decideInRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Answer a question of an agent in a room",
  description:
    "Who wrote the message that began it may, and the room's owner. 409: it was answered before (`already_decided`), or the " +
    "arguments are not the ones you saw (`arguments_changed`).",
  params: z.object({ id: idSchema, item: idSchema.describe("The question's id") }),
  body: decisionInputSchema,
  answers: { 204: z.null() },
  async handle({ params, body, caller, reply, services }) {
    await services.rooms.decide(caller, params.id, { questionId: params.item, input: body });
    reply.code(204);
  },
});

const presenceEventSchema = eventSchema(presenceSchema, "presence");

export const followRoom = endpoint({
  needs: "threads:read",
  tag: "rooms",
  summary: "Follow a room",
  description:
    "Server-sent events from a cursor on, those of `/api/threads/{id}/events` and `presence`, which has no id; the stream " +
    "stays open. Whoever follows is present.",
  params: idParams,
  query: z.object({
    cursor: z.string().optional().describe("Cursor to continue from; the header Last-Event-ID takes precedence"),
  }),
  answers: {
    200: eventStream(
      "Events: `event` is the type, `data` the event as JSON, `id` the cursor after it",
      z.union([followedEventSchema, presenceEventSchema]),
    ),
  },
  async handle(call) {
    const { params, query } = call;
    streamSubject(call, await openRoom(call, { id: params.id, cursor: askedCursor(call, query.cursor) }));
  },
});
