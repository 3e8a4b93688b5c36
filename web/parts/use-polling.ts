import { useEffect, useRef } from "react";

/** Looks again, each second if not said otherwise, while something moves of which no events tell, but not while nobody sees it. */
export function usePolling(isMoving: boolean, look: () => void, everyMs = 1000): void {
  const newest = useRef(look);
  useEffect(() => {
    newest.current = look;
  });
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => !document.hidden && newest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isMoving, everyMs]);
}
