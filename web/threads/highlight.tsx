import { Fragment } from "react";
import { markedPieces } from "./marked-pieces.ts";

type FoundWordsProps = { readonly text: string; readonly search: string; readonly fromFirst?: boolean };

/** A text in which what was searched for is marked; `fromFirst`: from shortly before the first of them, for a short line. */
export function FoundWords({ text, search, fromFirst = false }: FoundWordsProps) {
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
