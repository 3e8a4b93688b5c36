import { agentSchema, type AgentDefinition, type AgentRegistry, type RoomMember } from "../protocol/agents/agents.ts";
import { NotFound } from "../protocol/base/errors.ts";
import type { MemberEntry, RoomFile } from "./room-file.ts";
import type { ChosenMember } from "../protocol/agents/rooms.ts";

/** What a run in a room may spend, where the room's file says nothing: many turns, each of several steps. */
const roomLimits = { steps: 200, toolCalls: 400, writes: 200, deadlineSeconds: 3600 } as const;

/** The model that a member brings along, by the room's id and its own. */
export function modelIdOf(roomId: string, memberId: string): string {
  return `room:${roomId}:${memberId}`;
}

/** The same agents, and every room as one that leads its members. What an agent is by now, it is in its rooms too. */
export function withRooms(agents: AgentRegistry, rooms: readonly RoomFile[]): AgentRegistry {
  const find = (id: string) => rooms.find((room) => room.id === id && !agents.has(id));
  return {
    get(id) {
      const room = find(id);
      return room ? roomAgent(room, agents) : agents.get(id);
    },
    has: (id) => find(id) !== undefined || agents.has(id),
    list: () =>
      [...agents.list(), ...rooms.flatMap((room) => (find(room.id) ? (possibleAgent(room, agents) ?? []) : []))].sort(
        (one, other) => (one.id < other.id ? -1 : 1),
      ),
    ...(agents.defaultId ? { defaultId: () => agents.defaultId?.() } : {}),
  };
}

/** Undefined: it names an agent that is not there. */
function possibleAgent(room: RoomFile, agents: AgentRegistry): AgentDefinition | undefined {
  return unknownMembers(room, agents).length > 0 ? undefined : roomAgent(room, agents);
}

/** What it names that is not there. */
export function unknownMembers(room: RoomFile, agents: AgentRegistry): string[] {
  return room.members.flatMap((member) =>
    member.agent !== undefined && !agents.has(member.agent) ? [member.agent] : [],
  );
}

/** A room as an agent: what leads it, and who its members are. Throws NotFound for an agent that is not there. */
export function roomAgent(room: RoomFile, agents: AgentRegistry): AgentDefinition {
  const members = room.members.map((entry) => memberOf(room.id, entry, agents));
  return {
    ...agentSchema.parse({ id: room.id, description: room.description, strategy: "room" }),
    model: members[0]!.agent.model,
    limits: { ...roomLimits, ...room.limits },
    room: {
      title: room.title ?? room.id,
      members,
      turns: room.turns,
      tools: room.tools,
      guards: room.guards,
      messages: room.messages,
      private: room.private,
      people: room.people,
      ...(room.workspace === undefined ? {} : { workspace: room.workspace }),
    },
  };
}

function memberOf(roomId: string, entry: MemberEntry, agents: AgentRegistry): RoomMember {
  const base: AgentDefinition =
    entry.agent === undefined ? agentSchema.parse({ id: entry.id }) : agents.get(entry.agent);
  if (base.room) throw new NotFound(`${base.id} is a room, and a room can't be a member of one.`);
  const { description, prompt, activation, tools, limits, settings, temperature, wake } = entry;
  return {
    agent: {
      ...base,
      ...(description === undefined ? {} : { description }),
      ...(prompt === undefined ? {} : { instructions: prompt.trim() }),
      ...(activation === undefined ? {} : { activation }),
      ...(tools === undefined ? {} : { tools }),
      limits: { ...base.limits, ...limits },
      settings: { ...base.settings, ...settings, ...(temperature === undefined ? {} : { temperature }) },
      model: entry.endpoint === undefined ? (entry.model ?? base.model) : modelIdOf(roomId, base.id),
      agents: [],
    },
    mayInterrupt: entry.mayInterrupt ?? false,
    introduce: entry.introduce ?? true,
    ...(wake === undefined ? {} : { wake }),
  };
}

export function nameOf(member: ChosenMember): string {
  return typeof member === "string" ? member : member.agent;
}

/** A name that the kind has means the kind's own member, with all that its file says of it; any other an agent of the server. */
export function entryOf(member: ChosenMember, kind: RoomFile | undefined): MemberEntry {
  const own = ownEntry(member, kind) ?? { agent: nameOf(member) };
  const activation = typeof member === "string" ? undefined : member.activation;
  return activation === undefined ? own : { ...own, activation };
}

export function ownEntry(member: ChosenMember, kind: RoomFile | undefined): MemberEntry | undefined {
  return kind?.members.find((entry) => (entry.agent ?? entry.id) === nameOf(member));
}
