import { useEffect, useRef, useState } from "react";
import type { RoomView } from "../../src/protocol/agents/rooms.ts";
import {
  type ConversationBlock,
  type BlockOf,
  type ConversationFold,
  createConversation,
} from "../../src/client/conversation.ts";
import type { RoomEvent } from "../../src/client/rooms.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { resumeChanges } from "../stream/changes.ts";
import { noteConnection, resetConnection } from "../conversation/connection-store.ts";
import { renderWhenReleased } from "../parts/render-when-released.ts";
import { markSeen } from "../threads/read-marks.ts";
import { followInTab } from "../parts/tab-stream.ts";
import { readEnd, type ReadItems, readOlder, rememberStretch, type Stretch } from "../parts/log/log-stretch.ts";
import { client, reasonOf } from "../page/server.ts";

export type RoomState = {
  readonly room: RoomView | undefined;
  readonly blocks: readonly ConversationBlock[];
  /** What was said until now is there. */
  readonly isRead: boolean;
  /** On the server are older ones. */
  readonly hasOlder: boolean;
  readonly open: readonly BlockOf<"question">[];
  /** Handles of the agents that think or do something, with the runs of their turns. */
  readonly thinking: ReadonlyMap<string, string>;
  /** Handles of the people who look at it now. */
  readonly present: ReadonlySet<string>;
  /** There is none, or the reader is not in it. */
  readonly isOutside: boolean;
  /** It could not be read, or is followed no more: it must be opened again. */
  readonly isBroken: boolean;
  readonly error: string | undefined;
};

const empty: RoomState = {
  room: undefined,
  blocks: [],
  isRead: false,
  hasOlder: false,
  open: [],
  thinking: new Map(),
  present: new Set(),
  isOutside: false,
  isBroken: false,
  error: undefined,
};
/** So far back one reads in a room. */
const maxItems = 20_000;

/** A room as it stands, and as it goes on. `learn` asks again who is in it. */
export function useRoom(id: string): RoomState & {
  readonly learn: () => void;
  /** From the beginning. */
  readonly openAgain: () => void;
  readonly fail: (error: unknown) => void;
  /** `before` is called right before they stand there. */
  readonly older: (before: () => void) => Promise<void>;
} {
  const older = useRef<(before: () => void) => Promise<void>>(async () => {});
  const [state, setState] = useState(empty);
  const [asked, setAsked] = useState(0);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const read: ReadItems = (page, until) => client.rooms.messages(id, page, until);
    let stretch: Stretch = { items: [], hasOlder: false, hasNewer: false };
    let conversation = createConversation();
    // What came beyond the items that were read: told again when older ones are put before them.
    const told: (RunEvent | ConversationUpdate)[] = [];
    const tell = (said: ConversationUpdate) => {
      rememberStretch(told, said);
      said(conversation);
    };
    const fold = () => {
      conversation = createConversation();
      for (const item of stretch.items) conversation.read(item);
      for (const said of told) {
        if (typeof said === "function") said(conversation);
        else conversation.apply(said);
      }
    };
    let present: ReadonlySet<string> = new Set();
    let isScheduled = false;
    const show = (change: Partial<RoomState> = {}) => setState((before) => ({ ...before, ...change }));
    const changed = () => {
      if (isScheduled) return;
      isScheduled = true;
      const showNow = () => {
        isScheduled = false;
        if (signal.aborted) return;
        setState((before) => ({
          ...before,
          blocks: [...conversation.blocks()],
          isRead: true,
          hasOlder: stretch.hasOlder && stretch.items.length < maxItems,
          open: conversation.open(),
          thinking: turnsOf(before.room, conversation.working()),
          present,
        }));
      };
      setTimeout(() => renderWhenReleased(showNow), 16);
    };

    // Those of delegated runs stand in threads that are not followed.
    async function learnQuestions(): Promise<void> {
      for (const question of await client.rooms.questions(id, signal)) tell((to) => to.ask(question));
    }

    async function open(): Promise<void> {
      const room = await client.rooms.get(id, signal);
      show({ room });
      stretch = await readEnd(read, signal);
      fold();
      const atWork = room.members.flatMap((member) =>
        member.kind === "agent" && member.run !== undefined ? [{ id: member.run, agent: member.handle }] : [],
      );
      tell((to) => to.atWork(atWork));
      await learnQuestions();
      changed();
      const cursor = String(stretch.items.at(-1)?.seq ?? 0);
      markSeen(id, Number(cursor));
      for await (const { event } of followInTab<RoomEvent>({
        subject: { of: "room", id },
        options: { cursor, signal, onConnection: noteConnection },
        isNeeded: () => conversation.working().size > conversation.open().length,
      })) {
        if (event.type !== "presence") {
          if ("seq" in event) markSeen(id, event.seq);
          rememberStretch(told, event);
          if (told.length > maxItems) return setRound((before) => before + 1);
          conversation.apply(event);
          if (event.type === "run-wait" && event.reason !== "client") await learnQuestions();
        } else {
          present = new Set(event.people.flatMap((each) => (each.present ? [each.handle] : [])));
          // Somebody has come in or left for good.
          setAsked((before) => before + 1);
        }
        changed();
      }
    }
    older.current = async (before) => {
      stretch = await readOlder(read, stretch, signal, maxItems);
      if (signal.aborted) return;
      fold();
      before();
      changed();
    };
    setState(empty);
    resetConnection();
    open().catch((error: unknown) => {
      if (signal.aborted) return;
      const isOutside = error instanceof ColloquyError && error.status === 404;
      show({ isOutside, isBroken: !isOutside, error: reasonOf(error) });
    });
    return () => stop.abort();
  }, [id, round]);

  useEffect(() => {
    if (asked === 0) return undefined;
    let isOvertaken = false;
    const show = (change: Partial<RoomState>) => !isOvertaken && setState((before) => ({ ...before, ...change }));
    client.rooms.get(id).then(
      (room) => show({ room }),
      (error: unknown) => show({ error: reasonOf(error) }),
    );
    return () => {
      isOvertaken = true;
    };
  }, [id, asked]);

  return {
    ...state,
    older: (before) => older.current(before),
    learn: () => setAsked((before) => before + 1),
    openAgain() {
      resumeChanges();
      setRound((before) => before + 1);
    },
    fail: (error) =>
      setState((before) => {
        // Why it is broken stands there until it is opened again.
        if (error === undefined) return before.isBroken ? before : { ...before, error };
        return { ...before, error: reasonOf(error) };
      }),
  };
}

type ConversationUpdate = (conversation: ConversationFold) => unknown;

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
