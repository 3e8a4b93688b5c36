import { lazy, memo, Suspense, useState } from "react";
import { plural } from "@lingui/core/macro";
import type { Citation } from "../../src/protocol/knowledge/citations.ts";
import { ErrorBoundary } from "../page/error-boundary.tsx";
import { loadMarkdown } from "./load-markdown.ts";
import { RawText } from "./raw-text.tsx";

const Markdown = lazy(async () => ({ default: (await loadMarkdown()).Markdown }));

/** Of a text; what is longer is shown when it is asked for, as it is. */
const maxFormatted = 1_000_000;

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
  const shown = text.length > maxFormatted ? text.slice(0, maxFormatted) : text;
  const asItIs = <RawText text={shown} />;
  return (
    <>
      <ErrorBoundary instead={asItIs}>
        <Suspense fallback={asItIs}>
          <Markdown text={shown} citations={citations} isLive={isLive} files={files} />
        </Suspense>
      </ErrorBoundary>
      {text.length > maxFormatted &&
        (showsAll ? (
          <RawText text={text.slice(maxFormatted)} />
        ) : (
          <button type="button" className="button" onClick={() => setShowsAll(true)}>
            {plural(
              { characters: text.length - maxFormatted },
              { one: "Show # more character", other: "Show # more characters" },
            )}
          </button>
        ))}
    </>
  );
});

/** Text in a language, with its words coloured. */
export function CodeText({ text, language }: { readonly text: string; readonly language: string }) {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([marks]) => marks.length));
  const fence = "`".repeat(longest + 1);
  return <Formatted text={`${fence}${language}\n${text}\n${fence}`} />;
}
