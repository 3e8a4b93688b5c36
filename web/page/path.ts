import { navigate, useLocationProperty, useSearch } from "wouter/use-browser-location";
import { base } from "./server.ts";

/** Where the page is, below the server's own path: `/`, `/chat/…`. */
export const usePath = () => useLocationProperty(pathNow);

/** The same, for what comes back after a while: somebody may have gone elsewhere. */
export function pathNow(): string {
  return `/${location.pathname.slice(base.length)}`;
}

/** What stands behind the `?`: filters, and what is open, so that an address shows the same again. */
export function useQuery(): URLSearchParams {
  return new URLSearchParams(useSearch());
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

export function goTo(path: string, options: { readonly replace?: boolean } = {}): void {
  navigate(base + path.replace(/^\//, ""), options);
}
