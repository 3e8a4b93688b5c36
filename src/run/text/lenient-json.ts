import { jsonrepair } from "jsonrepair";
import { isJsonObject, parseExactly } from "../../protocol/base/exact-json.ts";

export type JsonObject = { readonly [key: string]: unknown };

/** An object found in a text. `open`: how many of its brackets the text never closes; `inString`: it ends in a string. */
export type FoundObject = {
  readonly value: JsonObject;
  readonly from: number;
  readonly to: number;
  readonly open: number;
  readonly inString: boolean;
};

/** More beginnings than this are not looked at: a text full of stray braces must not cost quadratic time. */
const attempts = 32;

/** No list, and no number that was kept as it was written. */
export const isObject: (value: unknown) => value is JsonObject = isJsonObject;

/** Its numbers as they were written, like those of all that is read here. */
export function strictJson(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a text that is meant as one JSON value, also with the faults models make: trailing commas, comments, single
 * or curly quotes, Python's literals and triple quotes, raw line breaks, brackets left open. Undefined: it is no such
 * value. Plain prose is not turned into a string: only what begins like an object, an array or a string counts.
 */
export function lenientJson(text: string): unknown {
  const strict = strictJson(text);
  if (strict !== undefined || !/^\s*[[{"'“]/.test(text)) return strict;
  try {
    return parseExactly(jsonrepair(scan(text, 0).clean));
  } catch {
    return undefined;
  }
}

/** The objects written in a text one after another, in order; the last may be cut off. Objects in objects are not listed. */
export function objectsIn(text: string): FoundObject[] {
  const found: FoundObject[] = [];
  let from = text.indexOf("{");
  for (let attempt = 0; from !== -1 && attempt < attempts; attempt++) {
    const { to, open, inString } = scan(text, from);
    const written = text.slice(from, to);
    // Prose has braces too: one that is never closed counts only if what follows begins like an object.
    const value = open === 0 || /^\{\s*(?:["'“]|\w+\s*:)/.test(written) ? lenientJson(written) : undefined;
    if (isObject(value)) found.push({ value, from, to, open, inString });
    // An object inside a cut-off object is a part of it, not a value of its own.
    if (isObject(value) && open > 0) break;
    from = text.indexOf("{", isObject(value) ? to : from + 1);
  }
  return found;
}

const closers: Readonly<Record<string, RegExp>> = { '"': /"/, "'": /'/, "“": /[”“"]/ };

/**
 * Follows the brackets from `from` to the one that closes the first, or to the end. `clean` is that text without what
 * stands between values and is no JSON at all: comments, escaped line breaks; and with triple-quoted strings as strings.
 */
function scan(text: string, from: number): { clean: string; to: number; open: number; inString: boolean } {
  const stack: string[] = [];
  let clean = "";
  // Looked up once: comments that never end must not cost quadratic time.
  const lastComment = text.lastIndexOf("*/");
  let at = from;
  while (at < text.length) {
    const character = text[at]!;
    const after = behindSkipped(text, at, lastComment);
    if (after !== at) {
      at = after;
    } else if (character in closers && beginsString(clean, character)) {
      const string = readString(text, at);
      clean += string.written;
      at = string.to;
      if (!string.closed) return { clean, to: at, open: stack.length, inString: true };
    } else {
      clean += character;
      at++;
      if (character === "{" || character === "[") stack.push(character === "{" ? "}" : "]");
      else if (character === "}" || character === "]") {
        // `}` where `]` was due closes both: a forgotten bracket must not make the rest of the text part of the object.
        const due = stack.lastIndexOf(character);
        if (due !== -1) stack.length = due;
        if (stack.length === 0) break;
      }
    }
  }
  return { clean, to: at, open: stack.length, inString: false };
}

/** Where a comment or an escaped line break ends that begins here; `lastComment`: where the last one ends. */
function behindSkipped(text: string, at: number, lastComment: number): number {
  const two = text.slice(at, at + 2);
  if (two === "\\n" || two === "\\r" || two === "\\t") return at + 2;
  if (two === "//" || two[0] === "#") {
    const end = text.indexOf("\n", at);
    return end === -1 ? text.length : end;
  }
  return two === "/*" && lastComment >= at + 2 ? text.indexOf("*/", at + 2) + 2 : at;
}

/** An apostrophe in an unquoted word begins no string. */
function beginsString(before: string, quote: string): boolean {
  if (quote !== "'") return true;
  let at = before.length - 1;
  while (at >= 0 && /\s/.test(before[at]!)) at--;
  return at < 0 || "{[,:(".includes(before[at]!);
}

/** A string from its opening quote. A quote closes it only where a string can end: models forget to escape inner ones. */
function readString(text: string, from: number): { written: string; to: number; closed: boolean } {
  const triple = /^("""|''')([^]*?)\1/.exec(
    text.slice(from, from + 3) === text[from]!.repeat(3) ? text.slice(from) : "",
  );
  if (triple) return { written: JSON.stringify(triple[2]), to: from + triple[0].length, closed: true };
  const closer = closers[text[from]!]!;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (closer.test(text[at]!) && /^\s*(?:[,:}\]]|\\n|#|\/[/*]|$)/.test(text.slice(at + 1, at + 64))) {
      return { written: text.slice(from, at + 1), to: at + 1, closed: true };
    }
  }
  return { written: text.slice(from), to: text.length, closed: false };
}
