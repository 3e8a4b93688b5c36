import { useEffect, useRef } from "react";
import { createListeners, type Listeners } from "../browser/listeners.ts";
import { reasonOf } from "../page/server.ts";
import { follow } from "./follow.ts";

type ChangedThing = "lists" | "runs" | "tasks" | "all-runs";

/** What is told again and again is told so often at most. */
const leastMs = 1000;

type ThingHeard = Listeners & { count: number; readonly stop: AbortController };
const heard = new Map<ChangedThing, ThingHeard>();

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
  };
}

function listenTo(of: ChangedThing): ThingHeard {
  const thing = { ...createListeners(), count: 0, stop: new AbortController() };
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
  listen().catch(reasonOf);
  return thing;
}

export function useChanges(of: ChangedThing, changed: () => void): void {
  const newest = useRef(changed);
  useEffect(() => {
    newest.current = changed;
  });
  useEffect(() => onChange(of, () => newest.current()), [of]);
}
