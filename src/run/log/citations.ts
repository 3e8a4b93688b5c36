import { setImmediate } from "node:timers/promises";
import type { Caller } from "../../protocol/base/callers.ts";
import type { Citation } from "../../protocol/knowledge/citations.ts";
import { type Item, type NewItem, textOf } from "../../protocol/threads/items.ts";
import type { Source } from "../../protocol/knowledge/sources.ts";

/** All of the text that a source is a part of; undefined: it is not at hand, or nothing that the caller may read. */
export type SourceText = (caller: Caller, source: Source) => Promise<string | undefined>;
type ReadSource = (source: Source) => Promise<string | undefined>;

/** Citations per answer. */
const maxCitations = 100;
/** Characters that count as a quotation; fewer may be a name or an emphasis. */
const [shortestQuote, longestQuote] = [12, 1000];
/** Parts of a quotation with omissions; each part has at least a quotation's minimum length. */
const maxParts = 10;
/** Characters between two parts: what stands further apart is no quotation. */
const longestGap = 2000;
/** Full texts compared per answer; each is normalised once. */
const maxWholeTexts = 5;
/** Characters that are made comparable before others have their turn. */
const atOnce = 200_000;

const marks = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g;
const code = /```[\s\S]*?(?:```|$)|`[^`\n]+`/g;
/** Ends right before a mark, but for blanks and what closes a sentence or an emphasis. */
const quoteBefore = new RegExp(`[“"„«]([^“”"„«»]{${shortestQuote},${longestQuote}})[”"“»][\\s.,;:!?)*_]*$`);

/**
 * Finds what an answer cites of the sources in the run's results. A quotation before a mark is searched for in the source, first in
 * the part that the model was shown.
 */
export async function citationsOf(
  text: string,
  results: readonly Item[],
  readSource: ReadSource,
): Promise<readonly Citation[]> {
  const lists = results.flatMap((item) => (item.kind === "result" && item.body.sources ? [item.body.sources] : []));
  if (lists.length === 0) return [];
  const plain = text.replaceAll(code, (found) => " ".repeat(found.length));
  const citations: Citation[] = [];
  const wholeText = wholeTexts(readSource);
  for (const match of plain.matchAll(marks)) {
    const [start, end] = [match.index, match.index + match[0].length];
    const quote = quoteBefore.exec(plain.slice(Math.max(0, start - longestQuote - 50), start))?.[1];
    for (const number of match[1]!.split(",").map(Number)) {
      if (citations.length >= maxCitations) return citations;
      const cited = await sourceOf(lists, { number, quote, wholeText });
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
  readSource: ReadSource,
): Promise<readonly NewItem[]> {
  const all: NewItem[] = [];
  for (const item of items) {
    const citations = item.kind === "message" ? await citationsOf(textOf(item.body.content), ofRun, readSource) : [];
    all.push(item.kind === "message" && citations.length > 0 ? { ...item, body: { ...item.body, citations } } : item);
  }
  return all;
}

/** The comparable text of a source's document, of some documents. */
function wholeTexts(readSource: ReadSource): ReadSource {
  const texts = new Map<string, string | undefined>();
  return async (source) => {
    const { documentId } = source;
    if (documentId === undefined) return undefined;
    if (!texts.has(documentId) && texts.size < maxWholeTexts) {
      const text = await readSource(source);
      texts.set(documentId, text === undefined ? undefined : await comparableInTurns(text));
    }
    return texts.get(documentId);
  };
}

/** Numbers begin anew in each result: of several that have this one, the source with the quotation, else the latest. */
async function sourceOf(
  lists: readonly (readonly Source[])[],
  {
    number,
    quote,
    wholeText,
  }: { readonly number: number; readonly quote: string | undefined; readonly wholeText: ReadSource },
): Promise<{ readonly source: Source; readonly found: boolean } | undefined> {
  const named = lists.flatMap((list) => list[number - 1] ?? []).toReversed();
  const [latest] = named;
  if (!latest) return undefined;
  if (quote === undefined) return { source: latest, found: false };
  const shown = named.find(({ snippet = "" }) => holdsQuote(snippet, quote));
  if (shown) return { source: shown, found: true };
  for (const source of named) {
    const whole = await wholeText(source);
    if (whole !== undefined && standsIn(whole, quote)) return { source, found: true };
  }
  return { source: latest, found: false };
}

/** Word for word; blanks, the kind of quotation marks and dashes, case and emphasis do not count. What is left out, by dots, may be anything short. */
export function holdsQuote(text: string, quote: string): boolean {
  return standsIn(comparable(text), quote);
}

/** In a text that is comparable already. */
function standsIn(whole: string, quote: string): boolean {
  const split = quote.split(/(?:\s*\[?(?:…|\.{3,})\]?)+\s*/).map(comparable);
  const parts = split.filter((part, index) => part !== "" || (index > 0 && index < split.length - 1));
  const isTooShort = (part: string) => split.length > 1 && part.length < shortestQuote;
  if (parts.length === 0 || parts.length > maxParts || parts.some(isTooShort)) return false;
  // Where it may go on: behind each place at which all of it so far ends.
  let ends: readonly number[] | undefined;
  for (const part of parts) {
    const wanted = part.replace(/(?<![.,;:!?])[.,;:!?]+$/, "");
    if (wanted === "") return false;
    const next = placesBehind(whole, wanted, ends);
    if (next.length === 0) return false;
    ends = next;
  }
  return true;
}

/** The ends of a text's places, each close behind one of the given ends. */
function placesBehind(whole: string, wanted: string, ends: readonly number[] | undefined): readonly number[] {
  const places: number[] = [];
  const last = (ends?.at(-1) ?? Infinity) + longestGap;
  let before = 0;
  let at = whole.indexOf(wanted, ends?.[0] ?? 0);
  for (; at >= 0 && at <= last; at = whole.indexOf(wanted, at + wanted.length)) {
    while (ends && before + 1 < ends.length && ends[before + 1]! <= at) before++;
    if (!ends || at - ends[before]! <= longestGap) places.push(at + wanted.length);
  }
  return places;
}

/** A long text, without keeping others waiting. */
async function comparableInTurns(text: string): Promise<string> {
  let whole = "";
  for (let from = 0; from < text.length; await setImmediate()) {
    let to = from + atOnce;
    // At a blank, if one is near.
    while (to < text.length && to < from + atOnce + 1000 && !/\s/.test(text[to]!)) to++;
    const isBlank = to < text.length && /\s/.test(text[to]!);
    whole += comparable(text.slice(from, to)) + (isBlank ? " " : "");
    from = isBlank ? to + 1 : to;
  }
  return whole;
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
