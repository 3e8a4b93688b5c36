import "./keep-scroll-place.css";
import { placeScroller } from "./user-scroll.ts";

/** The box that scrolls around it. */
export function scrollerOf(element: Element | null): HTMLElement | undefined {
  for (let box = element?.parentElement; box; box = box.parentElement)
    if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  return undefined;
}

/**
 * The turn that is read stays where it is while others come above it or go. Browsers do so too, but for one: not at the very top,
 * and not all browsers.
 */
export function keepPlace(scroller: HTMLElement): void {
  const { top } = scroller.getBoundingClientRect();
  const turns = [...scroller.querySelectorAll(".turn")];
  const kept = turns.find((turn) => turn.getBoundingClientRect().bottom > top);
  if (!kept) return;
  const before = kept.getBoundingClientRect().top;
  const hold = (): boolean => {
    const moved = kept.isConnected ? kept.getBoundingClientRect().top - before : 0;
    if (Math.abs(moved) > 1) placeScroller(scroller, scroller.scrollTop + moved);
    return Math.abs(moved) > 1;
  };
  const observer = new MutationObserver(() => {
    if (!hold()) return;
    observer.disconnect();
    // What came may be measured only now.
    requestAnimationFrame(hold);
  });
  observer.observe(kept.parentElement!, { childList: true });
  setTimeout(() => observer.disconnect(), 500);
}

/**
 * Scrolls to an element and marks it, once it is there, and again for a moment while what is around it still grows, but never
 * against a person. Returns how to stop.
 */
export function bringIntoView(selector: string): () => void {
  const stop = new AbortController();
  const until = performance.now() + 1500;
  let steady = 0;
  let top = NaN;
  const look = () => {
    const element = document.querySelector(selector);
    if (element && !stop.signal.aborted) {
      element.classList.add("found-turn");
      const now = element.getBoundingClientRect().top;
      steady = Math.abs(now - top) < 2 ? steady + 1 : 0;
      if (steady === 0) element.scrollIntoView({ block: "center" });
      top = element.getBoundingClientRect().top;
    }
    if (stop.signal.aborted || steady >= 10 || performance.now() > until) stop.abort();
    else requestAnimationFrame(look);
  };
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(event, () => stop.abort(), { signal: stop.signal, passive: true });
  requestAnimationFrame(look);
  return () => stop.abort();
}
