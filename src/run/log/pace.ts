/** Characters that come one after another leave together, once the last that left are this old. */
const longestMs = 100;
const piecesPerSecond = 1000;

/**
 * When live text is told. To few followers at once; the more there are, the longer it is gathered, since each piece is a write
 * for each of them, and that is nearly all that it costs. Never longer than followers on other nodes wait for it.
 */
export function createPace<Subject extends object>(
  tell: (subject: Subject) => void,
  followers: () => number,
): { soon(subject: Subject): void; close(): void } {
  const toldAt = new WeakMap<Subject, number>();
  const waiting = new Set<Subject>();
  let timer: NodeJS.Timeout | undefined;
  const tellNow = (subject: Subject) => {
    toldAt.set(subject, performance.now());
    tell(subject);
  };
  const tellWaiting = () => {
    timer = undefined;
    const all = [...waiting];
    waiting.clear();
    for (const subject of all) tellNow(subject);
  };
  return {
    soon(subject) {
      if (waiting.has(subject)) return;
      const pauseMs = Math.min(longestMs, (1000 * followers()) / piecesPerSecond);
      if (performance.now() - (toldAt.get(subject) ?? -Infinity) >= pauseMs) return tellNow(subject);
      waiting.add(subject);
      timer ??= setTimeout(tellWaiting, pauseMs);
    },
    close: () => clearTimeout(timer),
  };
}
