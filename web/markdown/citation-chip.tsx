import { createContext, type ReactNode, useContext, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { t } from "@lingui/core/macro";
import type { Citation } from "../../src/protocol/knowledge/citations.ts";
import { PageLink } from "../parts/page-link.tsx";
import type { Source } from "../../src/protocol/knowledge/sources.ts";
import type { CitationMark } from "./cited-text.ts";

/** Of the text that is being shown. */
export const CitationMarks = createContext<readonly CitationMark[]>([]);

/** A mark of the text: what it rests on is said while one points at it or has come to it, and a click leads there. */
export function CitationChip({ at }: { readonly at: number }) {
  const mark = useContext(CitationMarks)[at];
  const own = useRef<HTMLSpanElement>(null);
  const [place, setPlace] = useState<PopoverPosition>();
  if (!mark) return null;
  const show = () => own.current && setPlace(placeBeside(own.current.getBoundingClientRect()));
  const hide = () => setPlace(undefined);
  return (
    <span
      ref={own}
      className="citation"
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={(event) => event.key === "Escape" && hide()}
    >
      {mark.citations.map((citation, index) => (
        <SourceLink
          key={index}
          source={citation.source}
          look={`citation-chip ${isMissing(citation) ? "text-warn" : ""}`}
        >
          <span className="sr-only">{t`Source: ${{ title: citation.source.title }}`} </span>
          {citation.number}
          {isMissing(citation) && (
            <>
              <span aria-hidden>!</span>
              <span className="sr-only"> {t`quote not found in the source`}</span>
            </>
          )}
        </SourceLink>
      ))}
      {place &&
        createPortal(
          <span role="tooltip" className="citation-note" style={place}>
            {mark.citations.map((citation, index) => (
              <span key={index} className="block">
                <CitationText citation={citation} />
              </span>
            ))}
          </span>,
          document.body,
        )}
    </span>
  );
}

type PopoverPosition = { readonly left: number; readonly top?: number; readonly bottom?: number };

/** Below it, or above where there is no room; a turn would cut off what sticks out of it. */
function placeBeside({ left, top, bottom }: DOMRect): PopoverPosition {
  const [widest, highest] = [368, 200];
  const across = Math.max(8, Math.min(left - 40, innerWidth - widest - 8));
  return bottom + highest > innerHeight
    ? { left: across, bottom: innerHeight - top + 4 }
    : { left: across, top: bottom + 4 };
}

function CitationText({ citation: { source, quote, found } }: { readonly citation: Citation }) {
  return (
    <>
      <span dir="auto" className="block font-semibold">
        {source.title}
      </span>
      <span className="block text-muted">{sourceLocation(source)}</span>
      {quote !== undefined && (
        <span dir="auto" className="block">
          “{quote.slice(0, 300)}”
        </span>
      )}
      {found !== undefined && (
        <span className={`block ${found ? "text-ok" : "text-warn"}`}>
          <span aria-hidden>{found ? "✓" : "▲"}</span>{" "}
          {found ? t`quote found in the source` : t`quote not found in the source`}
        </span>
      )}
    </>
  );
}

function isMissing({ found }: Citation): boolean {
  return found === false;
}

/** Once each: what an answer rests on, or what a tool has found. */
export function SourceList({
  sources,
}: {
  readonly sources: readonly { readonly number: number; readonly source: Source }[];
}) {
  const [isWhole, setWhole] = useState(false);
  if (sources.length === 0) return null;
  return (
    <ol className="source-list" aria-label={t`Sources`}>
      {sources.slice(0, isWhole ? undefined : shownSources).map(({ number, source }) => (
        <li key={`${number} ${source.url ?? source.documentId ?? source.title}`} className="flex gap-2">
          <span className="text-muted">[{number}]</span>
          <span className="min-w-0">
            <SourceLink source={source} look="text-accent underline break-words">
              <bdi>{source.title}</bdi>
            </SourceLink>
            <span className="text-muted"> {sourceLocation(source)}</span>
          </span>
        </li>
      ))}
      {!isWhole && sources.length > shownSources && (
        <li>
          <button type="button" className="button" onClick={() => setWhole(true)}>
            {t`Show all ${{ count: sources.length }}`}
          </button>
        </li>
      )}
    </ol>
  );
}

const shownSources = 8;

/** Of the citations of an answer, in the order of their numbers. */
export function sourcesOf(
  citations: readonly Citation[],
): readonly { readonly number: number; readonly source: Source }[] {
  const seen = new Map<string, { readonly number: number; readonly source: Source }>();
  for (const { number, source } of citations) {
    const key = `${number} ${source.url ?? source.documentId ?? source.title}`;
    if (!seen.has(key)) seen.set(key, { number, source });
  }
  return [...seen.values()].sort((one, other) => one.number - other.number);
}

function sourceLocation({ url, page, headings, published }: Source): string {
  return [
    page === undefined ? undefined : t`page ${page}`,
    headings?.join(" › "),
    url === undefined ? undefined : hostOf(url),
    published?.slice(0, 10),
  ]
    .filter((part) => part !== undefined && part !== "")
    .join(" · ");
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

type SourceLinkProps = { readonly source: Source; readonly look: string; readonly children: ReactNode };

/** A document opens at its passage, in the page itself; what is on the web in a tab of its own. */
function SourceLink({
  source: { url, collectionId, documentId, charStart, charEnd },
  look,
  children,
}: SourceLinkProps) {
  if (url !== undefined && /^https?:/i.test(url))
    return (
      <a className={look} href={url} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    );
  if (collectionId === undefined || documentId === undefined) return <span className={look}>{children}</span>;
  const place = new URLSearchParams({ document: documentId });
  if (charStart !== undefined) place.set("from", String(charStart));
  if (charEnd !== undefined) place.set("to", String(charEnd));
  return (
    <PageLink to={`/knowledge/${encodeURIComponent(collectionId)}?${place}`} look={look}>
      {children}
    </PageLink>
  );
}
