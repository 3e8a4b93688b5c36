import { useEffect, useSyncExternalStore } from "react";
import { type MeView, readMe } from "../src/client/overview.ts";
import { reasonOf, server } from "./server.ts";

let me: MeView | undefined;
let asked = false;
const listeners = new Set<() => void>();

/** Who looks at the page; undefined until it is known. */
export function useMe(): MeView | undefined {
  useEffect(() => {
    if (asked) return;
    asked = true;
    readMe(server)
      .then((answer) => {
        me = answer;
        for (const listener of listeners) listener();
      })
      .catch((error: unknown) => {
        reasonOf(error);
        // Asked again by what is shown next.
        asked = false;
      });
  }, []);
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => me,
  );
}
