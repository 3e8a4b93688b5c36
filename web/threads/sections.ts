import type { ListedThread } from "../../src/protocol/threads/threads.ts";

export type ThreadSection = {
  readonly name: "today" | "yesterday" | "week" | "older";
  readonly threads: readonly ListedThread[];
};

const dayMs = 86_400_000;

/** Threads by the day when they were last used; days are the reader's. */
export function sectionsOf(threads: readonly ListedThread[], now: Date): readonly ThreadSection[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const nameOf = ({ usedAt }: ListedThread): ThreadSection["name"] => {
    const at = Date.parse(usedAt);
    if (at >= today) return "today";
    // The middle of yesterday, whatever the clocks did between.
    if (at >= startOfDay(today - dayMs / 2)) return "yesterday";
    return at >= startOfDay(today - 6.5 * dayMs) ? "week" : "older";
  };
  const names = ["today", "yesterday", "week", "older"] as const;
  const grouped = Map.groupBy(threads, nameOf);
  return names.flatMap((name) => {
    const found = grouped.get(name);
    return found ? [{ name, threads: found }] : [];
  });
}

function startOfDay(at: number): number {
  const day = new Date(at);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
}
