import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExactly } from "../../../src/protocol/base/exact-json.ts";
import { draftOf, fieldsOf, readForm } from "./schema-fields.ts";

const schema = {
  type: "object",
  required: ["name", "count", "where"],
  $defs: { place: { type: "object", required: ["city"], properties: { city: { type: "string", minLength: 1 } } } },
  properties: {
    name: { type: "string", minLength: 2, description: "Whom" },
    count: { type: "integer", minimum: 1 },
    where: { $ref: "#/$defs/place" },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    size: { type: ["number", "null"], maximum: 9.5 },
    kind: { enum: ["a", 2, null] },
    on: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    rows: { type: "array", items: { type: "object" } },
    any: {},
    itself: { $ref: "#" },
    turns: { $ref: "#/properties/turns" },
  },
};

test("a schema becomes fields: references, what may be null, groups, and JSON for all else", () => {
  const fields = fieldsOf(schema);
  assert.deepEqual(
    fields.map(({ name, kind, isNeeded }) => `${name} ${kind}${isNeeded ? " needed" : ""}`),
    [
      "name text needed",
      "count number needed",
      "where group needed",
      "note text",
      "size number",
      "kind choice",
      "on switch",
      "tags lines",
      "rows json",
      "any json",
      "itself json",
      "turns json",
    ],
  );
  const where = fields[2]!;
  assert.ok(where.kind === "group" && where.fields[0]!.path !== "city");
});

test("a number may have a comma, but not one of which nobody knows what it means", () => {
  const fields = fieldsOf({ type: "object", properties: { size: { type: "number" } } });
  const read = (size: string) => {
    const { value, problems } = readForm(fields, { size });
    return problems.size > 0 ? problems.get("size")?.code : (value as { size: number }).size;
  };
  assert.deepEqual(["1,5", "0,125", "-2.5", "1,000", "1,000,000"].map(read), [1.5, 0.125, -2.5, "number", "number"]);
});

test("a number stays as it was typed or given before, however many digits it has", () => {
  const number = (type: string) => ({ type });
  const fields = fieldsOf({
    type: "object",
    properties: { id: number("integer"), price: number("number"), size: number("number"), rows: { type: "array" } },
  });
  const written = '{"id":9007199254740993,"price":0.1234567890123456789,"size":1.50,"rows":[9007199254740993]}';
  const { value, problems } = readForm(fields, draftOf(fields, parseExactly(written)));
  assert.deepEqual([JSON.stringify(value), problems.size], [written, 0]);

  const whole = (id: string) => {
    const read = readForm(fields, { id });
    return read.problems.get("id")?.code ?? JSON.stringify(read.value);
  };
  assert.deepEqual(["+18446744073709551615", "007", "2.0", "1e3", "9007199254740993.5", "1e400", "0x10"].map(whole), [
    '{"id":18446744073709551615}',
    '{"id":7}',
    '{"id":2.0}',
    '{"id":1e3}',
    "whole",
    "number",
    '{"id":16}',
  ]);
});

test("what is typed becomes the value; what is wrong is said of its field", () => {
  const fields = fieldsOf(schema);
  const value = {
    name: "Ada",
    count: 3,
    where: { city: "Ulm" },
    size: 9.5,
    kind: 2,
    on: false,
    tags: ["x", "y"],
    rows: [{ a: 1 }],
    any: "text",
  };
  const draft = draftOf(fields, value);
  const read = readForm(fields, draft);
  assert.deepEqual([read.value, read.problems.size], [value, 0]);

  const { problems } = readForm(fields, { name: "A", count: "1.5", size: "10", any: "{" });
  assert.deepEqual(
    [...problems].map(([path, { code }]) => [path.replace("\u0000", "."), code]),
    [
      ["name", "short"],
      ["count", "whole"],
      ["where.city", "missing"],
      ["size", "most"],
      ["any", "json"],
    ],
  );
});

test("what was chosen before and can't be any more is to be chosen anew", () => {
  const fields = fieldsOf({ type: "object", required: ["tone"], properties: { tone: { enum: ["kind", "plain"] } } });
  const { value, problems } = readForm(fields, draftOf(fields, { tone: "rude" }));
  assert.deepEqual([value, problems.get("tone")?.code], [{}, "missing"]);
});

test("fields may be named as what all objects have", () => {
  const names = ["constructor", "toString", "valueOf"];
  const fields = fieldsOf({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "number" }])),
  });
  const nothing = readForm(fields, draftOf(fields, {}));
  assert.deepEqual([nothing.value, nothing.problems.size], [{}, 0]);
  assert.deepEqual(readForm(fields, { constructor: "1", toString: "2" }).value, { constructor: 1, toString: 2 });
});
