import { Fragment } from "react";
import { markedPieces } from "./search-matches.ts";

type HighlightedTextProps = { readonly text: string; readonly search: string; readonly fromFirst?: boolean };

/** A text in which what was searched for is marked; `fromFirst`: from shortly before the first of them, for a short line. */
export function HighlightedText({ text, search, fromFirst = false }: HighlightedTextProps) {
  return markedPieces(text, search, fromFirst).map(({ piece, isFound }, at) =>
    isFound ? (
      <mark key={at} className="found-word">
        {piece}
      </mark>
    ) : (
      <Fragment key={at}>{piece}</Fragment>
    ),
  );
}
