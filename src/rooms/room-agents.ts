import { agentSchema, type AgentDefinition, type AgentRegistry, type RoomMember } from "../protocol/agents/agents.ts";
import { createAgentRegistry } from "../agents/registry.ts";
import { NotFound } from "../protocol/base/errors.ts";
import type { MemberEntry, RoomFile } from "./room-file.ts";
import type { ChosenMember } from "../protocol/agents/rooms.ts";

/** What a run in a room may spend, where the room's file says nothing: many turns, each of several steps. */
const roomLimits = { steps: 200, toolCalls: 400, writes: 200, deadlineSeconds: 3600 } as const;

/** The model that a member brings along, by the room's id and its own. */
export function modelIdOf(roomId: string, memberId: string): string {
  return `room:${roomId}:${memberId}`;
}

/** These agents, and every room as one that leads its members. A room that names an agent which is not there is not listed. */
export function withRoomAgents(agents: AgentRegistry, rooms: readonly RoomFile[]): AgentRegistry {
  const own = rooms.filter(({ id }) => !agents.has(id));
  const [whole, lacking] = [false, true].map((lacks) =>
    own.filter((room) => unknownMembers(room, agents).length > 0 === lacks),
  ) as [RoomFile[], RoomFile[]];
  const all = createAgentRegistry(
    [...agents.list(), ...whole.map((room) => roomAgent(room, agents))],
    agents.defaultId?.(),
  );
  if (lacking.length === 0) return all;
  const broken = new Map(lacking.map((room) => [room.id, room]));
  return {
    ...all,
    has: (id) => broken.has(id) || all.has(id),
    get(id) {
      const room = broken.get(id);
      return room ? roomAgent(room, agents) : all.get(id);
    },
  };
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
