import type { ApiDocument, Operation, Schema } from "./api-document.ts";

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
export type Dice = () => number;

export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export type FuzzedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer<ArrayBuffer>;
};

const texts = [
  ...["", "a", "\0", "a\0b", "\ud800", "\udc00x", "\u{1f4a9}".repeat(50), "é\u0301\u202e\ufeff", "a\r\nx-injected: 1"],
  ...["../../../etc/passwd", "..\\..\\x", "/", ".", "-1", "1e999", "NaN", "null", "true", "__proto__", "constructor"],
  ...["' or 1=1 --", "%", "%s", "{{x}}", "<script>alert(1)</script>", "$1", "2026-13-45T99:99:99Z", "9".repeat(30)],
  ...["x".repeat(300), "x".repeat(20_000), "http://127.0.0.1:1/", "http://[::1", "file:///etc/passwd", "*", "a,b;c=d"],
];
const others = [null, true, false, 0, -1, 1.5, 2 ** 53, 1e308, [], {}, [null], [[[]]], { a: { b: [1] } }];
/** Put in as they stand: no value of JavaScript is written so. */
const written = ["1e400", "-0", "9007199254740993", "1.0", "123456789".repeat(100), '"\\ud800"', '"\\u0000"'];
const types = [
  ...["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=b"],
  ...["application/octet-stream", "application/json; charset=utf-16", "application/xml", "application/jsonx", "/"],
];
const oddHeaders: readonly Readonly<Record<string, string>>[] = [
  ...["", "x".repeat(300), "a b", "é", "__proto__", "a,b"].map((value) => ({ "x-session-id": value })),
  ...["", "k", "x".repeat(300), "é"].map((value) => ({ "idempotency-key": value })),
  ...["-1", "1e9", "x", "99999999999999999999", "1.1"].map((value) => ({ "last-event-id": value })),
  ...["bytes=0-", "bytes=-1", "bytes=5-1", "bytes=99999999999-", "x"].map((value) => ({ range: value })),
  ...["*/*;q=x", "text/event-stream", "application/json", ""].map((value) => ({ accept: value })),
  ...["gzip", "identity", "br, gzip"].map((value) => ({ "content-encoding": value })),
  ...[{ "if-none-match": "*" }, { "x-request-id": "a\tb" }, { expect: "x" }, { "mcp-session-id": "é" }],
  ...[{ cookie: "colloquy_session=; a=%zz" }, { origin: "null" }, { "x-forwarded-for": "x,::1" }],
];

/**
 * Requests to any route of the document, half of them right and the others broken in the ways in which clients and attackers
 * break them. `things`: ids of what is there, by the word of a path that stands before them.
 */
