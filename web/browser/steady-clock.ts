/** Milliseconds on a clock that nobody sets, the same in all tabs and workers of a browser. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
