import assert from "node:assert/strict";
import { test } from "node:test";
import type { FinishReason, ModelPart } from "../../../protocol/agents/models.ts";
import { ModelError } from "../../../protocol/base/errors.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";
import { chatForm, generateForm, type OllamaForm, ollamaWire } from "./encode.ts";

type Line = {
  readonly done: boolean;
  readonly done_reason?: string;
  readonly error?: string;
  readonly response?: string;
  readonly message?: { readonly content: string; readonly thinking?: string; readonly tool_calls?: readonly object[] };
};

const usage = { inputTokens: 3, outputTokens: 4 };
const start: ModelPart = { type: "start", model: "m", provider: "p" };
const finish = (reason: FinishReason): ModelPart => ({ type: "finish", reason, usage });
const callOf = (written: string, index = 0): ModelPart[] => [
  { type: "call-start", index, id: `call_${index}`, name: "f" },
  { type: "call-delta", index, arguments: written },
];

/** What a stream tells, each batch of parts as one write. */
function linesOf(batches: readonly (readonly AnswerPart[])[], form: OllamaForm = chatForm): Line[] {
  const { encode } = ollamaWire("m", form);
  const text = batches.map((parts) => encode(parts)).join("");
  assert.ok(text === "" || text.endsWith("\n"));
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

function wholeOf(parts: readonly AnswerPart[], form: OllamaForm = chatForm): Line {
  const whole = ollamaWire("m", form).whole();
  whole.add(parts);
  return JSON.parse(JSON.stringify(whole.body())) as Line;
}

const reasons: readonly (readonly [FinishReason, string])[] = [
  ["stop", "stop"],
  ["length", "length"],
  ["calls", "stop"],
  ["filter", "content_filter"],
  ["other", "stop"],
];

for (const [reason, told] of reasons)
  test(`a stream that ends by ${reason} tells what the whole answer does: ${told}`, () => {
    const parts: AnswerPart[] = [
      start,
      { type: "reasoning", text: "Hm\n" },
      { type: "text", text: 'Say "hi"\n' },
      { type: "text", text: "ü🙂" },
      ...(reason === "calls" ? [...callOf('{"a":\n 1}'), ...callOf("", 1)] : []),
      finish(reason),
    ];
    const lines = linesOf(parts.map((part) => [part]));
    assert.ok(lines.slice(0, -1).every(({ done }) => !done));
    const last = lines.at(-1)!;
    assert.deepEqual([last.done, last.done_reason], [true, told]);
    const joined = {
      role: "assistant",
      content: lines.map(({ message }) => message!.content).join(""),
      thinking: lines.map(({ message }) => message!.thinking ?? "").join(""),
      ...(reason === "calls" && { tool_calls: lines.flatMap(({ message }) => message!.tool_calls ?? []) }),
    };
    const whole = wholeOf(parts);
    assert.deepEqual(joined, whole.message);
    assert.deepEqual([whole.done, whole.done_reason], [true, told]);
  });

test("a prompt's answer stands by itself", () => {
  const parts: AnswerPart[] = [start, { type: "reasoning", text: "hm" }, { type: "text", text: "Hi" }, finish("stop")];
  const lines = linesOf([parts], generateForm);
  assert.deepEqual(
    lines.map(({ response }) => response),
    ["", "Hi", ""],
  );
  assert.equal(wholeOf(parts, generateForm).response, "Hi");
});

test("arguments keep their numbers as they were written", () => {
  const { encode } = ollamaWire("m", chatForm);
  const text = encode([start, ...callOf('{"id": 9007199254740993, "rate": 1.0}'), finish("calls")]);
  assert.match(text, /"arguments":\{"id":9007199254740993,"rate":1\.0\}/);
});

test("arguments that are no object are an error, and are left out where the answer was cut", () => {
  for (const written of ['{"a":', "[1]", '"text"', "1"]) {
    const parts: AnswerPart[] = [start, ...callOf(written), finish("calls")];
    const last: Line = linesOf([parts]).at(-1)!;
    assert.match(last.error!, /called f with arguments that are no JSON object/);
    assert.equal(last.done, undefined, "nothing says that it is done");
    assert.throws(() => wholeOf(parts), ModelError);
  }
  const cut = [start, ...callOf('{"a":1}'), ...callOf('{"a":', 1), finish("length")];
  const calls = linesOf([cut]).flatMap(({ message }) => message?.tool_calls ?? []);
  assert.deepEqual(calls, [{ id: "call_0", function: { index: 0, name: "f", arguments: { a: 1 } } }]);
});

test("what breaks an answer off is a line; of what nobody foresaw nothing is revealed", () => {
  const { breakOff, keepAlive, headers } = ollamaWire("m", chatForm);
  assert.equal(breakOff(new ModelError("cut", "cut off")), '{"error":"cut off"}\n');
  assert.doesNotMatch(breakOff(new Error("secret")), /secret/);
  assert.equal(headers!["content-type"], "application/x-ndjson");
  // What keeps the connection alive stands before a line, and is none.
  assert.deepEqual(JSON.parse(keepAlive! + breakOff(new ModelError("cut", "x"))), { error: "x" });
});
