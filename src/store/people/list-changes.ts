import { type ListKind, listKinds } from "../../protocol/threads/folders.ts";
import { createChangeFeed } from "../driver/change-feed.ts";
import type { Database } from "../driver/database.ts";

/** Tells people's pages that something of theirs has changed: triggers of the tables say so, whoever did it and on whichever node. */
export type ListChanges = {
  /** Tells of each kind when it begins to hear, and whenever something has changed; sometimes once too often. */
  follow(userId: string, tell: (kind: ListKind) => void): () => void;
  /** A run ended in this process: those whose conversation it was, or who are in its room, are told a moment later, of many at once. */
  runEnded(runId: string): void;
};

const togetherMs = 200;

const channel = "colloquy_lists";

export function createListChanges(database: Pick<Database, "listen" | "query">): ListChanges {
  const ended = new Set<string>();
  async function tellOfRuns(): Promise<void> {
    const runs = [...ended];
    ended.clear();
    await database.query(
      `select pg_notify($2, user_id::text || ' threads') from (
         select t.user_id from runs r join threads t on t.id = r.thread_id where r.id = any ($1::uuid[]) and r.parent_run is null and not t.hidden
         union select p.user_id from runs r join room_people p on p.thread_id = r.thread_id where r.id = any ($1::uuid[]) and r.parent_run is null) told`,
      [runs, channel],
    );
  }
  const feed = createChangeFeed(database, channel);
  return {
    runEnded(runId) {
      // What could not be told is seen when the list is looked at the next time.
      if (ended.size === 0) setTimeout(() => void tellOfRuns().catch(() => {}), togetherMs).unref();
      ended.add(runId);
    },
    follow: (userId, tell) =>
      feed.follow(userId, (kind) => {
        for (const each of listKinds) if (kind === undefined || kind === each) tell(each);
      }),
  };
}
