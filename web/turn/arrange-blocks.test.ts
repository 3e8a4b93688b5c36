import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlockOf } from "../../src/client/conversation.ts";
import { timeOfCalls } from "./arrange-blocks.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
const call = (start: number, end: number): { readonly call: BlockOf<"call"> } => ({
  call: {
    kind: "call",
    key: `${start}`,
    run: "run",
    author: undefined,
    name: "shell",
    arguments: "{}",
    output: "",
    place: "1.0",
    threadId: "thread",
    startedAt: at(start),
    endedAt: at(end),
  },
});

test("arranged: the time of a group of calls leaves out what lies between them, and counts what overlaps once", () => {
  assert.equal(timeOfCalls([call(0, 2), call(1, 3), call(600, 604)]), 7000);
  assert.equal(timeOfCalls([call(5, 9), call(6, 7)]), 4000);
});
