import type { Phrases } from "./auto-phrases.ts";

/** Made when one is first looked for: together they take longer than all else that a start loads. */
const patterns = new Map<Phrases, RegExp>();

/** Returns the pattern that finds any of the phrases in a text in lower case. */
export function patternOf(phrases: Phrases | RegExp): RegExp {
  if (phrases instanceof RegExp) return phrases;
  const pattern = patterns.get(phrases) ?? new RegExp(sourceOf(phrases), "gu");
  patterns.set(phrases, pattern);
  return pattern;
}

export function sourceOf(phrases: Phrases): string {
  return phrases
    .flatMap((list) => list.split(", "))
    .map(phraseSource)
    .join("|");
}

function phraseSource(phrase: string): string {
  const pattern = phrase.replaceAll(
    /[*… ]/g,
    (sign) => ({ "*": "[\\p{L}\\p{M}]*", "…": "[^\\n.;!?]{0,60}?", " ": "\\s+" })[sign]!,
  );
  // Chinese has no space between words.
  const before = /^\(?\p{Script=Han}/u.test(phrase) ? "" : "(?<![\\p{L}\\p{N}_])";
  const after = /([*…]|\p{Script=Han}\)?\??)$/u.test(phrase) ? "" : "(?![\\p{L}\\p{N}_])";
  return `${before}(?:${pattern})${after}`;
}
