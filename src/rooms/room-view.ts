import type { RoomView, AgentInRoom, PersonInRoom } from "../protocol/agents/rooms.ts";
import type { AgentDefinition } from "../protocol/agents/agents.ts";
import type { LiveRoom, RoomPerson, RoomRow } from "../store/rooms/rooms.ts";

export type RoomSnapshot = {
  readonly agent?: AgentDefinition;
  readonly problem?: string;
  readonly people: readonly RoomPerson[];
  /** Handles. */
  readonly present: readonly string[];
  readonly live: LiveRoom;
  readonly chapter: number;
};

export function viewOf(room: RoomRow, { agent, problem, people, present, live, chapter }: RoomSnapshot): RoomView {
  const spec = agent?.room;
  return {
    id: room.id,
    kind: room.kind,
    title: room.title,
    turns: spec?.turns ?? "sequential",
    owner: people.find(({ userId }) => userId === room.ownerId)?.handle ?? "",
    you: room.handle,
    members: [
      ...(spec?.members ?? []).map((member): AgentInRoom => {
        const turn = live.turns.findLast((one) => one.agent === member.agent.id);
        const { id, description, activation, model, tools } = member.agent;
        return {
          handle: id,
          kind: "agent",
          description,
          activation,
          model,
          tools,
          mayInterrupt: member.mayInterrupt,
          state: turn === undefined ? "idle" : turn.status === "waiting" ? "waiting" : "thinking",
          ...(turn ? { run: turn.run } : {}),
        };
      }),
      ...people.map(({ userId, handle, name }): PersonInRoom => ({
        handle,
        kind: "person",
        name,
        role: userId === room.ownerId ? "owner" : "member",
        present: present.includes(handle),
      })),
    ],
    lastSeq: room.lastSeq,
    chapter,
    cursor: String(room.lastSeq),
    run: live.root ? { id: live.root.id, status: live.root.status } : null,
    createdAt: room.createdAt.toISOString(),
    ...(problem === undefined ? {} : { problem }),
  };
}
