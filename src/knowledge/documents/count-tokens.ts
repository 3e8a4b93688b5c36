/** Estimates the tokens of a text, independent of the model. */
export function countTokens(text: string, start = 0, end = text.length): number {
  return Math.ceil(weigh(text, start, end) / tokenWeight);
}

export const tokenWeight = 4;

/**
 * Returns the weight of a text; `tokenWeight` is about one token. Latin letters and blanks weigh 1, digits and punctuation 2,
 * letters of other alphabets 2, Chinese, Japanese and Korean characters 4. Weights are additive.
 */
export function weigh(text: string, start: number, end: number): number {
  let weight = 0;
  for (let at = start; at < end; at++) weight += weightAt(text, at);
  return weight;
}

/** Maximum weight of one UTF-16 unit. */
export const maxWeight = 4;

export function weightAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return isPlain(code) ? 1 : 2;
  if (code < 0x370 || (code >= 0x2000 && code < 0x2070)) return 1;
  return code < 0x2e80 || (code >= 0xd800 && code < 0xe000) ? 2 : maxWeight;
}

/** Letters, the blank, and what hardly ever is a token of its own. */
function isPlain(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x20 ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x2c ||
    code === 0x2e ||
    code === 0x0a
  );
}
