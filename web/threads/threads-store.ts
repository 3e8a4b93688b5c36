import { useEffect, useSyncExternalStore } from "react";
import type { ThreadView } from "../../src/client/client.ts";
import { client } from "../server.ts";

type Listed = { readonly threads: readonly ThreadView[]; readonly search: string };

let listed: Listed = { threads: [], search: "" };
const listeners = new Set<() => void>();
/** Tabs of one browser tell one another. */
const channel = new BroadcastChannel("colloquy-threads");
channel.addEventListener("message", () => void load());

export function useThreads(): Listed {
  useEffect(() => {
    void load();
    const onFocus = () => void load();
    addEventListener("focus", onFocus);
    return () => removeEventListener("focus", onFocus);
  }, []);
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => listed,
  );
}

export function searchThreads(search: string): void {
  listed = { ...listed, search };
  void load();
}

/** Somebody here made, named or removed one. */
export function threadsChanged(): void {
  channel.postMessage("changed");
  void load();
}

async function load(): Promise<void> {
  const { search } = listed;
  const threads = await client
    .threads({ limit: 100, ...(search.trim() === "" ? {} : { search }) })
    .catch(() => undefined);
  // A later search may have been faster.
  if (!threads || search !== listed.search) return;
  listed = { ...listed, threads };
  for (const listener of listeners) listener();
}
