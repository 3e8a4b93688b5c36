export type ShortCache<Value> = {
  get(key: string): Value | undefined;
  /** `size` in whatever unit its bound has. */
  set(key: string, value: Value, size: number): void;
};

export type ShortCacheOptions = {
  /** 0: nothing is remembered. */
  readonly keptMs: number;
  readonly most: number;
  readonly maxSize: number;
};

/** What was asked a moment ago, by its question: what nobody asked for the longest time goes first. */
export function createShortCache<Value>({ keptMs, most, maxSize }: ShortCacheOptions): ShortCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly size: number; readonly until: number }>();
  let total = 0;

  function forget(key: string): void {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.until <= performance.now()) {
        forget(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, size) {
      forget(key);
      if (keptMs <= 0 || size > maxSize) return;
      entries.set(key, { value, size, until: performance.now() + keptMs });
      total += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= most && total <= maxSize) return;
        forget(oldest);
      }
    },
  };
}
