import type { TextPart } from "../../src/protocol/knowledge/documents.ts";

/** In UTF-16 units of a text, the end exclusive. */
export type PassagePlace = { readonly from: number; readonly to: number };

/** Characters that are asked for at once, and that are shown at most. */
const windowSize = 16_000;
export const maxShown = 64_000;
const before = 3_000;
/** How far a line's beginning or end is looked for, so that no part begins within a word. */
const ragged = 2_000;

type TextRange = { readonly from: number; readonly to: number };

/** What is asked for first: around the passage, else the beginning. */
export function partsOf(passage: PassagePlace | undefined): TextRange {
  const from = Math.max(0, (passage?.from ?? 0) - before);
  return { from, to: from + windowSize };
}

export function partBefore({ from: end }: TextPart) {
  const from = Math.max(0, end - windowSize);
  return { from, to: end, keepFrom: end, keepTo: end };
}
export function partAfter({ to: begin }: TextPart) {
  return { from: begin, to: begin + windowSize, keepFrom: begin, keepTo: begin };
}

/** Cut to whole lines where that costs nothing of what must be kept. */
export function windowAround(part: TextPart, keep: PassagePlace | undefined): TextPart {
  const { from, to, characters, text } = part;
  let [begin, end] = [0, text.length];
  const line = text.indexOf("\n");
  if (from > 0 && line >= 0 && line < ragged && !(keep && from + line + 1 > keep.from)) begin = line + 1;
  const lastLine = text.lastIndexOf("\n");
  if (
    to < characters &&
    lastLine >= text.length - ragged &&
    lastLine >= begin &&
    !(keep && from + lastLine + 1 < keep.to)
  )
    end = lastLine + 1;
  return { ...part, from: from + begin, to: from + end, text: text.slice(begin, end) };
}
