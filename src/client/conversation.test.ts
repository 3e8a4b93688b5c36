import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../protocol/threads/items.ts";
import { type BlockOf, createConversation } from "./conversation.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
const run = "018f0000-0000-7000-8000-000000000002";
let seq = 0;

function item(kind: Item["kind"], second: number, body: object, index: number | null = null): Item {
  const place = { step: index === null ? null : "1", index, attempt: null, author: null, parentId: null };
  const id = `item-${++seq}`;
  return { id, seq, threadId: "thread", runId: run, kind, body, createdAt: at(second), ...place } as Item;
}
const call = (index: number) =>
  item("call", 0, { id: `call-${index}`, name: "shell", arguments: "{}", target: "server" }, index);

test("conversation: a call's time begins when a person has allowed it, not when they were asked", () => {
  const conversation = createConversation();
  const question = item("question", 1, { reason: "approval", text: "May it?", tool: "shell" }, 1);
  const items = [
    call(0),
    item("result", 1, { content: "read" }, 0),
    call(1),
    // Held back with the other one.
    call(2),
    question,
    item("decision", 600, { question: question.id, decision: "allow" }),
    item("result", 604, { content: "done" }, 1),
    item("result", 605, { content: "done" }, 2),
  ];
  for (const each of items) conversation.read(each);
  const calls = [...conversation.blocks()].filter((block): block is BlockOf<"call"> => block.kind === "call");
  assert.deepEqual(
    calls.map(({ startedAt, endedAt }) => [startedAt, endedAt]),
    [
      [at(0), at(1)],
      [at(600), at(604)],
      [at(600), at(605)],
    ],
  );
});
