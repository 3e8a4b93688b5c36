import assert from "node:assert/strict";
import { test } from "node:test";
import { closedBlocks, withoutPieces } from "./closed-blocks.ts";

const blocks = (text: string) =>
  closedBlocks(text, /<(a|b)>/g, ([, name]) => new RegExp(`</${name}>`, "g")).map(({ inner }) => inner);

test("a block goes to the first end of its kind", () => {
  assert.deepEqual(blocks("<a>1</b>2</a></a><b></b>"), ["1</b>2", ""]);
  assert.deepEqual(blocks("<a><a>1</a>2</a>"), ["<a>1"]);
});

test("what has no end is none, and hides none behind it", () => {
  assert.deepEqual(blocks("<a>1<b>2</b><a>"), ["2"]);
});

test("what stands outside of blocks stays", () => {
  const text = "x<a>1</a>y<a>z";
  const found = closedBlocks(text, /<a>/g, () => /<\/a>/g);
  assert.equal(withoutPieces(text, found), "xy<a>z");
  assert.equal(withoutPieces(text, []), text);
});
