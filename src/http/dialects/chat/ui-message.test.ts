import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import type { MessageBody } from "../../../protocol/threads/items.ts";
import { createUiMessage } from "./ui-message.ts";

const run = "01a20000-0000-7000-8000-000000000001";
const delta = (type: "text-delta" | "reasoning-delta", text: string, { step = "1", attempt = 1 } = {}): RunEvent => ({
  ...{ type, run, step, attempt, offset: 0, text },
});
const message = (body: Omit<MessageBody, "role">, step = "1"): RunEvent => ({
  type: "message",
  seq: 2,
  item: {
    ...{ id: run, threadId: run, seq: 2, kind: "message", parentId: null, runId: run, step, index: null },
    ...{ attempt: 1, author: "orchestrator", createdAt: "" },
    body: { role: "assistant", ...body },
  },
});

/** Chunks without their data and the frame around them; each inner list is told as one batch. */
function tell(...batches: readonly (readonly RunEvent[])[]): string[] {
  const ui = createUiMessage({ runId: run, threadId: run }, {});
  const text = batches.map((own) => ui.tell({ own })).join("");
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice("data: ".length)) as { type: string; delta?: string })
    .map(({ type, delta: piece }) => (piece === undefined ? type : `${type} ${piece}`));
}

const begun = ["start-step", "reasoning-start", "reasoning-delta hm", "reasoning-end"];

test("an answer that a crash cut off is taken back and told anew", () => {
  const half = delta("reasoning-delta", '{"thought": "hm", "action": "final", "answer": "Bla');
  const whole = '{"thought": "hm", "action": "final", "answer": "Blue"}';
  assert.deepEqual(
    tell(
      [half],
      [{ type: "step-retry", run, step: "1", attempt: 1 }],
      [delta("reasoning-delta", whole, { attempt: 2 })],
      [delta("text-delta", "Blue", { attempt: 2 }), message({ content: "Blue", reasoning: whole, protocolAt: 0 })],
    ),
    [
      ...[...begun, "text-start", "text-delta Bla", "reset-step"],
      ...[...begun.slice(1), "text-start", "text-delta Blue", "text-end", "data-event"],
    ],
  );
});

test("a strategy without a protocol tells thoughts and text as they come, once", () => {
  assert.deepEqual(
    tell(
      [delta("reasoning-delta", "hm")],
      [delta("text-delta", "Bl")],
      [delta("text-delta", "ue"), message({ content: "Blue", reasoning: "hm" })],
    ),
    [...begun, "text-start", "text-delta Bl", "text-delta ue"],
  );
});

test("thoughts that begin before the action stay thoughts, and what a tool asks of a model is not told", () => {
  const action = '{"thought": "", "action": "final", "answer": "Blue"}';
  assert.deepEqual(
    tell(
      [message({ content: "a summary" }, "1.0/1")],
      [delta("reasoning-delta", "hm"), delta("reasoning-delta", "\n\n```json\n" + action)],
    ),
    [...begun, "text-start", "text-delta Blue"],
  );
});

test("the sources of a result follow it", () => {
  const place = { id: run, threadId: run, seq: 3, parentId: null, runId: run, step: "1", index: 0, attempt: 1 };
  const told = createUiMessage({ runId: run, threadId: run }, {}).tell({
    own: [
      {
        type: "call-start",
        seq: 3,
        item: {
          ...place,
          kind: "call",
          author: "a",
          createdAt: "",
          body: { name: "websearch", arguments: "{}", target: "server" },
        },
      },
      {
        type: "call-end",
        seq: 4,
        item: {
          ...place,
          kind: "result",
          author: "websearch",
          createdAt: "",
          body: {
            content: "Yes [1].",
            untrusted: true,
            sources: [
              { kind: "web", title: "A page", url: "https://a.example/" },
              { kind: "document", title: "A report", documentId: run },
            ],
          },
        },
      },
    ],
  });
  const chunks = told.split("\n\n").flatMap((event) => (event === "" ? [] : [JSON.parse(event.slice(6)) as object]));
  const toolCallId = `call_${run.replaceAll("-", "")}`;
  assert.deepEqual(chunks.slice(-2), [
    { type: "source-url", sourceId: `${toolCallId}-1`, url: "https://a.example/", title: "A page" },
    { type: "source-document", sourceId: `${toolCallId}-2`, mediaType: "text/plain", title: "A report" },
  ]);
});
