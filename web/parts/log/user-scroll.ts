export type ScrollEnd = "top" | "bottom";

/** Where the page itself put a box, as keepPlace does. */
const placed = new WeakMap<Element, number>();

export function placeScroller(scroller: HTMLElement, top: number): void {
  scroller.scrollTop = top;
  placed.set(scroller, scroller.scrollTop);
}

/**
 * Tells towards which end a person scrolls a box: with a wheel, a finger, a key, or its bar. What else scrolls it, as the page that
 * keeps a place or goes to what was asked for, is not told.
 */
export function onScrolledByPerson(
  scroller: HTMLElement,
  tell: (towards: ScrollEnd) => void,
  signal: AbortSignal,
): void {
  /** Also while what was set going rolls on; whatever else the person does ends it. */
  let meant: ScrollEnd | undefined;
  let hasBar = false;
  let finger = 0;
  let last = scroller.scrollTop;
  const mean = (towards: ScrollEnd | undefined) => {
    meant = towards;
    hasBar = false;
    // At the very end nothing scrolls any more.
    if (towards) tell(towards);
  };
  const options = { passive: true, signal };
  scroller.addEventListener("wheel", ({ deltaY }) => deltaY !== 0 && mean(deltaY < 0 ? "top" : "bottom"), options);
  scroller.addEventListener("touchstart", ({ touches }) => (finger = touches[0]?.clientY ?? 0), options);
  scroller.addEventListener(
    "touchmove",
    ({ touches }) => {
      const now = touches[0]?.clientY ?? finger;
      if (now !== finger) mean(now > finger ? "top" : "bottom");
      finger = now;
    },
    options,
  );
  scroller.addEventListener("keydown", (event) => mean(endOfKey(event)), options);
  scroller.addEventListener(
    "pointerdown",
    ({ target, pointerType }) => {
      mean(undefined);
      hasBar = target === scroller && pointerType !== "touch";
    },
    options,
  );
  scroller.addEventListener("pointermove", ({ buttons }) => buttons === 0 && (hasBar = false), options);
  scroller.addEventListener(
    "scroll",
    () => {
      const { scrollTop } = scroller;
      const towards = scrollTop < last ? "top" : scrollTop > last ? "bottom" : undefined;
      last = scrollTop;
      const isOurs = placed.get(scroller) === scrollTop;
      placed.delete(scroller);
      if (towards && !isOurs && (hasBar || meant === towards)) tell(towards);
    },
    options,
  );
}

const ends: Readonly<Record<string, ScrollEnd>> = {
  ArrowUp: "top",
  PageUp: "top",
  Home: "top",
  ArrowDown: "bottom",
  PageDown: "bottom",
  End: "bottom",
};

/** None where the key does something else: in a field, on a button. */
function endOfKey({ key, shiftKey, target }: KeyboardEvent): ScrollEnd | undefined {
  if (target instanceof Element && target.closest("input, textarea, select, [contenteditable]")) return undefined;
  if (key === " " && target instanceof Element && !target.closest("button, a, summary"))
    return shiftKey ? "top" : "bottom";
  return ends[key];
}
