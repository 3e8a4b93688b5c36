import type { Item } from "../../protocol/threads/items.ts";

/** The newest items of a thread, without a gap; the first one's seq is `base + 1`. */
export type KeptItems = {
  items: Item[];
  /** Size of each item. */
  sizes: number[];
  base: number;
  bytes: number;
};

export type RecentItemsOptions = { readonly items: number; readonly bytes: number };

export function emptyKeptItems(base: number): KeptItems {
  return { items: [], sizes: [], base, bytes: 0 };
}

/** Adds the items that come next. Above a bound the oldest go, down to half of it, so that this is not done for every item. */
export function keepRecent(kept: KeptItems, items: readonly Item[], bounds: RecentItemsOptions): void {
  for (const item of items) {
    const size = sizeOf(item.body);
    kept.items.push(item);
    kept.sizes.push(size);
    kept.bytes += size;
  }
  if (kept.items.length <= bounds.items && kept.bytes <= bounds.bytes) return;
  let gone = 0;
  let { bytes } = kept;
  while (gone < kept.items.length && (kept.items.length - gone > bounds.items / 2 || bytes > bounds.bytes / 2))
    bytes -= kept.sizes[gone++]!;
  Object.assign(kept, {
    items: kept.items.slice(gone),
    sizes: kept.sizes.slice(gone),
    base: kept.base + gone,
    bytes,
  });
}

/** About what a body takes: the characters of its texts, and a little for each value. Without recursion: it may be deep. */
function sizeOf(body: unknown): number {
  let size = 0;
  const left: unknown[] = [body];
  while (left.length > 0) {
    const value = left.pop();
    size += 16;
    if (typeof value === "string") size += value.length;
    else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) left.push(inner);
  }
  return size;
}
