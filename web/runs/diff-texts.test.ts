import assert from "node:assert/strict";
import { test } from "node:test";
import { diffTexts } from "./diff-texts.ts";

test("words that differ, and what is the same between them", () => {
  assert.deepEqual(diffTexts("buy milk today", "buy bread today"), [
    { kind: "same", text: "buy ", leftOut: 0 },
    { kind: "removed", text: "milk", leftOut: 0 },
    { kind: "added", text: "bread", leftOut: 0 },
    { kind: "same", text: " today", leftOut: 0 },
  ]);
});

test("of what is the same in long texts only its ends are told, and nothing of them is lost from the count", () => {
  const text = "a line\n".repeat(20_000);
  const [same, removed, added] = diffTexts(`${text}one`, `${text}two`)!;
  assert.equal(same!.text.replace("\n…\n", "").length + same!.leftOut, text.length);
  assert.ok(same!.text.length < 500);
  assert.deepEqual([removed!.text, added!.text], ["one", "two"]);
});

test("what would take too long is not told apart", () => {
  const text = (seed: number) => Array.from({ length: 60_000 }, (_, n) => (n * n * seed) % 9973).join("\n");
  assert.equal(diffTexts(text(7), text(11)), undefined);
});
