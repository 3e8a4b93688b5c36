import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallPart, createCallOrder } from "./call-order.ts";

const start = (index: number): CallPart => ({ type: "call-start", index, id: `call_${index}`, name: "n" });
const delta = (index: number, text: string): CallPart => ({ type: "call-delta", index, arguments: text });

/** What is told after each part, and at the end, as indexes and texts. */
function told(parts: readonly CallPart[]): string[] {
  const order = createCallOrder();
  const text = (all: readonly CallPart[]) =>
    all.map((part) => (part.type === "call-start" ? `#${part.index}` : part.arguments)).join(" ");
  return [...parts.map((part) => text(order.take(part))), text(order.rest())];
}

test("calls one after the other are told as they come", () => {
  assert.deepEqual(told([start(0), delta(0, '{"a":'), delta(0, "1}"), start(1), delta(1, "{}")]), [
    "#0",
    '{"a":',
    "1}",
    "#1",
    "{}",
    "",
  ]);
});

test("what is written by turns is told one after the other", () => {
  const parts = [start(0), delta(0, '{"a":'), start(1), delta(1, '{"b":'), delta(0, "1}"), delta(1, "2}")];
  assert.deepEqual(told(parts), ["#0", '{"a":', "", "", "1}", "", '#1 {"b": 2}']);
});

test("a call without arguments ends where the next one begins, at the latest at the end", () => {
  assert.deepEqual(told([start(0), start(1), start(2)]), ["#0", "", "", "#1 #2"]);
});
