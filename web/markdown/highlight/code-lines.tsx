import { Fragment, memo, useEffect, useMemo, useRef, useState } from "react";
import { scrollerOf } from "../../parts/log/keep-scroll-place.ts";
import type { CodeLine } from "./coloured-code.ts";
import { useHighlighted } from "./highlight.ts";

/** So many lines are coloured together, once they are near what is seen: an element for each word costs. */
const pieceLines = 100;
const near = "800px";

/** The text of a code block, with colours where its language is known and nothing more of it is to come. */
export function CodeLines({ text, language }: { readonly text: string; readonly language: string }) {
  const coloured = useHighlighted(language, text);
  const pieces = useMemo(() => {
    const lines = text.split("\n");
    return Array.from({ length: Math.ceil(lines.length / pieceLines) }, (_, at) =>
      lines.slice(at * pieceLines, (at + 1) * pieceLines).join("\n"),
    );
  }, [text]);
  return pieces.map((piece, at) => (
    <CodePiece key={at} text={piece} end={at < pieces.length - 1 ? "\n" : ""} lines={coloured} at={at} />
  ));
}

type PieceProps = {
  readonly text: string;
  readonly end: string;
  readonly lines: readonly CodeLine[] | undefined;
  readonly at: number;
};

const CodePiece = memo(function CodePiece({ text, end, lines, at }: PieceProps) {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const isNear = useIsNear(place, lines !== undefined);
  const shown = isNear ? lines?.slice(at * pieceLines, (at + 1) * pieceLines) : undefined;
  return (
    // A box of its own, so that with a line more the browser need not lay out all of the code.
    <span ref={setPlace} className="block">
      {shown?.map((line, number) => (
        <Fragment key={number}>
          {number > 0 && "\n"}
          {line.map((word, index) =>
            typeof word === "string" ? (
              word
            ) : (
              <span key={index} className={word[0]}>
                {word[1]}
              </span>
            ),
          )}
        </Fragment>
      )) ?? text}
      {end}
    </span>
  );
});

/** Whether it was near what is seen, since it was asked. */
function useIsNear(place: HTMLElement | null, isAsked: boolean): boolean {
  const [isNear, setNear] = useState(false);
  const wasNear = useRef(false);
  useEffect(() => {
    if (!place || !isAsked || wasNear.current) return undefined;
    // Around the block, which scrolls sideways itself.
    const root = scrollerOf(place.closest(".code-block")) ?? null;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        wasNear.current = true;
        setNear(true);
        observer.disconnect();
      },
      { root, rootMargin: near },
    );
    observer.observe(place);
    return () => observer.disconnect();
  }, [place, isAsked]);
  return isNear;
}
