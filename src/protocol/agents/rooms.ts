import { z } from "zod";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

/** What stops agents that go on among themselves; a person lifts each with "continue". */
export const roomGuardsSchema = z.strictObject({
  /** Turns of agents that one person's message may lead to. */
  turns: z.int().positive().max(1000).default(30),
  /** Turns in a row that two agents may have between them. */
  pair: z.int().min(2).max(1000).default(12),
  /** How often an agent may say the same in one chain. */
  repeats: z.int().positive().max(1000).default(2),
});
export type RoomGuards = z.infer<typeof roomGuardsSchema>;

/** What decides whether an agent that always listens is woken: words, or a cheap model. */
export const wakeSchema = z.union([
  z.strictObject({ words: z.array(z.string().min(1)).min(1).max(100) }),
  z.strictObject({ model: z.string().min(1), question: z.string().min(1) }),
]);
export type WakeRule = z.infer<typeof wakeSchema>;

export const turnOrders = ["sequential", "parallel"] as const;

/** How an agent says that it has nothing to say. */
export const passText = "[pass]";

/** How a person lifts what stopped a chain. */
export const continueText = "continue";

/** Whether an agent of a room listens to all that is said, or only where it is mentioned. */
export const activations = ["always", "mention"] as const;
export type Activation = (typeof activations)[number];

/** An agent by its name; with `activation` it listens otherwise than it does by itself. */
export const chosenMemberSchema = z.union([
  z.string(),
  z.strictObject({
    agent: z.string(),
    activation: z.enum(activations).optional().describe("Absent: as it listens by itself"),
  }),
]);
export type ChosenMember = Shape<typeof chosenMemberSchema>;

const agentInRoomSchema = z.object({
  handle: z.string(),
  kind: z.literal("agent"),
  description: z.string(),
  activation: z.enum(activations),
  model: z.string(),
  tools: z.array(z.string()),
  mayInterrupt: z.boolean(),
  state: z.enum(["idle", "thinking", "waiting"]).describe("waiting: for a person"),
  run: idSchema.optional().describe("Of its turn"),
});
export type AgentInRoom = Shape<typeof agentInRoomSchema>;

const personInRoomSchema = z.object({
  handle: z.string(),
  kind: z.literal("person"),
  name: z.string(),
  role: z.enum(["owner", "member"]),
  present: z.boolean().describe("Has the room open"),
});
export type PersonInRoom = Shape<typeof personInRoomSchema>;

/** A room as its people see it. */
export const roomSchema = z.object({
  id: idSchema.describe("Of its thread too"),
  kind: z.string().nullable(),
  title: z.string(),
  turns: z.enum(turnOrders),
  owner: z.string().describe("A handle"),
  you: z.string().describe("Your handle"),
  members: z.array(z.discriminatedUnion("kind", [agentInRoomSchema, personInRoomSchema])),
  lastSeq: z.int(),
  chapter: z.int().describe("The seq at which the newest chapter begins; 0: the first"),
  cursor: z.string().describe("Follow the room from here"),
  run: z.object({ id: idSchema, status: z.string() }).nullable().describe("null: it is the people's turn"),
  createdAt: timeSchema,
  problem: z.string().optional().describe("Why no run is possible any more: its kind or an agent no longer exists"),
});
export type RoomView = Shape<typeof roomSchema>;

export const roomKindSchema = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  members: z.array(agentInRoomSchema.pick({ handle: true, description: true, activation: true })),
});
export type RoomKind = Shape<typeof roomKindSchema>;

export const roomListSchema = z.object({ data: z.array(roomSchema), kinds: z.array(roomKindSchema) });
export type RoomList = Shape<typeof roomListSchema>;

export const startedInRoomSchema = z.object({
  run: idSchema.describe("The run that works for the room until it is the people's turn"),
  room: idSchema,
  cursor: z.string().describe("Follow the room from here"),
  replayed: z.boolean().describe("It was said before"),
});
export type StartedInRoom = Shape<typeof startedInRoomSchema>;

export const interruptedSchema = z.object({ interrupted: z.array(idSchema).describe("Runs of turns") });
export type InterruptionView = Shape<typeof interruptedSchema>;

/** Who of the people looks at the room, beside what happens in it. */
export const presenceSchema = z.object({
  type: z.literal("presence"),
  people: z.array(z.object({ handle: z.string(), present: z.boolean() })),
});
export type PresenceEvent = Shape<typeof presenceSchema>;
export type PresentPerson = PresenceEvent["people"][number];
