import { useSyncExternalStore } from "react";
import { kept } from "../kept.ts";

/** Empty: shown beside the view, where there is room; `closed`. */
export const listChoice = kept("list");

const wide = matchMedia("(min-width: 768px)");

/** Whether two columns fit. */
export function useIsWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      wide.addEventListener("change", listener);
      return () => wide.removeEventListener("change", listener);
    },
    () => wide.matches,
  );
}
