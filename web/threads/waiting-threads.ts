import { useEffect, useSyncExternalStore } from "react";
import type { RunView } from "../../src/protocol/threads/run-shapes.ts";
import { createListeners } from "../browser/listeners.ts";
import { client } from "../page/server.ts";
import { onChange } from "../stream/changes.ts";

export type Attention = {
  /** Threads in which an agent works now. */
  readonly working: ReadonlySet<string>;
  /** Threads in which somebody must decide something, with their runs. */
  readonly waiting: ReadonlyMap<string, string>;
};

/** Should something not have been told. */
const everyMs = 120_000;
const most = 100;

let seen: Attention = { working: new Set(), waiting: new Map() };
let users = 0;
let stop: (() => void) | undefined;
const listeners = createListeners();
/** What is told once for each run that begins to wait. */
const tellers = new Set<(run: string, threadId: string) => void>();

/** What happens in all one's threads: looked up when something has, also behind, so that whoever is elsewhere can be called. */
export function useAttentionOfAll(): Attention {
  useEffect(() => {
    const look = () => void checkWaiting();
    if (users++ === 0) {
      look();
      const timer = setInterval(look, everyMs);
      const stopHearing = onChange("runs", look);
      stop = () => {
        clearInterval(timer);
        stopHearing();
      };
    }
    return () => void (--users === 0 && stop?.());
  }, []);
  return useSyncExternalStore(listeners.listen, () => seen);
}

/** Called for what waits newly, wherever it is. */
export function onWaiting(tell: (run: string, threadId: string) => void): () => void {
  tellers.add(tell);
  return () => void tellers.delete(tell);
}

let isLooking = false;
/** Asked for during a look, which may have been too early for it. */
let isAskedAgain = false;

/** Also called when something began or ended here. */
export async function checkWaiting(): Promise<void> {
  isAskedAgain = isLooking;
  if (isLooking) return;
  isLooking = true;
  try {
    const [working, waiting] = await Promise.all([
      client.runs({ status: "running", limit: most }),
      client.runs({ status: "waiting", limit: most }),
    ]);
    const before = seen.waiting;
    seen = {
      // What waits for its model goes on by itself.
      working: new Set([...working, ...waiting.filter(goesOn)].map(({ threadId }) => threadId)),
      waiting: new Map(waiting.filter(isForPeople).map(({ threadId, id }) => [threadId, id])),
    };
    listeners.tell();
    for (const [threadId, run] of seen.waiting)
      if (before.get(threadId) !== run) for (const tell of tellers) tell(run, threadId);
  } catch {
    // The next look may reach the server.
  } finally {
    isLooking = false;
    if (isAskedAgain) void checkWaiting();
  }
}

function isForPeople({ parentRun, waitReason, retryAt }: RunView): boolean {
  return parentRun === null && waitReason !== "client" && (waitReason !== "provider" || retryAt === null);
}

function goesOn({ waitReason, retryAt }: RunView): boolean {
  return waitReason === "provider" && retryAt !== null;
}
