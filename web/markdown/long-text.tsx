import { useLayoutEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { figure } from "../parts/format.ts";

/** Of a long text, at first. */
const shownCharacters = 4000;

type LongTextProps = {
  readonly text: string;
  /** It is being written: its end is shown, and followed while one stands there. */
  readonly isLive: boolean;
  readonly name: string;
  readonly isError?: boolean;
};

/** What a tool wrote, in a frame that scrolls by itself. */
export function LongText({ text, isLive, name, isError = false }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  const frame = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isLive && isAtEnd.current) frame.current?.scrollTo(0, frame.current.scrollHeight);
  }, [text, isLive]);
  const isCut = !isLive && !isWhole && text.length > shownCharacters;
  return (
    <>
      <pre
        ref={frame}
        dir="auto"
        tabIndex={0}
        role="region"
        aria-label={name}
        className={`long-text ${isError ? "text-bad" : ""}`}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 20;
        }}
      >
        {isCut ? `${text.slice(0, shownCharacters)} …` : text}
      </pre>
      {isCut && (
        <button type="button" className="button mt-1" onClick={() => setWhole(true)}>
          {t`Open in full (${{ characters: figure(text.length) }} characters)`}
        </button>
      )}
    </>
  );
}
