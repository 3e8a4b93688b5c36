import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../../protocol/threads/events.ts";
import { newId } from "../../protocol/base/ids.ts";
import {
  type CallBody,
  callIdOf,
  type ItemOf,
  type MessageBody,
  type ResultBody,
} from "../../protocol/threads/items.ts";
import { createPlainAnswer } from "./plain-answer.ts";
import { createRunReader } from "./run-reader.ts";

const run = newId();
let seq = 0;
const base = () => ({
  id: newId(),
  threadId: run,
  seq: ++seq,
  parentId: null,
  runId: run,
  attempt: 1,
  author: "assistant",
  createdAt: "",
});

function text(step: string, offset: number, piece: string): RunEvent {
  return { type: "text-delta", run, step, attempt: 1, offset, text: piece };
}
function message(step: string, body: Partial<MessageBody>): RunEvent {
  const item: ItemOf<"message"> = {
    ...base(),
    kind: "message",
    step,
    index: null,
    body: { role: "assistant", content: "", ...body },
  };
  return { type: "message", seq, item };
}
function call(index: number, body: Partial<CallBody> = {}): Extract<RunEvent, { type: "call-start" }> {
  const item: ItemOf<"call"> = {
    ...base(),
    kind: "call",
    step: "1",
    index,
    body: { name: `tool_${index}`, arguments: "{}", target: "server", ...body },
  };
  return { type: "call-start", seq, item };
}
function result(index: number, body: ResultBody): RunEvent {
  const item: ItemOf<"result"> = { ...base(), kind: "result", step: "1", index, body };
  return { type: "call-end", seq, item };
}
const done = (): RunEvent => ({ type: "run-end", seq: ++seq, run, status: "done" });

/** What a client would have in the end. */
function tell(events: readonly RunEvent[], { oneByOne = true } = {}) {
  const answer = createRunReader(run);
  const plain = createPlainAnswer();
  const read = (batch: readonly RunEvent[]) => {
    const reading = answer(batch);
    return { ...reading, parts: plain(reading.parts) };
  };
  const batches = oneByOne ? events.map((event) => [event]) : [events];
  const readings = batches.map(read);
  const parts = readings.flatMap((reading) => reading.parts);
  const join = (type: "text" | "reasoning") => parts.map((part) => (part.type === type ? part.text : "")).join("");
  const finish = parts.find((part) => part.type === "finish");
  return { text: join("text"), reasoning: join("reasoning"), finish, parts, outcome: readings.at(-1)?.outcome };
}

test("text is text, tools are a trace, usage is summed", () => {
  const told = tell([
    { type: "reasoning-delta", run, step: "1", attempt: 1, offset: 0, text: "let me see" },
    text("1", 0, "One moment."),
    message("1", { content: "One moment.", usage: { inputTokens: 10, outputTokens: 2 } }),
    call(0, { name: "add_task", arguments: '{"title":"Buy milk"}' }),
    result(0, { content: "Task 1 added" }),
    text("2", 0, "Do"),
    text("2", 2, "ne."),
    message("2", { content: "Done.", usage: { inputTokens: 20, outputTokens: 3 } }),
    done(),
  ]);
  assert.equal(told.text, "One moment.\n\nDone.");
  assert.equal(told.reasoning, 'let me see\nadd_task {"title":"Buy milk"}\n→ Task 1 added\n');
  assert.deepEqual(told.finish, { type: "finish", reason: "stop", usage: { inputTokens: 30, outputTokens: 5 } });
  assert.deepEqual(told.outcome, { status: "done" });
});

test("results of parallel calls say whose they are", () => {
  const told = tell([call(0), call(1), result(0, { content: "a" }), result(1, { content: "b" })]);
  assert.equal(told.reasoning, "tool_0 {}\ntool_1 {}\ntool_0 → a\n→ b\n");
});

test("a message whose pieces were missed is told whole", () => {
  assert.equal(tell([text("1", 0, "Hel"), message("1", { content: "Hello" }), done()]).text, "Hello");
});

test("an answer cut by its length says so", () => {
  const { finish } = tell([message("1", { content: "and so", finish: "length" }), done()]);
  assert.equal(finish?.type === "finish" && finish.reason, "length");
});

for (const oneByOne of [true, false])
  test(`a new attempt goes on where it repeats what was sent (${oneByOne ? "event by event" : "in one batch"})`, () => {
    const retry: RunEvent = { type: "step-retry", run, step: "1", attempt: 1 };
    const same = [
      text("1", 0, "Hello w"),
      retry,
      text("1", 0, "Hel"),
      text("1", 3, "lo world"),
      message("1", { content: "Hello world" }),
      done(),
    ];
    assert.equal(tell(same, { oneByOne }).text, "Hello world");

    const other = tell([text("1", 0, "Hello"), retry, text("1", 0, "Help")], { oneByOne });
    assert.equal(other.text, "Hello");
    assert.deepEqual([other.outcome?.status, other.outcome?.error?.message.includes(run)], ["running", true]);

    const shorter = tell([text("1", 0, "Hello"), retry, text("1", 0, "Hel"), message("1", { content: "Hel" })], {
      oneByOne,
    });
    assert.equal(shorter.outcome?.status, "running");
  });

test("the caller's own tools come as calls with our ids, when the run waits for them", () => {
  const asked = call(1, { name: "beep", arguments: '{"n":1}', target: "client" });
  const told = tell([
    call(0),
    asked,
    result(0, { content: "ok" }),
    { type: "run-wait", seq: ++seq, run, reason: "client" },
  ]);
  assert.deepEqual(told.parts.slice(-3), [
    { type: "call-start", index: 0, id: callIdOf(asked.item.id), name: "beep" },
    { type: "call-delta", index: 0, arguments: '{"n":1}' },
    { type: "finish", reason: "calls", usage: { inputTokens: 0, outputTokens: 0 } },
  ]);
  assert.doesNotMatch(told.reasoning, /beep/);
  assert.equal(told.outcome?.status, "waiting");
});

test("a run that waits for a person says what for and where", () => {
  const told = tell([
    text("1", 0, "Hm."),
    { type: "run-wait", seq: ++seq, run, reason: "unknown", text: "was the mail sent?" },
  ]);
  assert.ok(told.text.startsWith("Hm.\n\nThis run waits (unknown): was the mail sent?"));
  assert.ok(told.text.includes(`/api/runs/${run}`));
  assert.equal(told.outcome?.status, "waiting");
});

test("failed and cancelled runs are errors that name the run", () => {
  const failed = tell([
    { type: "run-end", seq: ++seq, run, status: "failed", error: { code: "model_rate_limit", message: "too many" } },
  ]).outcome;
  assert.deepEqual(
    [failed?.status, failed?.error?.status, failed?.error?.message],
    ["failed", 429, `Run ${run} failed: too many`],
  );
  const cancelled = tell([{ type: "run-end", seq: ++seq, run, status: "cancelled" }]).outcome;
  assert.deepEqual([cancelled?.status, cancelled?.error?.code], ["cancelled", "run_cancelled"]);
});

test("nothing is told of other runs, of callers' own messages, or after the end", () => {
  const other = { type: "text-delta", run: newId(), step: "1", attempt: 1, offset: 0, text: "psst" } as const;
  const told = tell([
    other,
    message("0", { role: "system", content: "secret" }),
    message("1", { content: "Hi" }),
    done(),
    text("3", 0, "late"),
  ]);
  assert.equal(told.text, "Hi");
  assert.equal(told.reasoning, "");
});
