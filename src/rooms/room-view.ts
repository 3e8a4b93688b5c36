import type { AgentDefinition } from "../protocol/agents.ts";
import type { LiveRoom, RoomPerson, RoomRow } from "../store/rooms.ts";

export type AgentView = {
  readonly handle: string;
  readonly kind: "agent";
  readonly description: string;
  readonly activation: "always" | "mention";
  readonly model: string;
  readonly tools: readonly string[];
  readonly mayInterrupt: boolean;
  readonly state: "idle" | "thinking" | "waiting";
  /** Of its turn. */
  readonly run?: string;
};
export type PersonView = {
  readonly handle: string;
  readonly kind: "person";
  readonly name: string;
  readonly role: "owner" | "member";
  readonly present: boolean;
};

/** A room as its people see it. */
export type RoomView = {
  readonly id: string;
  readonly kind: string | null;
  readonly title: string;
  readonly turns: "sequential" | "parallel";
  /** Handles. */
  readonly owner: string;
  readonly you: string;
  readonly members: readonly (AgentView | PersonView)[];
  readonly lastSeq: number;
  /** The seq at which the newest chapter begins; 0: the first. */
  readonly chapter: number;
  readonly cursor: string;
  readonly run: { readonly id: string; readonly status: string } | null;
  readonly createdAt: string;
  /** Why nobody can work in it any more. */
  readonly problem?: string;
};

export type RoomState = {
  readonly agent?: AgentDefinition;
  readonly problem?: string;
  readonly people: readonly RoomPerson[];
  /** Handles. */
  readonly present: readonly string[];
  readonly live: LiveRoom;
  readonly chapter: number;
};

export function viewOf(room: RoomRow, { agent, problem, people, present, live, chapter }: RoomState): RoomView {
  const spec = agent?.room;
  return {
    id: room.id,
    kind: room.kind,
    title: room.title,
    turns: spec?.turns ?? "sequential",
    owner: people.find(({ userId }) => userId === room.ownerId)?.handle ?? "",
    you: room.handle,
    members: [
      ...(spec?.members ?? []).map((member): AgentView => {
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
      ...people.map(({ userId, handle, name }): PersonView => ({
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
