import assert from "node:assert/strict";
import { test } from "node:test";
import { argumentsOf } from "./call-arguments.ts";

const string = { type: "string" };
const integer = { type: "integer" };
const list = { type: "array", items: string };

function schema(properties: { readonly [name: string]: unknown }, required: readonly string[] = []) {
  return { type: "object", properties, required };
}

const search = schema({ limit: integer, query: string }, ["query"]);

test("plain text is the first required string, else the first string", () => {
  assert.equal(argumentsOf("two words", search), '{"query":"two words"}');
  assert.equal(argumentsOf("two words", schema({ limit: integer, note: string })), '{"note":"two words"}');
  assert.equal(argumentsOf("None", search), '{"query":"None"}');
});

test("an object is the arguments, as the model wrote it if it is JSON", () => {
  assert.equal(argumentsOf('{ "query": "a" }', search), '{ "query": "a" }');
  assert.equal(argumentsOf("{'query': 'a',}", search), '{"query":"a"}');
  assert.equal(argumentsOf('```json\n{"query": "a"}\n```', search), '{"query": "a"}');
  assert.equal(argumentsOf('{"query": "a"}', schema({})), '{"query": "a"}');
});

test("an object without a parameter's key is content, or wraps it", () => {
  assert.equal(argumentsOf('{"a": 1}', schema({ text: string })), '{"text":"{\\"a\\": 1}"}');
  assert.equal(argumentsOf('{"a": 1}', schema({ id: integer, data: { type: "object" } })), '{"data":{"a":1}}');
  assert.equal(argumentsOf('{"input": {"query": "a"}}', search), '{"query":"a"}');
  assert.equal(argumentsOf('{"querry": "a"}', schema({ count: integer })), '{"querry":"a"}');
});

test("quotes around the whole go, others stay", () => {
  const query = (input: string) => (JSON.parse(argumentsOf(input, search)) as { query: string }).query;
  assert.equal(query('"a \\"b\\" c"'), 'a "b" c');
  assert.equal(query("'a'"), "a");
  assert.equal(query("`a`"), "a");
  assert.equal(query("“a”"), "a");
  assert.equal(query(`'"a"'`), "a");
  assert.equal(query('"a" or "b"'), '"a" or "b"');
  assert.equal(query("it's 'a'"), "it's 'a'");
});

test("numbers and lists go where they fit", () => {
  assert.equal(argumentsOf("5", schema({ count: integer }, ["count"])), '{"count":5}');
  assert.equal(argumentsOf("5", search), '{"query":"5"}');
  assert.equal(argumentsOf("5.5", schema({ count: integer, factor: { type: "number" } })), '{"factor":5.5}');
  assert.equal(argumentsOf("true", schema({ deep: { type: "boolean" } })), '{"deep":true}');
  assert.equal(argumentsOf('["a", "b"]', schema({ note: string, tags: list }, ["note"])), '{"tags":["a","b"]}');
  assert.equal(argumentsOf('["a", "b"]', schema({ path: string, content: string })), '{"path":"a","content":"b"}');
  assert.equal(argumentsOf('["a", "b"]', schema({ text: string })), '{"text":"[\\"a\\", \\"b\\"]"}');
  assert.equal(
    argumentsOf("x", schema({ value: { anyOf: [integer, { type: ["string", "null"] }] } })),
    '{"value":"x"}',
  );
});

test("what no parameter takes is left to the tool's own complaint", () => {
  assert.equal(argumentsOf("many", schema({ count: integer }, ["count"])), '{"count":"many"}');
});

test("nothing", () => {
  assert.equal(argumentsOf("", search), "{}");
  assert.equal(argumentsOf("N/A", schema({ note: string })), "{}");
  assert.equal(argumentsOf("now", schema({})), "{}");
});

test("code keeps its indentation and its quotes", () => {
  const code = schema({ code: string }, ["code"]);
  assert.equal(argumentsOf("```python\n  'a'\n```\nprints a", code), `{"code":"  'a'"}`);
  assert.equal(argumentsOf("```python\n{'a': 1}\n```", code), `{"code":"{'a': 1}"}`);
  assert.equal(argumentsOf("```py\nx = 1", code), '{"code":"x = 1"}');
});
