import type { PresentPerson } from "../protocol/agents/rooms.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Query } from "../protocol/agents/tools.ts";
import { enterRoom, leaveRoom, presentIn, stayInRoom } from "../store/rooms/room-presence.ts";
import { listPeople } from "../store/rooms/rooms.ts";

/** Who has which room open, on all nodes. */
export type Presence = {
  /** Tells who is there at the beginning, and whenever that changes. Never throws: it is only told. */
  enter(
    who: { readonly roomId: string; readonly userId: string },
    tell: (people: readonly PresentPerson[]) => void,
  ): { leave(): void };
  /** Somebody came into the room or was let out of it, by this process. */
  changed(roomId: string): void;
  close(): void;
};

/** What happens on other nodes is seen so late at most. */
const everyMs = 15_000;

type PresentTab = { readonly roomId: string; readonly look: () => void };

export function createPresence({ query, log }: { readonly query: Query; readonly log: Log }): Presence {
  const visitors = new Set<PresentTab>();
  let closed = false;
  const lookAll = (roomId: string) => {
    for (const visitor of visitors) if (visitor.roomId === roomId) visitor.look();
  };
  const quietly = (work: Promise<unknown>) =>
    work.catch((error: unknown) => {
      if (!closed) log.warn({ error: messageOf(error) }, "could not announce the members of a room");
    });

  return {
    enter({ roomId, userId }, tell) {
      let told = "";
      let connection: string | undefined;
      let left = false;
      const look = async () => {
        const [people, present] = await Promise.all([listPeople(query, roomId), presentIn(query, roomId)]);
        const now = people.map(({ handle }) => ({ handle, present: present.includes(handle) }));
        const text = JSON.stringify(now);
        if (left || text === told) return;
        told = text;
        tell(now);
      };
      const visitor: PresentTab = { roomId, look: () => void quietly(look()) };
      visitors.add(visitor);
      const entering = quietly(
        enterRoom(query, { roomId, userId }).then((made) => {
          connection = made;
          lookAll(roomId);
        }),
      );
      const timer = setInterval(() => {
        void quietly((connection === undefined ? Promise.resolve() : stayInRoom(query, connection)).then(look));
      }, everyMs);
      timer.unref();
      return {
        leave() {
          left = true;
          clearInterval(timer);
          visitors.delete(visitor);
          if (closed) return;
          void quietly(
            entering.then(async () => {
              if (connection !== undefined) await leaveRoom(query, connection);
              lookAll(roomId);
            }),
          );
        },
      };
    },
    changed: lookAll,
    close() {
      closed = true;
      visitors.clear();
    },
  };
}
