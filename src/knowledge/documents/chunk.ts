import type { Chunk } from "../../protocol/knowledge/chunks.ts";
import { countTokens, maxWeight, tokenWeight, weigh, weightAt } from "./count-tokens.ts";
import { type ParsedSection, shortened } from "../parse/parsed.ts";

export type ChunkOptions = {
  /** Tokens of a chunk at most. */
  readonly size: number;
  /** Tokens of the chunk before that a chunk begins with, at most. */
  readonly overlap: number;
};

/** Where a section begins. */
type SectionStart = { readonly at: number; readonly page?: number; readonly headings: readonly string[] };
type TextSpan = { readonly start: number; readonly end: number };
type WeightedSpan = TextSpan & { readonly weight: number };

const gap = "\n\n";
const deepestHeading = 6;
/** Every chunk has the headings above it: what is longer would be there as often. */
const [maxHeadings, longestHeading] = [20, 200];
/** A piece of less than such a part of the limit says too little by itself. */
const smallPart = 4;
/** In a line that is longer no reader would look for sentences. */
const longestLine = 50_000;
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Joins sections to the stored form of a document: one text, and where its sections begin. */
export function joinSections(sections: readonly ParsedSection[]): {
  readonly text: string;
  readonly marks: readonly SectionStart[];
} {
  const marks: SectionStart[] = [];
  const parts: string[] = [];
  let at = 0;
  for (const { text, page, headings: path = [] } of sections) {
    const headings = path.slice(0, maxHeadings).map((each) => shortened(each, longestHeading));
    marks.push({ at, headings, ...(page !== undefined && { page }) });
    // Databases take neither; what stands for them is as long, so that places stay the same.
    const plain = text.toWellFormed().replaceAll("\0", "\ufffd");
    parts.push(plain);
    at += plain.length + gap.length;
  }
  return { text: parts.join(gap), marks };
}

/**
 * Cuts a text where a reader would: between pages always; then, where it is still too long, before headings, the highest
 * first; between paragraphs, but not within fenced code; lines; sentences; words; at last anywhere. What fits together is put
 * together again. All of the text but blanks is in some chunk, and none is longer than the size.
 */
export function chunkText(text: string, marks: readonly SectionStart[], { size, overlap }: ChunkOptions): Chunk[] {
  const most = size * tokenWeight;
  const cutters = cuttersOf(text, marks);
  const chunks: Chunk[] = [];
  for (const page of pagesOf(marks, text.length)) {
    const whole = { ...page, weight: weigh(text, page.start, page.end) };
    const pieces = whole.weight <= most ? [whole] : cut(whole, most - overlap * tokenWeight);
    for (const [index, piece] of pieces.entries()) {
      const core = trimmed(text, piece);
      if (core.start === core.end) continue;
      const before = pieces[index - 1];
      const from = before && overlap > 0 ? overlapStart(text, before, overlap * tokenWeight) : core.start;
      const { start, end } = trimmed(text, { start: from, end: core.end });
      const mark = markAt(marks, core.start);
      chunks.push({
        ordinal: chunks.length,
        charStart: start,
        charEnd: end,
        ...(mark?.page !== undefined && { page: mark.page }),
        headingPath: mark?.headings ?? [],
        text: text.slice(start, end),
        tokens: countTokens(text, start, end),
      });
    }
  }
  return chunks;

  function cut(piece: WeightedSpan, limit: number, level = 0): readonly WeightedSpan[] {
    if (piece.weight <= limit) return [piece];
    const places = cutters[level]!(piece, limit);
    if (places.length === 0) return cut(piece, limit, level + 1);
    const pieces: WeightedSpan[] = [];
    let { start } = piece;
    for (const end of [...places, piece.end]) {
      const weight = weigh(text, start, end);
      const last = pieces.at(-1);
      // A heading, or what leads into something long, belongs to its beginning.
      if (last && (last.weight + weight <= limit || (weight > limit && last.weight < limit / smallPart)))
        pieces[pieces.length - 1] = { start: last.start, end, weight: last.weight + weight };
      else pieces.push({ start, end, weight });
      start = end;
    }
    return withoutSmall(
      pieces.flatMap((each) => cut(each, limit, level + 1)),
      limit,
    );
  }
}

