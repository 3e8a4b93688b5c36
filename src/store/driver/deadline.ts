/** A process that stood still finds its timers due before it has read what was answered meanwhile. */
export const graceMs = 1000;

/**
 * Calls `miss` unless the work has settled `graceMs` after its time. The second part begins only when this process runs
 * again, so a process that was stopped or starved still reads an answer that waits in its socket.
 */
export function withDeadline<Value>(work: Promise<Value>, ms: number, miss: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    let timer = setTimeout(() => {
      timer = setTimeout(() => reject(miss()), graceMs);
    }, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
