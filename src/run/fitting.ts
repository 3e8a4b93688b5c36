import { estimate } from "./estimate.ts";
import { shortened } from "./shortened.ts";

/** Of what there is room for: an estimate may be wrong by the rest. */
const safe = 0.9;

/** A text, or as much of its beginning as these tokens hold. */
export function fitting(text: string, tokens: number): string {
  const needs = estimate(text);
  const most = Math.max(0, tokens * safe);
  return needs <= most ? text : shortened(text, Math.floor((text.length * most) / needs));
}

/** As many of the last of these texts as these tokens hold, the very last in any case; a line tells of the others. */
export function lastFitting(texts: readonly string[], tokens: number): readonly string[] {
  const last = texts.slice(-1).map((text) => fitting(text, tokens));
  let left = tokens * safe - estimate(last.join(""));
  let first = Math.max(0, texts.length - 1);
  while (first > 0 && (left -= estimate(texts[first - 1]!) + 1) >= 0) first--;
  const told = [...texts.slice(first, -1), ...last];
  return first === 0 ? told : [`[${first} earlier lines are left out: there is no room for them]`, ...told];
}
