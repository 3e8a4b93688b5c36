import { useSyncExternalStore } from "react";
import { createStoredChoice } from "./stored-choice.ts";

/** Empty: shown beside the view, where there is room; `closed`. */
export const listChoice = createStoredChoice("list");

/** Whether two columns fit. */
export const useIsWide = whether("(min-width: 768px)");

/** Whether something more fits beside the view. */
export const useHasPanelRoom = whether("(min-width: 1100px)");

function whether(query: string): () => boolean {
  const found = matchMedia(query);
  const listen = (listener: () => void) => {
    found.addEventListener("change", listener);
    return () => found.removeEventListener("change", listener);
  };
  return () => useSyncExternalStore(listen, () => found.matches);
}
