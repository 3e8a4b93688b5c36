import { type ListKind, listKinds } from "../../protocol/threads/folders.ts";
import type { Database } from "../driver/database.ts";

/** Tells people's pages that something of theirs has changed: triggers of the tables say so, whoever did it and on whichever node. */
export type ListChanges = {
  /** Tells of each kind when it begins to hear, and whenever something has changed; sometimes once too often. */
  follow(userId: string, tell: (kind: ListKind) => void): () => void;
};

const channel = "colloquy_lists";

export function createListChanges(database: Pick<Database, "listen">): ListChanges {
  const followers = new Map<string, Set<(kind: ListKind) => void>>();
  let listening: Promise<unknown> | undefined;
  const tellAll = (tell: (kind: ListKind) => void) => {
    for (const kind of listKinds) tell(kind);
  };
  const listen = () => {
    listening ??= database
      .listen(channel, (text) => {
        const [userId, kind] = text.split(" ") as [string, ListKind | undefined];
        if (kind !== undefined) for (const tell of followers.get(userId) ?? []) tell(kind);
        // Empty: what was told while the connection was lost nobody knows.
        else if (text === "") for (const each of followers.values()) each.forEach(tellAll);
      })
      .catch(() => {
        listening = undefined;
      });
    return listening;
  };
  return {
    follow(userId, tell) {
      const others = followers.get(userId) ?? new Set();
      followers.set(userId, others.add(tell));
      void listen().then(() => others.has(tell) && tellAll(tell));
      return () => {
        others.delete(tell);
        if (others.size === 0) followers.delete(userId);
      };
    },
  };
}
