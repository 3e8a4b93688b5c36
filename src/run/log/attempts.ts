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
