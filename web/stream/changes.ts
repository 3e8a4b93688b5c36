import { useEffect, useRef, useSyncExternalStore } from "react";
import { createListeners, type Listeners } from "../browser/listeners.ts";
import { reasonOf } from "../page/server.ts";
import { follow } from "./follow.ts";

type ChangedThing = "lists" | "runs" | "tasks" | "all-runs" | "knowledge";

/** What is told again and again is told so often at most. */
const leastMs = 1000;

type ThingHeard = Listeners & { count: number; readonly stop: AbortController; readonly hear: () => void };
const heard = new Map<ChangedThing, ThingHeard>();

/** Why the server sends no updates, and what has not been followed since. */
let pause: { readonly reason: string; readonly things: ReadonlySet<ThingHeard> } | undefined;
const pauseListeners = createListeners();

/** Calls whenever it may have changed, also after a lost connection. Each thing is followed once, whoever listens in this tab. */
export function onChange(of: ChangedThing, changed: () => void): () => void {
  const thing = heard.get(of) ?? listenTo(of);
  thing.count++;
  const stopListening = thing.listen(changed);
  return () => {
    stopListening();
    if (--thing.count > 0) return;
    heard.delete(of);
    thing.stop.abort();
    endPauseOf(thing);
  };
}

function listenTo(of: ChangedThing): ThingHeard {
  const hear = () => {
    listen().catch((error: unknown) => {
      if (thing.stop.signal.aborted) return;
      pause = { reason: reasonOf(error), things: new Set([...(pause?.things ?? []), thing]) };
      pauseListeners.tell();
    });
  };
  const thing: ThingHeard = { ...createListeners(), count: 0, stop: new AbortController(), hear };
  heard.set(of, thing);
  let isTold = false;
  const tellOnce = () => {
    isTold = false;
    if (!thing.stop.signal.aborted) thing.tell();
  };
  const listen = async () => {
    let toldAt = -leastMs;
    for await (const _ of follow({ of }, thing.stop)) {
      if (isTold) continue;
      isTold = true;
      const waitMs = Math.max(0, toldAt + leastMs - performance.now());
      toldAt = performance.now() + waitMs;
      setTimeout(tellOnce, waitMs);
    }
  };
  hear();
  return thing;
}

/** Why what is shown does not change by itself: a server that has refused is not asked again before somebody wants it. */
export function usePausedReason(): string | undefined {
  return useSyncExternalStore(pauseListeners.listen, () => pause?.reason);
}

/** Nobody wants it any more. */
function endPauseOf(thing: ThingHeard): void {
  if (!pause?.things.has(thing)) return;
  const things = new Set([...pause.things].filter((each) => each !== thing));
  pause = things.size === 0 ? undefined : { ...pause, things };
  pauseListeners.tell();
}

/** Follows again what was refused, and tells that all of it may have changed. */
export function resumeChanges(): void {
  const things = pause?.things ?? [];
  pause = undefined;
  pauseListeners.tell();
  for (const thing of things) {
    if (thing.stop.signal.aborted) continue;
    thing.hear();
    thing.tell();
  }
}

export function useChanges(of: ChangedThing, changed: () => void): void {
  const newest = useRef(changed);
  useEffect(() => {
    newest.current = changed;
  });
  useEffect(() => onChange(of, () => newest.current()), [of]);
}
