import { z } from "zod";
import { formatCursor } from "../../../protocol/threads/events.ts";
import {
  continueText,
  turnOrders,
  chosenMemberSchema,
  interruptedSchema,
  type RoomList,
  roomListSchema,
  roomSchema,
  type StartedInRoom,
  startedInRoomSchema,
} from "../../../protocol/agents/rooms.ts";
import type { RunStart } from "../../../run/runs.ts";
import { withFiles } from "../../requests/attach.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idempotencyOf } from "../../requests/run-headers.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { idParams, messageInputSchema, pageQuery } from "../../shapes/schemas.ts";

const changes = {
  title: z.string().max(500).optional(),
  turns: z.enum(turnOrders).optional(),
  members: z
    .array(chosenMemberSchema)
    .min(1)
    .max(32)
    .optional()
    .describe("Instead of the kind's: names of its own members, and of agents of this server"),
};

export const listRooms = endpoint({
  needs: "threads:list",
  tag: "rooms",
  summary: "List your rooms, newest first, and the kinds of room",
  query: z.object(pageQuery),
  answers: { 200: roomListSchema },
  async handle({ query: { limit = 100 }, caller, services: { rooms } }): Promise<RoomList> {
    const kinds = rooms.kinds(caller).map(({ id, description, room }) => ({
      id,
      title: room!.title,
      description,
      members: room!.members.map(({ agent }) => ({
        handle: agent.id,
        description: agent.description,
        activation: agent.activation,
      })),
    }));
    return { data: await rooms.list(caller, limit), kinds };
  },
});

export const createRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Make a room",
  description: "Of a kind, or of agents of this server. The same `id` sent again answers the first.",
  body: z.strictObject({ id: idSchema.optional(), kind: z.string().optional(), ...changes }),
  answers: { 201: roomSchema },
  async handle({ body, caller, reply, services }) {
    reply.code(201);
    return services.rooms.create(caller, defined(body));
  },
});

export const getRoom = endpoint({
  needs: "threads:read",
  tag: "rooms",
  summary: "Get a room with its members and their state",
  params: idParams,
  answers: { 200: roomSchema },
  async handle({ params, caller, services }) {
    return services.rooms.get(caller, params.id);
  },
});

export const changeRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Rename a room, or change who works in it and how",
  description: "Owner only. A live run continues unchanged.",
  params: idParams,
  body: z.strictObject(changes).refine((change) => Object.keys(change).length > 0, "must change something"),
  answers: { 200: roomSchema },
  async handle({ params, body, caller, services }) {
    return services.rooms.change(caller, params.id, defined(body));
  },
});

export const deleteRoom = endpoint({
  needs: "threads:delete",
  tag: "rooms",
  summary: "Delete a room with all that was said in it",
  description: "Its owner may. 409 `thread_busy` while a run works in it.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.rooms.remove(caller, params.id);
    services.presence.changed(params.id);
    reply.code(204);
  },
});

export const joinRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Come into a room that is open to everybody",
  params: idParams,
  answers: { 200: roomSchema },
  async handle({ params, caller, services }) {
    return services.rooms.join(caller, params.id);
  },
});

export const addMember = endpoint({
  needs: "threads:share",
  tag: "rooms",
  summary: "Let a person into a room",
  description: "Its owner may. The person is called by the account's name, as far as that can be mentioned.",
  params: idParams,
  body: z.strictObject({ user: z.string().min(1).max(255).describe("The account's name") }),
  answers: { 200: roomSchema },
  async handle({ params, body, caller, services }) {
    const room = await services.rooms.addPerson(caller, params.id, body.user);
    services.presence.changed(room.id);
    return room;
  },
});

export const removeMember = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Leave a room, or have a person leave it",
  params: z.object({ id: idSchema, handle: z.string().min(1).max(100) }),
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.rooms.removePerson(caller, params.id, params.handle);
    services.presence.changed(params.id);
    reply.code(204);
  },
});

export const sayInRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Say something in a room",
  description:
    "At any time: while agents work it is heard at the next turn. `continue` lets agents go on that a guard or a limit " +
    "has stopped. With the header `Idempotency-Key` the same request sent again answers the first.",
  params: idParams,
  takesLong: true,
  body: messageInputSchema,
  answers: { 202: startedInRoomSchema },
  async handle(call) {
    const { params, body, caller, request, reply, services } = call;
    const message = await withFiles({ caller, services }, body);
    const idempotency = idempotencyOf(request);
    reply.code(202);
    return startedView(await services.rooms.say(caller, params.id, { message, idempotency }));
  },
});

export const continueRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Continue after a guard or a limit has stopped the agents",
  description: `The same as saying \`${continueText}\`.`,
  params: idParams,
  answers: { 202: startedInRoomSchema },
  async handle({ params, caller, request, reply, services }) {
    reply.code(202);
    const message = { content: continueText };
    return startedView(await services.rooms.say(caller, params.id, { message, idempotency: idempotencyOf(request) }));
  },
});

export const interruptRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Stop the turn of an agent, or of all",
  description:
    "Stops their programs too. What an agent has written so far stays, marked as partial. Every member of the room can do this.",
  params: idParams,
  body: z.strictObject({ agent: z.string().max(100).optional().describe("Absent: all") }).nullish(),
  answers: { 200: interruptedSchema },
  async handle({ params, body, caller, services }) {
    const agent = body?.agent?.replace(/^@/, "");
    return { interrupted: await services.rooms.interrupt(caller, params.id, agent) };
  },
});

export const clearRoom = endpoint({
  needs: "threads:write",
  tag: "rooms",
  summary: "Begin a new chapter",
  description: "Agents no longer see earlier messages; nothing is deleted. Running work in the room is stopped.",
  params: idParams,
  answers: { 200: roomSchema },
  async handle({ params, caller, services }) {
    return services.rooms.beginChapter(caller, params.id);
  },
});

function startedView({ runId, threadId, cursor, replayed }: RunStart): StartedInRoom {
  return { run: runId, room: threadId, cursor: formatCursor(cursor), replayed };
}

/** Without the keys that are only there to be undefined. */
function defined<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };
}
