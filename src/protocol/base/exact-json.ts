// JSON that keeps its numbers. `JSON.parse` makes doubles of them: 9007199254740993 becomes another number, 1e400 becomes
// null when it is written again, 1.0 becomes 1. Whatever carries the arguments of a call reads them here.

/** A number as it was written, which `JSON.stringify` writes so again. */
export type ExactNumber = { readonly rawJSON: string };

type ExactJson = {
  readonly rawJSON?: (text: string) => ExactNumber;
  readonly isRawJSON?: (value: unknown) => boolean;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown;
};
const json = JSON as ExactJson;

/**
 * Whether a text may hold a number that would be written differently again: 16 signs of it or more, a last 0 behind the
 * point, an exponent, -0, less than a millionth. What looks so within a string costs a moment and changes nothing.
 */
const unusual = /(?:^|[:[,])[ \t\n\r]*(?:-0(?![\d.])|-?(?:\d[\d.]{15}|[\d.]+[eE]|\d+\.\d*0(?![\d.])|0\.000000))/;

/** Whether `parseExactly` would take its longer way. */
export function mayHaveUnusualNumbers(text: string): boolean {
  return unusual.test(text);
}

/**
 * As `JSON.parse`, but a number that a double would not be written as again stays as it was written. A browser that can't
 * keep them reads doubles.
 */
export function parseExactly(text: string): unknown {
  const { rawJSON } = json;
  if (!rawJSON || !unusual.test(text)) return JSON.parse(text);
  return json.parse(text, (_, value, context) =>
    typeof value === "number" && context?.source !== undefined && context.source !== String(value)
      ? rawJSON(context.source)
      : value,
  );
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === "object" && value !== null && json.isRawJSON?.(value) === true;
}

/** An object with keys: no list, and no number that was kept as it was written. */
export function isJsonObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** The same with every number as a double; the value itself if they all are. */
export function toDoubles(value: unknown, doubleOf: (number: ExactNumber) => number = nearest): unknown {
  return hasExact(value) ? made(value, doubleOf) : value;
}

/** Where a double would be another number than the one that was written: its path and how it was written. */
export function inexactNumbers(value: unknown, path = ""): { readonly path: string; readonly written: string }[] {
  if (isExactNumber(value)) return fits(value) ? [] : [{ path, written: value.rawJSON }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => inexactNumbers(part, path === "" ? key : `${path}.${key}`));
}

/** The same text for the same JSON, whatever the order of its keys and however its numbers are written. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** How often a key stands in a value that code may take for the prototype of its object. */
export function prototypeKeys(value: unknown): number {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return 0;
  const own = Object.hasOwn(value, "__proto__") ? 1 : 0;
  return Object.values(value).reduce<number>((sum, part) => sum + prototypeKeys(part), own);
}

/** For checks alone: no number becomes infinite, and none but 0 becomes 0. */
function nearest({ rawJSON }: ExactNumber): number {
  const double = Number(rawJSON);
  if (!Number.isFinite(double)) return double < 0 ? -Number.MAX_VALUE : Number.MAX_VALUE;
  if (double === 0 && decimalOf(rawJSON) !== "0") return rawJSON.startsWith("-") ? -Number.MIN_VALUE : Number.MIN_VALUE;
  return double;
}

function hasExact(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isExactNumber(value) || Object.values(value).some(hasExact);
}

function made(value: unknown, doubleOf: (number: ExactNumber) => number): unknown {
  if (isExactNumber(value)) return doubleOf(value);
  if (Array.isArray(value)) return value.map((part) => made(part, doubleOf));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, made(part, doubleOf)]));
}

function fits({ rawJSON }: ExactNumber): boolean {
  const double = Number(rawJSON);
  return Number.isFinite(double) && decimalOf(rawJSON) === decimalOf(String(double));
}

function sorted(value: unknown): unknown {
  if (isExactNumber(value)) return fits(value) ? Number(value.rawJSON) : json.rawJSON!(decimalOf(value.rawJSON));
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, sorted(part)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Beyond it, to count is not worth its time. */
const longestPower = 15;

/** One way to write each number: its digits without outer zeros, as an integer, and a power of ten. */
function decimalOf(written: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    written,
  )!;
  const all = (whole + fraction).replace(/^0+/, "");
  // By hand: a pattern begins anew at each of many zeros.
  let end = all.length;
  while (all[end - 1] === "0") end--;
  const digits = all.slice(0, end);
  if (digits === "") return "0";
  if (power.length > longestPower) return written;
  const exponent = BigInt(power) - BigInt(fraction.length) + BigInt(all.length - digits.length);
  return `${sign}${digits}e${exponent}`;
}
