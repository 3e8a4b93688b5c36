import { type RefCallback, useCallback, useRef, useState } from "react";

export type FollowedEnd = {
  /** Of the box that scrolls. */
  readonly ref: RefCallback<HTMLElement>;
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
};

/** So near to its end, in pixels, a box is at its end. */
const near = 40;

/** A box that scrolls shows its end, also while what is in it grows or the window gets smaller, until a person scrolls up. */
export function useFollowedEnd(): FollowedEnd {
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useRef(() => {});
  const ref = useCallback((box: HTMLElement | null) => {
    if (!box) return;
    const gone = new AbortController();
    let isFollowed = true;
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
      if (isFollowed) toEnd.current();
      else scrolled();
    });
    const children = new MutationObserver(watch);
    function watch() {
      grown.disconnect();
      for (const each of [box!, ...box!.children]) grown.observe(each);
    }
    watch();
    children.observe(box, { childList: true });
    box.addEventListener("scroll", scrolled, { passive: true, signal: gone.signal });
    return () => {
      gone.abort();
      grown.disconnect();
      children.disconnect();
      setAtEnd(true);
    };
  }, []);
  return { ref, isAtEnd, toEnd: useCallback(() => toEnd.current(), []) };
}