export function createFuzzer(
  document: ApiDocument,
  { things, dice }: { readonly things: Readonly<Record<string, string>>; readonly dice: Dice },
) {
  const ids = Object.values(things);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const chance = (part: number) => dice() < part;
  const pick = <Value>(list: readonly Value[]): Value => list[Math.floor(dice() * list.length)]!;
  const text = () => pick(texts);

  function fitting(schema: Schema | undefined, depth = 0): unknown {
    if (!schema || depth > 6) return pick(["a", 1, {}, []]);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices?.length) return fitting(pick(choices), depth + 1);
    const type = Array.isArray(schema.type) ? pick(schema.type) : schema.type;
    if (type === "object") {
      const required = new Set(schema.required);
      const taken = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name) || chance(0.4));
      return Object.fromEntries(taken.map(([name, inner]) => [name, fitting(inner, depth + 1)]));
    }
    if (type === "array")
      return Array.from({ length: Math.max(schema.minItems ?? 0, Math.floor(dice() * 3)) }, () =>
        fitting(schema.items, depth + 1),
      );
    if (type === "integer" || type === "number") {
      const least = Math.max(schema.minimum ?? 0, -1e6);
      return least + Math.floor(dice() * Math.min(100, (schema.maximum ?? 1e6) - least + 1));
    }
    if (type === "boolean") return chance(0.5);
    if (type === "null") return null;
    if (schema.format === "uuid" || chance(0.2)) return pick(ids);
    return pick(["a", "assistant", "demo", "hello there", "1d", "2030-01-01T00:00:00Z", "http://127.0.0.1:1/"]);
  }

  /** The same with one place spoilt, wherever it is. */
  function spoilt(value: unknown, schema?: Schema): unknown {
    if (typeof value !== "object" || value === null || chance(0.15)) {
      if (typeof value === "number" && chance(0.5))
        return pick([(schema?.maximum ?? value) + 1, (schema?.minimum ?? value) - 1, -value, value + 0.5]);
      return chance(0.6) ? text() : pick(others);
    }
    if (Array.isArray(value)) {
      if (value.length === 0 || chance(0.2)) return Array.from({ length: pick([1, 2, 300]) }, () => value[0] ?? text());
      const at = Math.floor(dice() * value.length);
      return value.with(at, spoilt(value[at], schema?.items));
    }
    const entries = Object.entries(value);
    const at = Math.floor(dice() * entries.length);
    if (entries.length === 0 || chance(0.15)) return { ...value, [text().slice(0, 300)]: pick(others) };
    if (chance(0.15)) return Object.fromEntries(entries.toSpliced(at, 1));
    const [name, inner] = entries[at]!;
    return Object.fromEntries(entries.with(at, [name, spoilt(inner, schema?.properties?.[name])]));
  }

  function brokenText(json: string): string {
    return pick([
      () => json.slice(0, Math.floor(dice() * json.length)),
      () => `\ufeff${json}`,
      () => json.replace(/[\d"][^,}\]]*/, () => pick(written)),
      () => json.replace(/^\{/, `{"__proto__":{"role":"admin"},`),
      () => json.replace(/^\{("[^"]+":)/, "{$1null,$1"),
      () => "[".repeat(300) + "]".repeat(300),
      () => json + json,
      () => pick(["", "null", "5", '"a"', "[]", "{", "a=1&a=2&b[c]=3", "--b\r\n\r\n", "\0"]),
    ])();
  }

  function bodyOf({ requestBody }: Operation): Pick<FuzzedRequest, "headers" | "body"> {
    const [type, { schema } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    if (type !== "application/json" && chance(0.7)) return { headers: {} };
    let value = fitting(schema);
    for (let times = Math.floor(dice() * 3); times > 0; times--) value = spoilt(value, schema);
    const json = JSON.stringify(value) ?? "";
    const headers = { "content-type": chance(0.08) ? pick(types) : "application/json" };
    const bytes = Buffer.from(chance(0.15) ? brokenText(json) : json);
    // No UTF-8.
    if (chance(0.03) && bytes.length > 0) bytes[Math.floor(dice() * bytes.length)] = 0xff;
    return { headers, body: bytes };
  }

  function valueInUrl(schema: Schema | undefined): string {
    if (chance(0.75)) return encodeURIComponent(String(fitting(schema)));
    return chance(0.2)
      ? pick(["%00", "%ED%A0%80", "%zz", "a%2Fb", ""])
      : encodeURIComponent(text().toWellFormed().slice(0, 2000));
  }

  function pathOf(path: string, { parameters = [] }: Operation, isLasting: boolean): string {
    const filled = path.replaceAll(/(\w+)\/\{(\w+)\}/g, (_, word: string, name: string) => {
      const schema = parameters.find((one) => one.in === "path" && one.name === name)?.schema;
      // What is deleted early is not there for the others.
      if (things[word] !== undefined && chance(isLasting ? 0.6 : 0.03)) return `${word}/${things[word]}`;
      if (chance(0.5)) return `${word}/${schema?.enum ? String(pick(schema.enum)) : encodeURIComponent(pick(ids))}`;
      return `${word}/${valueInUrl(schema) || "x"}`;
    });
    const asked = parameters.filter((one) => one.in === "query" && chance(0.4));
    const query = asked.flatMap(({ name, schema }) => {
      const one = () => `${name}=${valueInUrl(schema)}`;
      return chance(0.1) ? [one(), one()] : [chance(0.03) ? `${name}[a]=1` : one()];
    });
    if (chance(0.05)) query.push(pick(["__proto__=1", "&&&=", "x=1", "a".repeat(3000), "%zz=%zz", "limit=1e9"]));
    return filled + (query.length > 0 ? `?${query.join("&")}` : "");
  }

  return (): FuzzedRequest => {
    const { path, method, operation } = pick(operations);
    const { headers, body } = method === "get" ? { headers: {} } : bodyOf(operation);
    const odd = chance(0.15) ? pick(oddHeaders) : {};
    return {
      method: method.toUpperCase(),
      path: pathOf(path, operation, method !== "delete" && !path.endsWith("/erase")),
      headers: { ...headers, ...odd },
      ...(body && { body }),
    };
  };
}
