import { estimate } from "../log/estimate-tokens.ts";

/** Share of the room that is used: the estimate may be wrong by the rest. */
const safe = 0.9;
/** Share of the kept text that is taken from the beginning; the end often tells the outcome. */
const ofHead = 2 / 3;

/** A text, or as much of its beginning and its end as these tokens hold. */
export function fitting(text: string, tokens: number): string {
  return clipped(text, tokens * safe, (left) => `[${countText(left)} left out here]`);
}

/** As many of the last of these texts as these tokens hold, the very last in any case; a line tells of the others. */
export function lastFitting(texts: readonly string[], tokens: number): readonly string[] {
  const last = texts.slice(-1).map((text) => fitting(text, tokens));
  let left = tokens * safe - estimate(last.join(""));
  let first = Math.max(0, texts.length - 1);
  while (first > 0 && (left -= estimate(texts[first - 1]!) + 1) >= 0) first--;
  const told = [...texts.slice(first, -1), ...last];
  return first === 0 ? told : [`[${first} earlier lines omitted to save space]`, ...told];
}

/** The beginning and the end of a text that is too long for a prompt, and how much was left out between. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : headAndTail(text, most, (left) => `[${countText(left)} left out here]`);
}

/** Where there is less room than this, it is for the text itself. */
const leastForNote = 60;

/** Shortens a text to a number of tokens, with the given words for what was left out. Never returns nothing. */
export function clipped(text: string, tokens: number, words: (leftOut: number) => string): string {
  const needs = estimate(text);
  if (needs <= tokens) return text;
  const note = tokens < leastForNote ? () => "[…]" : words;
  const room = Math.max(0, tokens - estimate(note(text.length)));
  // The kept part may be in another script than most of the text.
  for (let most = Math.floor((text.length * room) / needs); ; most = Math.floor(most * 0.8)) {
    const kept = headAndTail(text, most, note);
    if (most < 8 || estimate(kept) <= tokens) return kept;
  }
}

function headAndTail(text: string, most: number, note: (leftOut: number) => string): string {
  const head = text.slice(0, Math.ceil(most * ofHead)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(most * (1 - ofHead))).toWellFormed();
  return [head, note(text.length - head.length - tail.length), tail].filter(Boolean).join("\n");
}

export function countText(characters: number): string {
  return `… ${characters.toLocaleString("en")} characters`;
}
