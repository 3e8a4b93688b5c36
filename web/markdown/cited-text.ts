import type { Citation } from "../../src/protocol/knowledge/citations.ts";

/** What stands in one mark: `[1]`, or `[1, 2]`. */
export type CitationMark = { readonly text: string; readonly citations: readonly Citation[] };
export type MarkedText = { readonly text: string; readonly marks: readonly CitationMark[] };

/** The same for all texts, so that what shows them is not asked again. */
const noMarks: readonly CitationMark[] = [];
const [begins, ends] = ["\uE000", "\uE001"];

/** The text with each mark as a sign that Markdown leaves alone; what is made of it finds the mark again by its number. */
export function withMarks(text: string, citations: readonly Citation[] | undefined): MarkedText {
  if (!citations || citations.length === 0) return { text, marks: noMarks };
  const marks: CitationMark[] = [];
  let marked = "";
  let from = 0;
  for (const [start, end, ofMark] of byPlace(citations, text.length)) {
    if (start < from) continue;
    marked += plain(text.slice(from, start)) + begins + marks.length + ends;
    marks.push({ text: text.slice(start, end), citations: ofMark });
    from = end;
  }
  return { text: marked + plain(text.slice(from)), marks };
}

/** What a text consists of: words, and numbers of marks. */
export function splitAtMarks(text: string): readonly (string | number)[] {
  if (!text.includes(begins)) return [text];
  return text.split(/\uE000(\d+)\uE001/).flatMap((part, at) => (at % 2 === 1 ? Number(part) : part === "" ? [] : part));
}

function plain(text: string): string {
  return text.replaceAll(/[\uE000\uE001]/g, "");
}

function byPlace(citations: readonly Citation[], length: number): readonly (readonly [number, number, Citation[]])[] {
  const places = new Map<string, [number, number, Citation[]]>();
  for (const citation of citations) {
    const { start, end } = citation;
    if (!(start >= 0 && start < end && end <= length)) continue;
    const known = places.get(`${start}-${end}`);
    if (known) known[2].push(citation);
    else places.set(`${start}-${end}`, [start, end, [citation]]);
  }
  return [...places.values()].sort(([one], [other]) => one - other);
}
