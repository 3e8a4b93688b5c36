import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import { ask } from "../../src/client/request.ts";
import { client, server } from "../page/server.ts";

/** How far one has read is told to the server a moment later, once for what comes together. */
const afterMs = 1000;

const seen = new Map<string, number>();
/** How far one has read in this tab, for lists that are older than that. */
const shown = new Map<string, number>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shown up to here, in a tab that somebody looks at. */
export function markSeen(thread: string, seq: number): void {
  if (document.hidden || seq <= (seen.get(thread) ?? -1)) return;
  seen.set(thread, seq);
  shown.set(thread, Math.max(seq, shown.get(thread) ?? -1));
  timer ??= setTimeout(tell, afterMs);
}

export function isSeenHere({ id, lastSeq }: Pick<ListedThread, "id" | "lastSeq">): boolean {
  return lastSeq <= (shown.get(id) ?? -1);
}

/** Somebody wants it to be new again, or it is gone. */
export function forgetSeen(thread: string): void {
  seen.delete(thread);
  shown.delete(thread);
}

function tell(): void {
  timer = undefined;
  // What can't be told stays unread, and is told with what is said next.
  for (const [thread, seq] of seen) client.changeThread(thread, { read: seq }).catch(() => undefined);
  seen.clear();
}

// Whoever leaves the page at once has read it all the same.
addEventListener("pagehide", () => {
  for (const [thread, read] of seen)
    ask(server, `/api/threads/${thread}`, { method: "PATCH", body: { read }, keepalive: true }).catch(() => undefined);
  seen.clear();
});
