import { type RefCallback, useCallback, useRef, useState } from "react";

export type FollowedEnd = {
  /** Of the box that scrolls. */
  readonly ref: RefCallback<HTMLElement>;
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
};

/** So near to its end, in pixels, a box is at its end. */
const near = 40;

/**
 * A box that scrolls shows its end, also while what is in it grows or the window gets smaller, until a person scrolls up. While
 * something in it is pressed it stands still: a button that moves away before it is released does nothing.
 */
export function useFollowedEnd(): FollowedEnd {
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useRef(() => {});
  const ref = useCallback((box: HTMLElement | null) => {
    if (!box) return;
    const gone = new AbortController();
    let isFollowed = true;
    let isPressed = false;
    let last = box.scrollTop;
    toEnd.current = () => {
      isFollowed = true;
      box.scrollTop = box.scrollHeight;
      setAtEnd(true);
    };
    const scrolled = () => {
      const { scrollTop, scrollHeight, clientHeight } = box;
      const atEnd = scrollHeight - scrollTop - clientHeight < near;
      // What grew since this box was scrolled down is not left behind by anybody.
      if (atEnd) isFollowed = true;
      else if (scrollTop < last) isFollowed = false;
      last = scrollTop;
      setAtEnd(atEnd || isFollowed);
    };
    const grown = new ResizeObserver(() => {
      if (!isFollowed) scrolled();
      else if (!isPressed) toEnd.current();
    });
    const children = new MutationObserver(watch);
    function watch() {
      grown.disconnect();
      for (const each of [box!, ...box!.children]) grown.observe(each);
    }
    watch();
    children.observe(box, { childList: true });
    const press = (is: boolean) => () => {
      isPressed = is;
      // Where it is released is still looked at.
      if (!is) requestAnimationFrame(() => isFollowed && !isPressed && toEnd.current());
    };
    const options = { passive: true, signal: gone.signal };
    box.addEventListener("scroll", scrolled, options);
    box.addEventListener("pointerdown", press(true), options);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, press(false), options);
    return () => {
      gone.abort();
      grown.disconnect();
      children.disconnect();
      setAtEnd(true);
    };
  }, []);
  return { ref, isAtEnd, toEnd: useCallback(() => toEnd.current(), []) };
}
