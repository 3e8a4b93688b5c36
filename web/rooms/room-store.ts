import { useEffect, useState } from "react";
import { type Block, type BlockOf, createConversation } from "../../src/client/conversation.ts";
import type { RoomView } from "../../src/client/rooms.ts";
import { client, reasonOf } from "../server.ts";

export type RoomState = {
  readonly room: RoomView | undefined;
  readonly blocks: readonly Block[];
  readonly open: readonly BlockOf<"question">[];
  /** Handles of the agents that think or do something, with the runs of their turns. */
  readonly thinking: ReadonlyMap<string, string>;
  /** Handles of the people who look at it now. */
  readonly present: ReadonlySet<string>;
  readonly error: string | undefined;
};

const empty: RoomState = {
  room: undefined,
  blocks: [],
  open: [],
  thinking: new Map(),
  present: new Set(),
  error: undefined,
};
/** Of a long room its newest. */
const mostItems = 300;

/** A room as it stands, and as it goes on. `learn` asks again who is in it. */
export function useRoom(
  id: string,
): RoomState & { readonly learn: () => void; readonly fail: (error: unknown) => void } {
  const [state, setState] = useState(empty);
  const [asked, setAsked] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const conversation = createConversation();
    let present: ReadonlySet<string> = new Set();
    let isScheduled = false;
    const show = (change: Partial<RoomState> = {}) => setState((before) => ({ ...before, ...change }));
    const changed = () => {
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(() => {
        isScheduled = false;
        if (signal.aborted) return;
        setState((before) => ({
          ...before,
          blocks: [...conversation.blocks()],
          open: conversation.open(),
          thinking: turnsOf(before.room, conversation.working()),
          present,
        }));
      }, 16);
    };

    async function open(): Promise<void> {
      const room = await client.rooms.get(id, signal);
      show({ room });
      const items = [...(await client.rooms.messages(id, { order: "desc", limit: mostItems }, signal))].reverse();
      for (const item of items) conversation.read(item);
      conversation.atWork(
        room.members.flatMap((member) =>
          member.kind === "agent" && member.run !== undefined ? [{ id: member.run, agent: member.handle }] : [],
        ),
      );
      for (const question of await client.rooms.questions(id, signal)) conversation.ask(question);
      changed();
      const cursor = String(items.at(-1)?.seq ?? 0);
      for await (const { event } of client.rooms.follow(id, { cursor, signal, patienceMs: Infinity })) {
        if (event.type !== "presence") conversation.apply(event);
        else {
          present = new Set(event.people.flatMap((each) => (each.present ? [each.handle] : [])));
          // Somebody has come in or left for good.
          setAsked((before) => before + 1);
        }
        changed();
      }
    }
    setState(empty);
    open().catch((error: unknown) => {
      if (!signal.aborted) show({ error: reasonOf(error) });
    });
    return () => stop.abort();
  }, [id]);

  useEffect(() => {
    if (asked === 0) return;
    client.rooms.get(id).then(
      (room) => setState((before) => ({ ...before, room })),
      (error: unknown) => setState((before) => ({ ...before, error: reasonOf(error) })),
    );
  }, [id, asked]);

  return {
    ...state,
    learn: () => setAsked((before) => before + 1),
    fail: (error) => setState((before) => ({ ...before, error: error === undefined ? undefined : reasonOf(error) })),
  };
}

/** The members that are at work, with the runs of their turns. */
function turnsOf(
  room: RoomView | undefined,
  working: ReadonlyMap<string, string | undefined>,
): ReadonlyMap<string, string> {
  const agents = new Set(room?.members.flatMap(({ kind, handle }) => (kind === "agent" ? [handle] : [])));
  const turns = [...working].flatMap(([run, agent]): [string, string][] =>
    agent !== undefined && agents.has(agent) ? [[agent, run]] : [],
  );
  return new Map(turns);
}
