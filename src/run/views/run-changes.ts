import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Item } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** Tells people that their runs have changed: begun, waiting, going on, ended. What there is now they ask for themselves. */
export type RunChanges = {
  /** `userId`: of whom; undefined: of anybody. Tells when it begins to hear, and then sometimes once too often. */
  follow(userId: string | undefined, tell: () => void): { close(): void };
  /** Notes what this process has committed, or that another one has changed these threads. */
  note(threadId: string, items: readonly Item[]): void;
  noteElsewhere(threads: readonly string[] | "all"): void;
  close(): void;
};

/** What comes together is told once; the owners of all threads are then looked up by one statement. */
const gatherMs = 500;

export function createRunChanges({ query, log }: { readonly query: Query; readonly log: Log }): RunChanges {
  const followers = new Map<string | undefined, Set<() => void>>();
  let noted: Set<string> | "all" = new Set();
  let timer: NodeJS.Timeout | undefined;

  const tellAll = (userId: string | undefined) => {
    for (const tell of followers.get(userId) ?? []) tell();
  };

  async function flush(): Promise<void> {
    timer = undefined;
    const threads = noted;
    noted = new Set();
    if (threads === "all") {
      for (const userId of followers.keys()) tellAll(userId);
      return;
    }
    tellAll(undefined);
    const owners = await query<{ user_id: string }>("select distinct user_id from threads where id = any($1::uuid[])", [
      [...threads],
    ]);
    for (const { user_id } of owners) tellAll(user_id);
  }

  function add(threads: readonly string[] | "all"): void {
    if (followers.size === 0 || threads.length === 0) return;
    if (threads === "all" || noted === "all") noted = "all";
    else for (const id of threads) noted.add(id);
    timer ??= setTimeout(() => {
      flush().catch((error: unknown) =>
        log.warn({ error: messageOf(error) }, "could not tell whose runs have changed"),
      );
    }, gatherMs);
  }

  return {
    follow(userId, tell) {
      const others = followers.get(userId) ?? new Set();
      followers.set(userId, others.add(tell));
      tell();
      return {
        close() {
          others.delete(tell);
          if (others.size === 0) followers.delete(userId);
        },
      };
    },
    note(threadId, items) {
      if (items.some(changesState)) add([threadId]);
    },
    noteElsewhere: add,
    close: () => clearTimeout(timer),
  };
}

/** Not what a run says and does while it works. */
function changesState({ kind, body }: Item): boolean {
  if (kind === "message") return "role" in body && body.role === "user";
  return kind === "state" || kind === "question" || kind === "decision";
}
