/** Runs up to a number of jobs at once, the others in order; callers without a running job go first. */
export function createFairQueue(most: number): <Result>(who: string, work: () => Promise<Result>) => Promise<Result> {
  const waiting: { readonly who: string; readonly go: () => void }[] = [];
  const working = new Map<string, number>();
  let active = 0;

  function begin(who: string): void {
    active++;
    working.set(who, (working.get(who) ?? 0) + 1);
  }

  function end(who: string): void {
    active--;
    const left = (working.get(who) ?? 1) - 1;
    if (left > 0) working.set(who, left);
    else working.delete(who);
    const fair = waiting.findIndex((one) => !working.has(one.who));
    const [next] = waiting.splice(Math.max(0, fair), 1);
    if (!next) return;
    begin(next.who);
    next.go();
  }

  return async (who, work) => {
    if (active < most) begin(who);
    else await new Promise<void>((go) => waiting.push({ who, go }));
    try {
      return await work();
    } finally {
      end(who);
    }
  };
}
