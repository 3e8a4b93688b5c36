/** Gains of a ranking: `gains[i]` is how much of what was wanted the i-th result adds to those before it. */
export type RankedGains = {
  readonly gains: readonly number[];
  /** How much there is to find. */ readonly wanted: number;
};

/** Normalised discounted cumulative gain: 1 if the first places hold as much as they could. */
export function ndcg({ gains, wanted }: RankedGains, depth: number): number {
  if (wanted === 0) return 0;
  let found = 0;
  let best = 0;
  for (let at = 0; at < depth; at++) {
    const discount = 1 / Math.log2(at + 2);
    found += (gains[at] ?? 0) * discount;
    if (at < wanted) best += discount;
  }
  return Math.min(1, found / best);
}

/** The share of what is wanted among the first. */
export function recall({ gains, wanted }: RankedGains, depth: number): number {
  if (wanted === 0) return 0;
  let found = 0;
  for (const gain of gains.slice(0, depth)) found += gain;
  return Math.min(1, found / wanted);
}

export type Interval = { readonly mean: number; readonly low: number; readonly high: number };

/** The mean and where 95 of 100 means of such samples would lie, by drawing from the values again and again. The same values give the same. */
export function bootstrap(values: readonly number[], rounds = 2000): Interval {
  const random = generator(values.length);
  const means = Array.from({ length: rounds }, () => {
    let sum = 0;
    for (let n = 0; n < values.length; n++) sum += values[Math.floor(random() * values.length)]!;
    return sum / values.length;
  }).toSorted((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, low: means[Math.floor(rounds * 0.025)]!, high: means[Math.ceil(rounds * 0.975) - 1]! };
}

/** Numbers from 0 to 1 that look like chance (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
