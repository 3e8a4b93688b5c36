import type { Item } from "../../protocol/threads/items.ts";

type AttemptPosition = Pick<Item, "kind" | "runId" | "step" | "index" | "attempt" | "seq">;

/** Withdraws what its run had at this place before; known by its place alone, which erasing leaves as it was. */
export function isWithdrawal({ kind, step, index, attempt }: AttemptPosition): boolean {
  return kind === "state" && step !== null && (index !== null || attempt !== null);
}

/**
 * Items, in order of their seq, without what was withdrawn when their run was resumed: the results of calls that the end of the
 * run had cut off, and parts of answers. So nobody who reads them takes such a call for done.
 */
export function withoutWithdrawn<Entry extends AttemptPosition>(items: readonly Entry[]): readonly Entry[] {
  const withdrawn = new Map<string, number>();
  for (const item of items) if (isWithdrawal(item)) withdrawn.set(attemptKey(item), item.seq);
  if (withdrawn.size === 0) return items;
  return items.filter(
    (item) =>
      !isWithdrawal(item) &&
      ((item.kind !== "result" && item.kind !== "message") || item.seq > (withdrawn.get(attemptKey(item)) ?? 0)),
  );
}

function attemptKey({ runId, step, index }: AttemptPosition): string {
  return `${runId} ${step} ${index ?? ""}`;
}

/** How often a step may be asked under one epoch. */
const perEpoch = 100;

/** The number of an attempt at a step: it only grows, whichever process asks. `tries`: those before it under this epoch. */
export function attemptOf(epoch: number, tries = 0): number {
  if (tries >= perEpoch) throw new RangeError(`A step is asked ${perEpoch} times at most before its run waits.`);
  return (epoch - 1) * perEpoch + 1 + tries;
}

/** The epoch of an attempt, in SQL. */
export function epochSql(attempt: string): string {
  return `((${attempt} - 1) / ${perEpoch} + 1)`;
}
