import { useEffect, useState } from "react";

/** What has a part formatted; the last comes first, since one reads at the end of a conversation. */
const waiting: (() => void)[] = [];

/** Whether a part is to be formatted by now. With each frame one more is: all of them together would stop the page. */
export function useIsFormatted(isAtOnce: boolean): boolean {
  const [isNow, setNow] = useState(isAtOnce);
  useEffect(() => {
    if (isNow) return undefined;
    const take = () => setNow(true);
    waiting.push(take);
    if (waiting.length === 1) requestAnimationFrame(next);
    return () => {
      const at = waiting.indexOf(take);
      if (at !== -1) waiting.splice(at, 1);
    };
  }, [isNow]);
  return isNow;
}

function next(): void {
  waiting.pop()?.();
  if (waiting.length > 0) requestAnimationFrame(next);
}
