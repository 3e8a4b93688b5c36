import type { UsageView } from "../../src/protocol/people/overview.ts";

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;

export const spans = ["1", "7", "30", "90"] as const;
export type DaySpan = (typeof spans)[number];

/** Whole days up to now, so that the first is not half a day; of one day its hours. */
export function spanOf(days: DaySpan, now: Date): { readonly from: Date; readonly by: "day" | "hour" } {
  if (days === "1") return { from: new Date(Math.floor(now.getTime() / hourMs) * hourMs - 23 * hourMs), by: "hour" };
  return { from: new Date(startOfDay(now) - (Number(days) - 1) * dayMs), by: "day" };
}

/** Every day or hour since `from`, also those in which nothing was. */
export function timesOf(from: Date, now: Date, by: "day" | "hour"): readonly string[] {
  const step = by === "day" ? dayMs : hourMs;
  const times: string[] = [];
  for (let at = from.getTime(); at <= now.getTime(); at += step) times.push(keyOf(new Date(at), by));
  return times;
}

/** As the server names them. */
function keyOf(at: Date, by: "day" | "hour"): string {
  return by === "day" ? at.toISOString().slice(0, 10) : `${at.toISOString().slice(0, 13)}:00Z`;
}

export type UsageComparison = {
  readonly today: UsageView | undefined;
  /** A day's mean over the days before today, from the first with any use on; undefined: there is none. */
  readonly usual: AverageUsage | undefined;
};
type AverageUsage = {
  readonly requests: number;
  readonly tokens: number;
  readonly cost: number;
  readonly errors: number;
};

export function compareToday(rows: readonly UsageView[], now: Date): UsageComparison {
  const todayKey = keyOf(now, "day");
  const before = rows.filter(({ key }) => key < todayKey);
  const [first] = before;
  if (!first) return { today: rows.find(({ key }) => key === todayKey), usual: undefined };
  const days = Math.max(1, (startOfDay(now) - new Date(first.key).getTime()) / dayMs);
  const mean = (of: (row: UsageView) => number) => before.reduce((sum, row) => sum + of(row), 0) / days;
  return {
    today: rows.find(({ key }) => key === todayKey),
    usual: {
      requests: mean(({ requests }) => requests),
      tokens: mean(tokensOf),
      cost: mean(({ cost }) => cost),
      errors: mean(({ errors }) => errors),
    },
  };
}

export function tokensOf({ inputTokens, outputTokens }: UsageView): number {
  return inputTokens + outputTokens;
}

function startOfDay(now: Date): number {
  return Math.floor(now.getTime() / dayMs) * dayMs;
}
