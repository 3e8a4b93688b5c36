import { useEffect, useSyncExternalStore } from "react";
import { createTaigaClient } from "../../src/client/taiga.ts";
import { createListeners } from "../browser/listeners.ts";
import { server } from "./server.ts";

/** What not every server has, so that its view is offered only where it is of use. */
export type Feature = "taiga";

let features: ReadonlySet<Feature> = new Set();
let asked = false;
const listeners = createListeners();

export function useFeatures(): ReadonlySet<Feature> {
  useEffect(() => {
    if (asked) return;
    asked = true;
    createTaigaClient(server)
      .describe()
      .then(({ configured }) => {
        if (configured) features = new Set([...features, "taiga"]);
        listeners.tell();
      })
      // Its address works all the same.
      .catch(() => undefined);
  }, []);
  return useSyncExternalStore(listeners.listen, () => features);
}
