import type { ThreadView } from "../../src/protocol/threads/threads.ts";
import { createStoredChoice } from "../browser/stored-choice.ts";

/** How far one has read: what is beyond it is new. Of threads that were never open here, only those made since count. */
type ReadMarks = { readonly since: string; readonly seqs: Readonly<Record<string, number>> };

const store = createStoredChoice("seen");
const most = 300;
/** Left just now, with the list as it was then: whatever stands in them at the next look was seen. */
const left = new Map<string, readonly ThreadView[]>();

export const useSeen = store.use;

export function isNew(thread: ThreadView): boolean {
  const { since, seqs } = read();
  const seq = seqs[thread.id];
  return seq === undefined ? thread.createdAt > since && thread.lastSeq > 0 : thread.lastSeq > seq;
}

/** Called with what a look found; `current` is open. */
export function markRead(threads: readonly ThreadView[], current: string | undefined): void {
  const found = threads.filter(({ id }) => id === current || (left.has(id) && left.get(id) !== threads));
  const { since, seqs } = read();
  // A list may be older than what was shown since.
  const changed = found.filter(({ id, lastSeq }) => lastSeq > (seqs[id] ?? -1));
  for (const [id, list] of left) if (list !== threads) left.delete(id);
  if (changed.length === 0 && store.get() !== "") return;
  const others = Object.entries(seqs).filter(([id]) => !changed.some((thread) => thread.id === id));
  const all = [...others, ...changed.map(({ id, lastSeq }): [string, number] => [id, lastSeq])].slice(-most);
  store.set(JSON.stringify({ since, seqs: Object.fromEntries(all) } satisfies ReadMarks));
}

/** Shown up to here, which no list may tell of yet. */
export function markSeen(thread: string, seq: number): void {
  const { since, seqs } = read();
  const { [thread]: before = -1, ...others } = seqs;
  if (seq <= before) return;
  const all = [...Object.entries(others), [thread, seq]].slice(-most);
  store.set(JSON.stringify({ since, seqs: Object.fromEntries(all) } satisfies ReadMarks));
}

export function leaveThread(thread: string, threads: readonly ThreadView[]): void {
  left.set(thread, threads);
}

const begun = new Date().toISOString();

let known: { readonly text: string; readonly seen: ReadMarks } | undefined;

/** Asked for each thread of the list. */
function read(): ReadMarks {
  const text = store.get();
  if (known?.text !== text) known = { text, seen: parse(text) };
  return known.seen;
}

function parse(text: string): ReadMarks {
  try {
    const { since, seqs } = JSON.parse(text) as Partial<ReadMarks>;
    if (typeof since === "string" && typeof seqs === "object" && seqs !== null) return { since, seqs };
  } catch {
    // Nothing yet, or of another version.
  }
  return { since: begun, seqs: {} };
}
