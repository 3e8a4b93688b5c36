import { z } from "zod";
import { questionSchema } from "../../../protocol/threads/run-shapes.ts";
import { itemSchema } from "../../../protocol/threads/item-schema.ts";
import { threadSchema } from "../../../protocol/threads/threads.ts";
import { type RoomView, type PresenceEvent, presenceSchema } from "../../../protocol/agents/rooms.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { type Cursor, parseCursor } from "../../../protocol/threads/events.ts";
import { decisionInputSchema } from "../../shapes/decision-input.ts";
import { threadMarkdown } from "../../shapes/thread-text.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { eventSchema, eventStream } from "../../shapes/event-schema.ts";
import { createEventWriter } from "../../stream/event-text.ts";
import { followUntil } from "../../stream/follow-run.ts";
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
    const { params, query, caller, request, services } = call;
    const header = request.headers["last-event-id"];
    const text = (typeof header === "string" && header !== "" ? header : query.cursor) ?? "0";
    const from = parseCursor(text);
    const room = await services.rooms.get(caller, params.id);
    if (!from || from.seq > room.lastSeq)
      throw new InvalidInput("This cursor is from another room.", { code: "invalid_cursor", param: "cursor" });
    tellRoom(call, room, from);
  },
});

function tellRoom(
  { request, reply, caller, services, streams }: EndpointCall,
  { id, you }: Pick<RoomView, "id" | "you">,
  from: Cursor,
): void {
  streams.admit(reply, caller.userId);
  const write = createEventWriter(from);
  const stream = streams.open(reply, {
    onClose() {
      follower.close();
      presence.leave();
    },
    farewell: () => ": the server stops; come back with the last id\n\n",
  });
  stream.write(": following\n\n");
  const presence = services.presence.enter({ roomId: id, userId: caller.userId }, (people) => {
    // Let out of the room, or the room is gone.
    if (!people.some(({ handle }) => handle === you)) return stream.end();
    const event: PresenceEvent = { type: "presence", people };
    return stream.write(`event: presence\ndata: ${JSON.stringify(event)}\n\n`);
  });
  const follower = followUntil(
    services.runs,
    { target: { threadId: id }, from },
    {
      events(events, cursor) {
        stream.write(write(events, cursor));
        return false;
      },
      error(error) {
        request.log.error({ err: error }, "a room could not be followed");
        stream.end();
      },
      drained: stream.drained,
    },
  );
}
