import assert from "node:assert/strict";
import { test } from "node:test";
import { createSseParser } from "./sse.ts";

const stream =
  ': hello\n\nevent: a\nid: 1\ndata: {"x":1}\n\nid: 2\r\ndata: one\r\ndata:two\r\n\r\ndata\n\n: keep-alive\n\nevent: lost\n\ndata: unfinished\n';
const events = [
  { type: "a", data: '{"x":1}', id: "1" },
  { type: "message", data: "one\ntwo", id: "2" },
  { type: "message", data: "", id: "2" },
];

test("events come out whole, however the stream is cut", () => {
  assert.deepEqual(createSseParser()(stream), events);
  for (const size of [1, 2, 3, 7]) {
    const parse = createSseParser();
    const seen = [];
    for (let at = 0; at < stream.length; at += size) seen.push(...parse(stream.slice(at, at + size)));
    assert.deepEqual(seen, events);
  }
});

test("an event without end is refused", () => {
  const parse = createSseParser();
  assert.throws(() => {
    for (let count = 0; count < 20; count++) parse("data: " + "x".repeat(1_000_000) + "\n");
  }, /more than/);
});
