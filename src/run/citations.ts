import type { Citation } from "../protocol/citations.ts";
import { type Item, type NewItem, textOf } from "../protocol/items.ts";
import type { Source } from "../protocol/sources.ts";

/** All of the text that a source is a part of; undefined: it is not at hand. */
export type SourceText = (source: Source) => Promise<string | undefined>;

/** Of one answer. */
const mostCitations = 100;
/** Characters that count as a quotation; fewer may be a name or an emphasis. */
const [shortestQuote, longestQuote] = [12, 1000];

const marks = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g;
const code = /```[\s\S]*?(?:```|$)|`[^`\n]+`/g;
/** Ends right before a mark, but for blanks and what closes a sentence or an emphasis. */
const quoteBefore = new RegExp(`[“"„«]([^“”"„«»]{${shortestQuote},${longestQuote}})[”"“»][\\s.,;:!?)*_]*$`);

/**
 * What an answer cites of the sources that the run's results brought. A quotation before a mark is looked for in the source, first in
 * what the model was shown of it.
 */
export async function citationsOf(
  text: string,
  results: readonly Item[],
  sourceText: SourceText,
): Promise<readonly Citation[]> {
  const lists = results.flatMap((item) => (item.kind === "result" && item.body.sources ? [item.body.sources] : []));
  if (lists.length === 0) return [];
  const plain = text.replaceAll(code, (found) => " ".repeat(found.length));
  const citations: Citation[] = [];
  for (const match of plain.matchAll(marks)) {
    const [start, end] = [match.index, match.index + match[0].length];
    const quote = quoteBefore.exec(plain.slice(Math.max(0, start - longestQuote - 50), start))?.[1];
    for (const number of match[1]!.split(",").map(Number)) {
      if (citations.length >= mostCitations) return citations;
      const cited = await sourceOf(lists, { number, quote, sourceText });
      if (!cited) continue;
      const { snippet: _, ...source } = cited.source;
      const checked = quote === undefined ? {} : { quote, found: cited.found };
      citations.push({ source, number, start, end, ...checked });
    }
  }
  return citations;
}

/** The answer's message with what it cites. */
export async function withCitations(
  items: readonly NewItem[],
  ofRun: readonly Item[],
  sourceText: SourceText,
): Promise<readonly NewItem[]> {
  const all: NewItem[] = [];
  for (const item of items) {
    const citations = item.kind === "message" ? await citationsOf(textOf(item.body.content), ofRun, sourceText) : [];
    all.push(item.kind === "message" && citations.length > 0 ? { ...item, body: { ...item.body, citations } } : item);
  }
  return all;
}

/** Numbers begin anew in each result: of several that have this one, the source with the quotation, else the latest. */
async function sourceOf(
  lists: readonly (readonly Source[])[],
  {
    number,
    quote,
    sourceText,
  }: { readonly number: number; readonly quote: string | undefined; readonly sourceText: SourceText },
): Promise<{ readonly source: Source; readonly found: boolean } | undefined> {
  const named = lists.flatMap((list) => list[number - 1] ?? []).toReversed();
  const [latest] = named;
  if (!latest) return undefined;
  if (quote === undefined) return { source: latest, found: false };
  const shown = named.find(({ snippet = "" }) => holdsQuote(snippet, quote));
  if (shown) return { source: shown, found: true };
  for (const source of named) {
    const whole = await sourceText(source);
    if (whole !== undefined && holdsQuote(whole, quote)) return { source, found: true };
  }
  return { source: latest, found: false };
}

/** Word for word; blanks, the kind of quotation marks and dashes, case and emphasis do not count. What is left out, by dots, may be anything. */
export function holdsQuote(text: string, quote: string): boolean {
  const whole = comparable(text);
  let from = 0;
  for (const part of quote.split(/\s*(?:\[?(?:…|\.\.\.)\]?)\s*/)) {
    const wanted = comparable(part).replace(/[.,;:!?]+$/, "");
    const at = whole.indexOf(wanted, from);
    if (at < 0) return false;
    from = at + wanted.length;
  }
  return true;
}

function comparable(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/[“”„«»]/g, '"')
    .replaceAll(/[‘’‚]/g, "'")
    .replaceAll(/[‐‑‒–—―]/g, "-")
    .replaceAll(/[*_`]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
