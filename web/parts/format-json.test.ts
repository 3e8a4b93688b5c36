import assert from "node:assert/strict";
import { test } from "node:test";
import { formatJson } from "./format-json.ts";

test("JSON of one line is set out, with nothing in it changed", () => {
  const value = { tasks: [{ id: 1, title: 'Buy "milk", {now}: [x]\\', done: false, note: null }], empty: [], none: {} };
  for (const written of [
    JSON.stringify(value),
    '{"a": 12345678901234567890, "a": 1.0, "b": "\\u00e9"}',
    "[]",
    "[[1, 2]]",
  ]) {
    const shown = formatJson(written);
    assert.equal(shown.replaceAll(/\s/g, ""), written.replaceAll(/\s/g, ""));
    assert.deepEqual(JSON.parse(shown), JSON.parse(written));
  }
  assert.equal(formatJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
});

test("a beginning of JSON is set out too", () => {
  assert.equal(
    formatJson('{"tasks":[{"id":1},{"id":2,"ti'),
    '{\n  "tasks": [\n    {\n      "id": 1\n    },\n    {\n      "id": 2,\n      "ti',
  );
});

test("what is no JSON stays as it is", () => {
  for (const text of [
    "4",
    "",
    "plain {words}",
    "[1] Title: about",
    '{"a"} and more',
    '["a" "b"]',
    '{\n"a":1}',
    '{"a":1}{"b":2}',
  ])
    assert.equal(formatJson(text), text);
});
