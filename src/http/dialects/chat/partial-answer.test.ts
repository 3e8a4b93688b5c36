import assert from "node:assert/strict";
import { test } from "node:test";
import { createPartialAnswer } from "./partial-answer.ts";

/** Feeds a text in pieces of this length. */
function read(text: string, length: number) {
  const partial = createPartialAnswer();
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += length) pieces.push(partial.feed(text.slice(at, at + length)));
  return { partial, pieces: pieces.filter((piece) => piece !== "") };
}

test("an answer is read piece by piece, however it is cut", () => {
  const answer = 'Say "hi" \\ to\nßü 😀 \u0007 {"answer": "no"}';
  const text = JSON.stringify({ thought: 'a "quoted" one', action: "final", tool: null, args: {}, answer });
  const escaped = text.replace("😀", "\\ud83d\\ude00");
  for (const written of [text, escaped])
    for (let length = 1; length < 12; length++) {
      const { partial, pieces } = read(written, length);
      assert.equal(partial.answer(), answer);
      assert.equal(partial.thought(), 'a "quoted" one');
      assert(pieces.every((piece) => piece.isWellFormed()));
      assert(length > 3 || pieces.length > 5);
    }
});

test("an action that is no answer has none", () => {
  for (const text of [
    JSON.stringify({ thought: "", action: "use_tool", tool: "read_file", answer: "later" }),
    JSON.stringify({ action: "use_tool", tool: "send", args: { body: { action: "final", answer: "not yet" } } }),
    "Just words.",
    "",
  ])
    assert.equal(read(text, 5).partial.answer(), "");
});

test("a string with a fault is read as far as it goes", () => {
  assert.equal(read('{"action": "final", "answer": "two\nlines and "quotes""}', 4).partial.answer(), "two\nlines and ");
  assert.equal(createPartialAnswer().feed('{"action": "final", "answer": "a\\d'), "");
});
