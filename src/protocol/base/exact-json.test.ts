import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, inexactNumbers, isJsonObject, parseExactly, prototypeKeys, toDoubles } from "./exact-json.ts";

const nasty = [
  "9007199254740993",
  "-9007199254740993",
  "123456789012345678901234567890",
  "0.12345678901234567890123",
  "1.0",
  "-1.50",
  "1e400",
  "-1E+400",
  "1e5",
  "1e-400",
  "-0",
  "-0.0",
  "0.0000001",
  "0.00000000000000000001",
  "1000000000000000000000",
];

test("every number is written again as it was, wherever it stands", () => {
  for (const number of nasty) {
    assert.equal(JSON.stringify(parseExactly(number)), number);
    assert.equal(JSON.stringify(parseExactly(`  ${number}`)), number);
    const text = `{"a":${number},"b":[${number},{"c":${number}}],"d":[0,${number}]}`;
    assert.equal(JSON.stringify(parseExactly(text)), text);
    assert.equal(JSON.stringify(parseExactly(`{"a" : ${number}\n}`)), `{"a":${number}}`);
    assert.equal(JSON.stringify(parseExactly(`[1,\n\t${number} ]`)), `[1,${number}]`);
  }
});

test("ordinary numbers are numbers", () => {
  const numbers = [0, 1, -1, 0.5, -0.25, 20, 999_999_999_999_999, 3.14159, 0.000001, 100.05, 1700000000000];
  assert.deepEqual(parseExactly(JSON.stringify({ numbers })), { numbers });
  // So long that the other way is taken, and a double all the same.
  assert.equal((parseExactly('{"a":9007199254740991}') as { a: unknown }).a, 9007199254740991);
  assert.equal((parseExactly('{"a":0.30000000000000004}') as { a: unknown }).a, 0.30000000000000004);
});

test("any number that a double changes is found, however it is written", () => {
  // Written by a generator with a fixed seed.
  let seed = 42;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const digits = (count: number) => Array.from({ length: count }, () => random(10)).join("");
  for (let round = 0; round < 20_000; round++) {
    const whole = random(3) === 0 ? "0" : `${1 + random(9)}${digits(random(25))}`;
    const number =
      (random(2) ? "-" : "") +
      whole +
      (random(2) ? `.${digits(1 + random(25))}` : "") +
      (random(4) === 0 ? `${random(2) ? "e" : "E"}${["", "+", "-"][random(3)]}${random(500)}` : "");
    const text = `{"a":${random(2) ? " " : ""}${number}}`;
    assert.equal(JSON.stringify(parseExactly(text)), `{"a":${number}}`);
  }
});

test("strings that look like numbers stay strings", () => {
  const text = JSON.stringify({ a: "x, 1.0", b: ": 1e400", c: '[-0, "1.0"]', d: "9007199254740993" });
  assert.equal(JSON.stringify(parseExactly(text)), text);
  assert.deepEqual(parseExactly(text), JSON.parse(text));
});

test("__proto__ is a key like others, and changes no prototype", () => {
  const text = '{"__proto__":{"isAdmin":true},"a":{"__proto__":1.0},"b":1}';
  const value = parseExactly(text) as Record<string, unknown>;
  assert.deepEqual(Object.keys(value), ["__proto__", "a", "b"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(value["isAdmin"], undefined);
  assert.equal(JSON.stringify(value), text);
  assert.equal(JSON.stringify(toDoubles(value)), text.replace("1.0", "1"));
  assert.equal(prototypeKeys(value), 2);
});

test("what a double would change is told with its path", () => {
  const value = parseExactly(
    '{"a":1.0,"b":[1e2,{"c":9007199254740993}],"d":1e400,"e":0.1,"f":0.1234567890123456789,"g":-0}',
  );
  assert.deepEqual(inexactNumbers(value), [
    { path: "b.1.c", written: "9007199254740993" },
    { path: "d", written: "1e400" },
    { path: "f", written: "0.1234567890123456789" },
  ]);
  const doubles = toDoubles(value) as { d: number };
  assert.ok(Number.isFinite(doubles.d));
  const plain = JSON.parse('{"a":1}') as unknown;
  assert.equal(toDoubles(plain), plain);
});

test("one text for the same value, another for another", () => {
  const canonical = (text: string) => canonicalJson(parseExactly(text));
  assert.equal(canonical('{"b":1.0,"a":1e2}'), '{"a":100,"b":1}');
  assert.notEqual(canonical('{"a":9007199254740993}'), canonical('{"a":9007199254740992}'));
  assert.notEqual(canonical('{"a":1e400}'), canonical('{"a":1e401}'));
  assert.equal(canonical('{"a":1e400}'), canonical('{"a":10E399}'));
  assert.equal(canonical('{"a":9007199254740993}'), canonical('{"a":9007199254740993.0}'));
  assert.notEqual(canonical('{"a":null}'), canonical('{"a":1e400}'));
  assert.equal(canonical('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}');
});

test("a number that was kept is no object", () => {
  assert.equal(isJsonObject(parseExactly("1.0")), false);
  assert.equal(isJsonObject(parseExactly('{"a":1.0}')), true);
  assert.equal(isJsonObject([]), false);
});

test("a number of a million zeros is written in one way as fast as another", () => {
  const value = parseExactly(`[1${"0".repeat(1_000_000)}1]`);
  assert.equal(canonicalJson(value).length, 1_000_006);
});
