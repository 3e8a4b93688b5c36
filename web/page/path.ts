import { useSyncExternalStore } from "react";
import { createListeners } from "../browser/listeners.ts";
import { base } from "./server.ts";

const listeners = createListeners();
addEventListener("popstate", listeners.tell);

/** Where the page is, below the server's own path: `/`, `/chat/…`. */
export const usePath = () => useSyncExternalStore(listeners.listen, pathNow);

/** The same, for what comes back after a while: somebody may have gone elsewhere. */
export function pathNow(): string {
  return `/${location.pathname.slice(base.length)}`;
}

/** What stands behind the `?`: filters, and what is open, so that an address shows the same again. */
export function useQuery(): URLSearchParams {
  return new URLSearchParams(useSyncExternalStore(listeners.listen, () => location.search));
}

/** Changes some of the query; undefined or empty takes out. */
export function changeQuery(change: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change))
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  goTo(location.pathname.slice(base.length) + (query.size > 0 ? `?${query}` : ""), { replace: true });
}

/** Leads on once something is done, unless whoever began it went elsewhere meanwhile. */
export function navigateUnlessLeft(): (path: string) => void {
  const from = pathNow();
  return (path) => {
    if (pathNow() === from) goTo(path);
  };
}

export function goTo(path: string, { replace = false } = {}): void {
  const url = base + path.replace(/^\//, "");
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  listeners.tell();
}
