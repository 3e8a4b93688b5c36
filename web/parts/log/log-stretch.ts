import type { ItemPageQuery } from "../../../src/client/decisions.ts";
import type { RunEvent } from "../../../src/protocol/threads/events.ts";
import type { Item } from "../../../src/protocol/threads/items.ts";

/** Items of a log without a gap, the lowest seq first; others may stand before and behind them. */
export type Stretch = { readonly items: readonly Item[]; readonly hasOlder: boolean; readonly hasNewer: boolean };
export type ReadItems = (page: ItemPageQuery, signal: AbortSignal) => Promise<readonly Item[]>;

/** What is read at once, and what is kept at most: what is farthest from where one reads is let go. */
const pageItems = 200;
export const maxItems = 3000;

export async function readEnd(read: ReadItems, signal: AbortSignal): Promise<Stretch> {
  const items = [...(await read({ order: "desc", limit: pageItems }, signal))].reverse();
  return { items, hasOlder: startsLater(items), hasNewer: false };
}

/** Undefined: the log has no such item. */
export async function readAround(read: ReadItems, item: string, signal: AbortSignal): Promise<Stretch | undefined> {
  const items = await read({ around: item, limit: pageItems }, signal);
  if (!items.some(({ id }) => id === item)) return undefined;
  return { items, hasOlder: startsLater(items), hasNewer: true };
}

export async function readOlder(
  read: ReadItems,
  { items, hasNewer }: Stretch,
  signal: AbortSignal,
  most = maxItems,
): Promise<Stretch> {
  const before = items[0]?.seq;
  const older = [...(await read({ order: "desc", limit: pageItems, ...(before && { before }) }, signal))].reverse();
  const all = [...older, ...items];
  return {
    items: all.slice(0, most),
    hasOlder: older.length > 0 && startsLater(older),
    hasNewer: hasNewer || all.length > most,
  };
}

export async function readNewer(read: ReadItems, { items, hasOlder }: Stretch, signal: AbortSignal): Promise<Stretch> {
  const newer = await read({ after: items.at(-1)?.seq ?? 0, limit: pageItems }, signal);
  return trimmed({ items: [...items, ...newer], hasOlder, hasNewer: newer.length > 0 });
}

/** Of two that meet or overlap. */
export function joinStretches(before: Stretch, after: Stretch): Stretch | undefined {
  const first = after.items[0]?.seq;
  if (first === undefined || (before.items.at(-1)?.seq ?? 0) < first - 1) return undefined;
  const items = [...before.items.filter(({ seq }) => seq < first), ...after.items];
  return trimmed({ items, hasOlder: before.hasOlder, hasNewer: after.hasNewer });
}

function trimmed(stretch: Stretch): Stretch {
  if (stretch.items.length <= maxItems) return stretch;
  return { ...stretch, items: stretch.items.slice(-maxItems), hasOlder: true };
}

function startsLater(items: readonly Item[]): boolean {
  return (items[0]?.seq ?? 1) > 1;
}

/** What was told beyond the items that were read, in order; a text that grows is told once. */
export function rememberStretch<Said>(told: (RunEvent | Said)[], next: RunEvent | Said): void {
  const last = told.at(-1);
  const grown = isEvent(last) && isEvent(next) ? grownBy(last, next) : undefined;
  if (grown) told[told.length - 1] = grown;
  else told.push(next);
}

function isEvent(said: unknown): said is RunEvent {
  return typeof said === "object" && said !== null && "type" in said;
}

function grownBy(last: RunEvent, next: RunEvent): RunEvent | undefined {
  const isText = next.type === "text-delta" || next.type === "reasoning-delta";
  if (!isText || last.type !== next.type || !("offset" in last)) return undefined;
  const follows = last.run === next.run && last.step === next.step && last.offset + last.text.length === next.offset;
  return follows ? { ...last, text: last.text + next.text } : undefined;
}