/** Merges small pieces with the next one, else with the previous one, if they fit. */
function withoutSmall(pieces: readonly WeightedSpan[], limit: number): readonly WeightedSpan[] {
  const kept: WeightedSpan[] = [];
  for (const piece of pieces) {
    const last = kept.at(-1);
    const isSmall = Math.min(last?.weight ?? limit, piece.weight) < limit / smallPart;
    if (last && isSmall && last.weight + piece.weight <= limit)
      kept[kept.length - 1] = { start: last.start, end: piece.end, weight: last.weight + piece.weight };
    else kept.push(piece);
  }
  return kept;
}

/** Finds where a piece may be cut: places within it, in order. The last one always makes pieces that are light enough. */
type Cutter = (piece: TextSpan, limit: number) => readonly number[];

function cuttersOf(text: string, marks: readonly SectionStart[]): readonly Cutter[] {
  const fences = fencesIn(text);
  const headings = Array.from({ length: deepestHeading }, (_, level): Cutter => ({ start, end }) => {
    const places: number[] = [];
    for (let index = marksUntil(marks, start); index < marks.length && marks[index]!.at < end; index++)
      if (marks[index]!.headings.length <= level + 1) places.push(marks[index]!.at);
    return places;
  });
  return [
    ...headings,
    ({ start, end }) => endsOf(text, /\n[ \t]*\n\s*/g, { start, end }).filter((place) => !isWithin(fences, place)),
    (piece) => endsOf(text, /\n+/g, piece),
    ({ start, end }) => {
      if (end - start > longestLine) return [];
      const places = Array.from(sentences.segment(text.slice(start, end)), ({ index }) => start + index);
      return places.slice(1);
    },
    (piece) => endsOf(text, /\s+/g, piece),
    ({ start, end }, limit) => {
      const places: number[] = [];
      const step = Math.max(2, Math.floor(limit / maxWeight) - 1);
      for (let place = start + step; place < end; place += step)
        places.push(isLowSurrogate(text, place) ? place - 1 : place);
      return places;
    },
  ];
}

/** The places behind what fits a pattern. */
function endsOf(text: string, pattern: RegExp, { start, end }: TextSpan): number[] {
  // In a slice, or a search would go on far behind its end.
  const places = Array.from(text.slice(start, end).matchAll(pattern), (match) => start + match.index + match[0].length);
  return places.filter((place) => place < end);
}

/** The end of a piece as far as it may be repeated, from the beginning of a sentence or line, else of a word. */
function overlapStart(text: string, { start, end }: TextSpan, most: number): number {
  let from = end;
  for (let weight = 0; from > start; from--) {
    weight += weightAt(text, from - 1);
    if (weight > most) break;
  }
  const kept = { start: from, end };
  return endsOf(text, /[.!?]["')\]]*\s+|\n\s*/g, kept)[0] ?? endsOf(text, /\s+/g, kept)[0] ?? end;
}

/** Returns the spans of pages; a text without pages is one span. */
function pagesOf(marks: readonly SectionStart[], length: number): readonly TextSpan[] {
  const starts = marks.filter(({ at, page }, index) => at > 0 && page !== marks[index - 1]?.page).map(({ at }) => at);
  return [0, ...starts].map((start, index) => ({ start, end: starts[index] ?? length }));
}

/** Returns the spans of fenced code, including its fences; a fence without an end is ignored. */
function fencesIn(text: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  let open: { readonly mark: string; readonly start: number } | undefined;
  for (const match of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    const mark = match[1]!;
    if (!open) open = { mark, start: match.index };
    else if (mark[0] === open.mark[0] && mark.length >= open.mark.length) {
      spans.push({ start: open.start, end: match.index + match[0].length });
      open = undefined;
    }
  }
  return spans;
}

function isWithin(spans: readonly TextSpan[], place: number): boolean {
  const before = spans[firstWhere(spans.length, (index) => spans[index]!.start >= place) - 1];
  return before !== undefined && place < before.end;
}

/** How many begin at a place or before it. */
function marksUntil(marks: readonly SectionStart[], place: number): number {
  return firstWhere(marks.length, (index) => marks[index]!.at > place);
}

function markAt(marks: readonly SectionStart[], place: number): SectionStart | undefined {
  return marks[marksUntil(marks, place) - 1];
}

/** The first of so many for which it holds, which it then does for all behind it. */
function firstWhere(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function trimmed(text: string, { start, end }: TextSpan): TextSpan {
  let [from, to] = [start, end];
  while (from < to && /\s/.test(text[from]!)) from++;
  while (to > from && /\s/.test(text[to - 1]!)) to--;
  return { start: from, end: to };
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code < 0xe000;
}
