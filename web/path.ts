import { useSyncExternalStore } from "react";
import { base } from "./server.ts";

const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};
addEventListener("popstate", tell);

/** Where the page is, below the server's own path: `/`, `/chat/…`. */
export function usePath(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => `/${location.pathname.slice(base.length)}`,
  );
}

export function goTo(path: string, { replace = false } = {}): void {
  const url = base + path.replace(/^\//, "");
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  tell();
}
