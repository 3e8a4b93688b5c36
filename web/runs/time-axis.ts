/** A stretch of time, in milliseconds. */
export type TimeSpan = { readonly from: number; readonly to: number };

export type TimeAxis = {
  /** Where a moment stands, from 0 to 1. */
  readonly at: (time: number) => number;
  /** Stretches in which nothing was at work, drawn shorter than they were. */
  readonly breaks: readonly (TimeSpan & { readonly start: number; readonly end: number })[];
  readonly ticks: readonly { readonly at: number; readonly time: number }[];
};

/** Of the whole width, what a shortened stretch takes. */
const breakPart = 0.08;
const leastBreakMs = 5000;

/**
 * From the first moment to the last. A night in which a run waited for somebody would leave no room for what it did: where
 * nothing was at work for longer than all the work took, the axis is broken.
 */
export function timeAxis(whole: TimeSpan, busy: readonly TimeSpan[]): TimeAxis {
  const worked = merged(busy, whole);
  const workedMs = worked.reduce((sum, { from, to }) => sum + to - from, 0);
  const idle = gapsOf(worked, whole).filter(({ from, to }) => to - from > Math.max(leastBreakMs, workedMs));
  const shortened = idle.slice(0, 8);
  const plainMs = whole.to - whole.from - shortened.reduce((sum, { from, to }) => sum + to - from, 0);
  const plainPart = 1 - breakPart * shortened.length;
  const at = (time: number) => {
    const moment = Math.min(Math.max(time, whole.from), whole.to);
    let plain = moment - whole.from;
    let broken = 0;
    for (const { from, to } of shortened) {
      if (moment <= from) break;
      const passed = Math.min(moment, to) - from;
      plain -= passed;
      broken += passed / (to - from);
    }
    return (plainMs === 0 ? 0 : (plain / plainMs) * plainPart) + broken * breakPart;
  };
  return {
    at,
    breaks: shortened.map(({ from, to }) => ({ from, to, start: at(from), end: at(to) })),
    ticks: ticksOf(whole, { at, breaks: shortened, stepMs: niceStep(plainMs / plainPart / 6) }),
  };
}

function merged(spans: readonly TimeSpan[], { from: first, to: last }: TimeSpan): TimeSpan[] {
  const sorted = spans
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(Math.max(to, from), last) }))
    .toSorted((a, b) => a.from - b.from);
  const result: TimeSpan[] = [];
  for (const span of sorted) {
    const before = result.at(-1);
    if (before && span.from <= before.to)
      result[result.length - 1] = { from: before.from, to: Math.max(before.to, span.to) };
    else result.push(span);
  }
  return result;
}

function gapsOf(worked: readonly TimeSpan[], { from, to }: TimeSpan): TimeSpan[] {
  const ends = [from, ...worked.map((span) => span.to)];
  const begins = [...worked.map((span) => span.from), to];
  return ends.map((end, at) => ({ from: end, to: begins[at]! })).filter((gap) => gap.to > gap.from);
}

type TickScale = {
  readonly at: (time: number) => number;
  readonly breaks: readonly TimeSpan[];
  readonly stepMs: number;
};

/** None within a break, and none so near to one before that their labels would meet. */
function ticksOf({ from, to }: TimeSpan, { at, breaks, stepMs }: TickScale): TimeAxis["ticks"] {
  const ticks: { at: number; time: number }[] = [];
  const pieces = [from, ...breaks.map((gap) => gap.to)].map((begin, piece) => ({
    begin,
    end: breaks[piece]?.from ?? to,
  }));
  for (const { begin, end } of pieces) {
    const first = begin === from ? 0 : Math.ceil((begin - from) / stepMs);
    for (let n = first; from + n * stepMs <= end && ticks.length < 40; n++) {
      const place = at(from + n * stepMs);
      if (ticks.length === 0 || place - ticks.at(-1)!.at > 0.1) ticks.push({ at: place, time: n * stepMs });
    }
  }
  // Beyond, a label would be cut off.
  return ticks.filter((tick) => tick.at < 0.88);
}

function niceStep(ms: number): number {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    1_800_000,
  ];
  const hour = 3_600_000;
  return steps.find((step) => step >= ms) ?? Math.ceil(ms / hour) * hour;
}
