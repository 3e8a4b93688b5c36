/** A sum of costs without what adding fractions leaves behind: 0.0002, not 0.0002000000000000001. */
export function shownCost(cost: number): number {
  return Number(Number(cost.toFixed(12)).toPrecision(12));
}
