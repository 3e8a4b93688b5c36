import assert from "node:assert/strict";
import { test } from "node:test";
import { plainArguments } from "./question-view.ts";

test("arguments are shown as the tool will read them, with nothing hidden", () => {
  assert.equal(plainArguments(`{"path":"a",${" ".repeat(500)}"path":"b"}`), '{"path":"b"}');
  const hidden = '{"to":"\u202emoc.live\u200b","tag":"\u{e0041}"}';
  assert.equal(plainArguments(hidden), '{"to":"\\u202emoc.live\\u200b","tag":"\\udb40\\udc41"}');
  assert.deepEqual(JSON.parse(plainArguments(hidden)), JSON.parse(hidden));
  assert.equal(plainArguments("\u001b[2J"), "\\u001b[2J");
});
