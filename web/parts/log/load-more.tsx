import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useRef } from "react";
import { t } from "@lingui/core/macro";
import { keepPlace, scrollerOf } from "./keep-scroll-place.ts";
import { type ScrollEnd, onScrolledByPerson } from "./user-scroll.ts";

type MoreProps = {
  readonly hasMore: boolean;
  readonly isReading: boolean;
  /** `before`: to be called right before more stands on the page. */
  readonly onMore: (before: () => void) => Promise<void>;
};

/** How far from its end what is on the page goes on by itself. */
const near = 800;

/** At the top of what is shown of a long log: what stands before it, by a click, or once one scrolls there. */
export function OlderOfLog(props: MoreProps) {
  return <More {...props} text={t`Show older messages`} at="top" />;
}

/** At its bottom, where the end of the log is not on the page. */
export function NewerOfLog(props: MoreProps) {
  return <More {...props} text={t`Show newer messages`} at="bottom" />;
}

function More({ hasMore, isReading, onMore, text, at }: MoreProps & { text: string; at: ScrollEnd }) {
  const button = useRef<HTMLButtonElement>(null);
  const more = useRef(() => {});
  /** Pressed while more was being read already. */
  const isWanted = useRef(false);
  useEffect(() => {
    more.current = () => {
      const scroller = scrollerOf(button.current);
      if (!scroller || isReading) return;
      const hadFocus = button.current === document.activeElement;
      void onMore(() => keepPlace(scroller)).then(() => {
        if (hadFocus && document.activeElement === document.body) scroller.focus({ preventScroll: true });
      });
    };
    if (isReading || !isWanted.current) return;
    isWanted.current = false;
    press();
  });
  /** Who presses it reads on from there; it may be far from what is seen, with the focus on it since it was pressed before. */
  function press(): void {
    if (isReading) isWanted.current = true;
    else button.current?.scrollIntoView({ block: "nearest" });
    more.current();
  }
  useEffect(() => {
    const scroller = hasMore ? scrollerOf(button.current) : undefined;
    if (!scroller) return;
    const gone = new AbortController();
    onScrolledByPerson(
      scroller,
      (towards) => {
        const { scrollTop, scrollHeight, clientHeight } = scroller;
        const left = at === "top" ? scrollTop : scrollHeight - clientHeight - scrollTop;
        if (towards === at && left < near) more.current();
      },
      gone.signal,
    );
    return () => gone.abort();
  }, [hasMore, at]);
  if (!hasMore) return null;
  const Icon = at === "top" ? ArrowUp : ArrowDown;
  // What hovers over the log (`.new-below`) may come between a press on this one and its release: it comes behind it.
  return (
    <button
      ref={button}
      type="button"
      className="button relative z-1 self-center"
      aria-busy={isReading}
      onClick={press}
    >
      <Icon size={16} aria-hidden /> {isReading ? t`Loading…` : text}
    </button>
  );
}
