export type Summary = { readonly median: number; readonly min: number; readonly max: number; readonly p95: number };

/** Of no values: NaN everywhere. */
export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
  return {
    median: median ?? NaN,
    min: sorted[0] ?? NaN,
    max: sorted.at(-1) ?? NaN,
    p95: sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? NaN,
  };
}

/** A new array in random order: each round visits the subjects in another one, so that drift hits all alike. */
export function shuffled<Value>(values: readonly Value[]): Value[] {
  const result = [...values];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
