import { lazy, memo, Suspense, useState } from "react";
import type { Citation } from "../../src/protocol/citations.ts";
import { KeptFromFalling } from "../kept-from-falling.tsx";
import { words } from "../words.ts";
import { loadMarkdown } from "./load-markdown.ts";

const Markdown = lazy(async () => ({ default: (await loadMarkdown()).Markdown }));

/** Of a text; what is longer is shown when it is asked for, as it is. */
const mostFormatted = 200_000;

type FormattedProps = {
  readonly text: string;
  readonly citations?: readonly Citation[] | undefined;
  /** More of it is on its way. */
  readonly isLive?: boolean;
  /** Where the files are that it may name by their paths. */
  readonly files?: string | undefined;
};

/** A text as Markdown; until what formats it is there, as it is. */
export const Formatted = memo(function Formatted({ text, citations, isLive = false, files }: FormattedProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = text.length > mostFormatted ? text.slice(0, mostFormatted) : text;
  const asItIs = <p className="break-words whitespace-pre-wrap">{shown}</p>;
  return (
    <>
      <KeptFromFalling instead={asItIs}>
        <Suspense fallback={asItIs}>
          <Markdown text={shown} citations={citations} isLive={isLive} files={files} />
        </Suspense>
      </KeptFromFalling>
      {text.length > mostFormatted &&
        (showsAll ? (
          <p className="break-words whitespace-pre-wrap">{text.slice(mostFormatted)}</p>
        ) : (
          <button type="button" className="button" onClick={() => setShowsAll(true)}>
            {words.turn.showRest(text.length - mostFormatted)}
          </button>
        ))}
    </>
  );
});
