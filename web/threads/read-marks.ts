import { client } from "../page/server.ts";

/** How far one has read is told to the server a moment later, once for what comes together. */
const afterMs = 1000;

const seen = new Map<string, number>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shown up to here, in a tab that somebody looks at. */
export function markSeen(thread: string, seq: number): void {
  if (document.hidden || seq <= (seen.get(thread) ?? -1)) return;
  seen.set(thread, seq);
  timer ??= setTimeout(tell, afterMs);
}

function tell(): void {
  timer = undefined;
  // What can't be told stays unread, and is told with what is said next.
  for (const [thread, seq] of seen) client.changeThread(thread, { read: seq }).catch(() => undefined);
  seen.clear();
}
