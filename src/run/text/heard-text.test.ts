import assert from "node:assert/strict";
import { test } from "node:test";
import everyWire from "../../../test/model-ways/every-wire.json" with { type: "json" };
import { createAnswerTextReader } from "./heard-text.ts";

const tools = ["write_note", "read_notes"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object", properties: { subject: { type: "string" } } },
}));

function heard(pieces: Iterable<string>, offered = tools) {
  const ear = createAnswerTextReader(offered);
  let [text, thinking] = ["", ""];
  for (const piece of pieces) {
    const told = ear.take(piece);
    [text, thinking] = [text + told.text, thinking + told.thinking];
  }
  const end = ear.end();
  return { text: text + end.text, thinking: thinking + end.thinking, calls: end.calls };
}

const texts = everyWire.flatMap(({ answer }) => ("text" in answer ? [[answer.text].flat().join("")] : []));

test("an answer is heard alike however its pieces fall", () => {
  for (const written of texts) {
    const text = written.replaceAll("{write}", "write_note").replaceAll("{read}", "read_notes");
    const whole = heard([text]);
    assert.deepEqual(heard(text), whole, text);
    for (let at = 1; at < text.length; at += 3)
      assert.deepEqual(heard([text.slice(0, at), text.slice(at)]), whole, text);
  }
});

test("what is content stays as it is", () => {
  const contents = [
    "Qwen writes `<tool_call>` and `<|im_end|>` around what it wants.",
    'So:\n\n```\n<tool_call>\n{"name": "write_note"}\n</tool_call>\n```\n\nThat is all.',
    "Use <think> within a line, or a < b and c > d [TOOL_CALLS] here.",
    '{"name": "Ann", "age": 4}',
    '```json\n{"total": 3}\n```\nThat is the total.',
    '{"name": "write_note", "arguments": {}}\n\nThat is how a call looks.',
    "    indented\n\ttext\n",
    "ends with <",
    "ends with a [",
    "``",
    "a ```b``` c <function",
  ];
  for (const text of contents) {
    assert.deepEqual(heard([text]), { text, thinking: "", calls: [] });
    assert.deepEqual(heard(text), { text, thinking: "", calls: [] });
  }
});

test("without tools JSON is an answer; a call of a tool that is not there is none either", () => {
  const text = '{"name": "write_note", "arguments": {"subject": "milk"}}';
  assert.deepEqual(heard([text], []), { text, thinking: "", calls: [] });
  const other = text.replace("write_note", "ann");
  assert.deepEqual(heard([other]), { text: other, thinking: "", calls: [] });
});

test("half a call keeps half of its arguments, which no tool takes", () => {
  const { text, calls } = heard(['<tool_call>\n{"name": "write_note", "arguments": {"subject": "mi']);
  assert.equal(text, "");
  assert.equal(calls[0]?.name, "write_note");
  assert.throws(() => JSON.parse(calls[0]!.arguments));
});
