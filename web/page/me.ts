import { useEffect, useSyncExternalStore } from "react";
import type { MeView } from "../../src/protocol/people/accounts.ts";
import { readMe } from "../../src/client/overview.ts";
import { createListeners } from "../browser/listeners.ts";
import { reasonOf, server } from "./server.ts";

let me: MeView | undefined;
let asked = false;
const listeners = createListeners();

/** Who looks at the page; undefined until it is known. */
export function useMe(): MeView | undefined {
  useEffect(() => {
    if (asked) return;
    asked = true;
    readMe(server)
      .then((answer) => {
        me = answer;
        listeners.tell();
      })
      .catch((error: unknown) => {
        reasonOf(error);
        // Asked again by what is shown next.
        asked = false;
      });
  }, []);
  return useSyncExternalStore(listeners.listen, () => me);
}
