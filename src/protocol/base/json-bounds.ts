import { InvalidInput } from "./errors.ts";

/** What one JSON text may hold. */
export type JsonBounds = {
  readonly depth: number;
  /** Of all its objects. */
  readonly keys: number;
  /** Of all its arrays. */
  readonly elements: number;
  /** Of one array that stands directly in the object which the text is, as messages do. */
  readonly listed: number;
};

/** Far more than most requests have. Deeper, the recursion of whoever reads it could overflow. */
export const defaultJsonBounds: JsonBounds = { depth: 200, keys: 10_000, elements: 10_000, listed: 5000 };

/** A chat of a million tokens with hundreds of tools has some 20,000 keys. */
export const longChatJsonBounds: JsonBounds = { depth: 200, keys: 30_000, elements: 50_000, listed: 5000 };

/** Of a number, and of what else is no string: no double has 400 digits, and no integer that anybody reckons with 1,000. */
const longestWord = 1000;

/** Of a string, before the rest is left to a search that costs more to begin than to go on. */
const fewBytes = 24;

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** By byte: whether it may be passed over outside of strings. */
const isPlain = new Uint8Array(256).fill(1);
for (const byte of [quote, comma, colon, openArray, closeArray, openObject, closeObject]) isPlain[byte] = 0;

/**
 * Counts the levels, keys and elements of a JSON text before anything is made of it: a megabyte of keys costs seconds in
 * `JSON.parse` and in a schema, during which nobody else is served. Throws InvalidInput with the bound that is exceeded.
 * What is not JSON may pass: the parser refuses it, at the latest where the counting was misled.
 */
export function checkJsonBounds(bytes: Uint8Array, bounds?: JsonBounds): void {
  createJsonCount(bounds)(bytes);
}

/** The same for a text that comes in pieces: each is looked at as it comes, so that no turn is left for all of it. */
export function createJsonCount(bounds: JsonBounds = defaultJsonBounds): (piece: Uint8Array) => void {
  const { depth: deepest, keys: maxKeys, elements: maxElements, listed: maxListed } = bounds;
  let depth = 0;
  let keys = 0;
  let elements = 0;
  let listed = 0;
  /** By depth: whether that level is an array. */
  const isArray = new Uint8Array(deepest + 2);
  /** Where the last piece ended: in a string, behind a backslash, and so far into a word. */
  const left = { inString: false, escaped: false, word: 0 };
  const countElement = () => {
    if (++elements > maxElements) throw tooMany(maxElements, "elements in its arrays");
    if (depth === 2 && ++listed > maxListed)
      throw tooMany(maxListed, "elements in one of its lists", ", or of a long conversation its newest messages");
  };
  return (bytes) => {
    const { length } = bytes;
    let from = left.inString ? endOfString(bytes, left.escaped ? 1 : 0, left) + 1 : 0;
    for (let at = nextMark(bytes, from); ; at = nextMark(bytes, from)) {
      if (at - from + left.word > longestWord) checkWords(bytes, { from, to: at, word: left.word });
      if (at >= length) {
        left.word = wordBefore(bytes, { from, to: at, word: left.word });
        return;
      }
      left.word = 0;
      from = at + 1;
      const byte = bytes[at];
      if (byte === quote) from = endOfString(bytes, from, left) + 1;
      else if (byte === colon) {
        if (++keys > maxKeys) throw tooMany(maxKeys, "keys in its objects");
      } else if (byte === comma) {
        if (isArray[depth] === 1) countElement();
      } else if (byte === openArray || byte === openObject) {
        if (++depth > deepest) throw tooDeep(deepest);
        isArray[depth] = byte === openArray ? 1 : 0;
        if (depth === 2) listed = 0;
        // No comma stands before the first element; an empty array counts as one too, since it costs as much.
        if (byte === openArray) countElement();
      } else depth--;
    }
  };
}

/** What stands between two marks, with so much of a word before it. */
type Run = { readonly from: number; readonly to: number; readonly word: number };

/** Refuses what is too long between two marks, and no white space. */
function checkWords(bytes: Uint8Array, { from, to, word }: Run): void {
  let begun = from - word;
  for (let at = from; at < to; at++) {
    if (bytes[at]! <= space) begun = at + 1;
    else if (at - begun >= longestWord)
      throw new InvalidInput(`The body has a number of more than ${longestWord} signs. Send it as a string.`, {
        code: "body_too_complex",
        status: 413,
      });
  }
}

/** How long the word is that reaches the end. */
function wordBefore(bytes: Uint8Array, { from, to, word }: Run): number {
  let begin = to;
  while (begin > from && bytes[begin - 1]! > space) begin--;
  return Math.max(0, to - begin) + (begin <= from ? word : 0);
}

/** Where the next byte is that is none of a number, a literal or white space. */
function nextMark(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length && isPlain[bytes[at]!] === 1) at++;
  return at;
}

/** Where the quote is that ends the string whose text begins at `from`; the length if it is in another piece. */
function endOfString(bytes: Uint8Array, from: number, left: { inString: boolean; escaped: boolean }): number {
  const { length } = bytes;
  let at = from;
  left.inString = false;
  for (;;) {
    const near = Math.min(length, at + fewBytes);
    for (; at < near; at++) {
      const byte = bytes[at];
      if (byte === quote) return at;
      if (byte === backslash) at++;
    }
    const found = at >= length ? -1 : bytes.indexOf(quote, at);
    const end = found === -1 ? length : found;
    let slashes = 0;
    while (end - slashes > at && bytes[end - slashes - 1] === backslash) slashes++;
    if (found === -1) {
      left.inString = true;
      left.escaped = at > length || slashes % 2 === 1;
      return length;
    }
    if (slashes % 2 === 0) return found;
    at = found + 1;
  }
}

function tooMany(most: number, what: string, instead = ""): InvalidInput {
  return new InvalidInput(`The body has more than ${most} ${what}. Send it in several requests${instead}.`, {
    code: "body_too_complex",
    status: 413,
  });
}

function tooDeep(deepest: number): InvalidInput {
  return new InvalidInput(`The body's arrays and objects stand in one another more than ${deepest} deep.`, {
    code: "body_too_deep",
  });
}
