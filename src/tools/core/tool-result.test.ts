import assert from "node:assert/strict";
import { test } from "node:test";
import { maximumContentCharacters, maximumDataCharacters, toToolResult } from "./tool-result.ts";

test("text is the content, other values are JSON and data", () => {
  assert.deepEqual(toToolResult("sunny"), { content: "sunny" });
  assert.deepEqual(toToolResult(undefined), { content: "Done." });
  assert.deepEqual(toToolResult(null), { content: "null", data: null });
  assert.deepEqual(toToolResult([1, "a"]), { content: '[1,"a"]', data: [1, "a"] });
  const day = new Date(0);
  assert.deepEqual(toToolResult({ day }), {
    content: `{"day":"${day.toISOString()}"}`,
    data: { day: day.toISOString() },
  });
});

test("a ToolResult stays one; an object that only has some content is JSON", () => {
  assert.deepEqual(toToolResult({ content: "no", isError: true }), { content: "no", isError: true });
  assert.deepEqual(toToolResult({ content: "4", isError: false, data: 4 }), { content: "4", data: 4 });
  const page = { content: "text", title: "Page" };
  assert.deepEqual(toToolResult(page), { content: JSON.stringify(page), data: page });
  assert.deepEqual(toToolResult({ content: 1 }), { content: '{"content":1}', data: { content: 1 } });
});

test("long content is cut and says so; data too large for a trace is left out", () => {
  const { content } = toToolResult("x".repeat(maximumContentCharacters + 5));
  assert.equal(content, `${"x".repeat(maximumContentCharacters)}\n[cut here: 5 more characters]`);
  const list = toToolResult(["y".repeat(maximumContentCharacters)]);
  assert.match(list.content, /cut here: 4 more characters\]$/);
  assert.deepEqual(list.data, ["y".repeat(maximumContentCharacters)]);
  assert.equal("data" in toToolResult(["z".repeat(maximumDataCharacters)]), false);
});

test("what PostgreSQL can't store is replaced, also where the cut splits a pair", () => {
  assert.equal(toToolResult("a\0b\uD83D").content, "a\uFFFDb\uFFFD");
  assert.deepEqual(toToolResult({ text: "\0\uDE00😀" }).data, { text: "\uFFFD\uFFFD😀" });
  const split = toToolResult("x".repeat(maximumContentCharacters - 1) + "😀").content;
  assert.equal(split.isWellFormed(), true);
});

test("what JSON can't hold is an error", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  assert.throws(() => toToolResult(cycle), TypeError);
  assert.throws(() => toToolResult(10n), TypeError);
  assert.throws(() => toToolResult(() => 1), /can't return a function/);
});

test("sources: those that are ones, within bounds, and with addresses that may be followed", () => {
  const given = [
    { kind: "web", title: "x".repeat(1000), url: "https://a.example/", snippet: "y".repeat(5000) },
    { kind: "web", title: "a script", url: "javascript:alert(1)" },
    { kind: "rumour", title: "heard" },
    "none",
    ...Array<object>(200).fill({ kind: "document", title: "d", documentId: "1", page: 2 }),
  ];
  const { content, sources = [], untrusted } = toToolResult({ content: "c", sources: given, untrusted: true });
  assert.deepEqual([content, untrusted, sources.length], ["c", true, 98]);
  assert.deepEqual(
    [sources[0]!.title.length, sources[0]!.snippet?.length, sources[0]!.url],
    [500, 4000, "https://a.example/"],
  );
  assert.deepEqual(sources[1], { kind: "web", title: "a script" });
  assert.deepEqual(toToolResult({ content: "c", sources: "none" }), { content: "c" });
});
