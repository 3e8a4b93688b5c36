/** Caches recent lookups, so that a request needs no SQL. */
export type LookupCache<Value> = {
  find(key: string): Promise<Value | undefined>;
  /** Drops everything that is cached. */
  forget(): void;
};

export type MemoryOptions = { readonly rememberMs?: number; readonly rememberMost?: number };

/** Remembers for 30 seconds what `search` finds. */
export function createLookupCache<Value>(
  search: (key: string) => Promise<Value | undefined>,
  { rememberMs = 30_000, rememberMost = 1000 }: MemoryOptions = {},
): LookupCache<Value> {
  const remembered = new Map<string, { readonly until: number; readonly found: Promise<Value | undefined> }>();

  function remember(key: string): Promise<Value | undefined> {
    const found = search(key);
    // Unknown keys are not cached: guessing could fill the memory with them.
    const forget = (): void => {
      if (remembered.get(key)?.found === found) remembered.delete(key);
    };
    found.then((result) => result ?? forget(), forget);
    remembered.delete(key);
    remembered.set(key, { until: performance.now() + rememberMs, found });
    if (remembered.size > rememberMost) remembered.delete(remembered.keys().next().value!);
    return found;
  }

  return {
    find(key) {
      const entry = remembered.get(key);
      return entry && entry.until > performance.now() ? entry.found : remember(key);
    },
    forget: () => remembered.clear(),
  };
}
