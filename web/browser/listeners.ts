export type Listeners = {
  /** Returns how to stop; as `useSyncExternalStore` takes it. */
  readonly listen: (listener: () => void) => () => void;
  readonly tell: () => void;
};

/** Who is told when something changes that no component holds. */
export function createListeners(): Listeners {
  const listeners = new Set<() => void>();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell() {
      for (const listener of listeners) listener();
    },
  };
}
