import { estimate } from "./estimate.ts";
import { shortened } from "./shortened.ts";

/** Of what there is room for: an estimate may be wrong by as much. */
const safe = 0.9;

/** A text, or as much of its beginning as these tokens hold. */
export function fitting(text: string, tokens: number): string {
  const needs = estimate(text);
  const most = Math.max(0, tokens * safe);
  return needs <= most ? text : shortened(text, Math.floor((text.length * most) / needs));
}

/** The last of these texts that these tokens hold, the very last in any case; a line says how many others there were. */
export function lastFitting(texts: readonly string[], tokens: number): readonly string[] {
  let left = tokens * safe;
  const first = 1 + texts.findLastIndex((text, at) => (left -= estimate(text) + 1) < 0 && at < texts.length - 1);
  if (first === 0) return texts.map((text) => fitting(text, tokens));
  const last = texts.slice(first).map((text) => fitting(text, tokens));
  return [`[left out for want of room: the ${first} before these]`, ...last];
}
