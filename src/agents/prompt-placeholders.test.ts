import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfPrompt, fillInstructions, fillPrompt } from "./prompt-placeholders.ts";

const faults = (name: string, text: string) =>
  faultsOfPrompt(name, text).map(({ line, message }) => `${line ?? ""} ${message}`);

test("placeholders are filled, doubled braces are braces", () => {
  assert.equal(fillPrompt("a {x} {{x}} {x}{y}", { x: "1", y: "2" }), "a 1 {x} 12");
  assert.equal(fillPrompt('{{"steps": [{{}}]}} {{{x}}}', { x: "1" }), '{"steps": [{}]} {1}');
});

test("what stands in a value is never interpreted", () => {
  assert.equal(fillPrompt("{x} {y}", { x: "{y} {{ $& $1", y: "}}" }), "{y} {{ $& $1 }}");
  assert.equal(fillInstructions("{tools} {agents}", { tools: "{agents} $&", agents: "a" }), "{agents} $& a");
});

test("a missing value is a fault of the program", () => {
  assert.throws(() => fillPrompt("{x}", {}), /No value for \{x\}/);
  assert.throws(() => fillPrompt("{toString}", {}), /No value/);
});

test("an agent's instructions keep their JSON", () => {
  const text = '{\n  "args": {}\n}\n{thought, action}\n{{tools}} {tool} {toString}\n{tools}';
  assert.equal(
    fillInstructions(text, { tools: "- now" }),
    text.replace("{tools}", "- now").replace(/\{tools\}$/, "- now"),
  );
});

test("a text with all it needs has no faults", () => {
  assert.deepEqual(faults("auto_choose", 'Answer {{"strategy": ""}}.\n{question} {strategies}'), []);
  assert.deepEqual(faults("react_final", "{scratchpad}"), []);
});

test("an unknown placeholder is told once, with what there is", () => {
  assert.deepEqual(faults("react_final", "{scratchpad}\n{scratchpd} {scratchpd}\n{colour}"), [
    "2 {scratchpd} is not a placeholder of react_final. Did you mean {scratchpad}?",
    "3 {colour} is not a placeholder of react_final. Available: {scratchpad}, {question}.",
  ]);
});

test("a missing placeholder is told, and an empty text", () => {
  assert.deepEqual(faults("auto_choose", "Choose for {question}."), [
    " {strategies} is missing; auto_choose can't do without it.",
  ]);
  assert.deepEqual(faults("react_final", " \n"), [" The file is empty."]);
});

test("single braces are told in one message that says how to write them", () => {
  const text = '{scratchpad}\n{\n  "a": {"b": 1}\n}\n{} {0} {x!r}';
  assert.deepEqual(faults("react_final", text), [
    '2 A brace that begins or ends no placeholder is written twice, as in {{"a": 1}}. The same in line 3, 4, 5.',
  ]);
  assert.equal(faults("react_final", `{scratchpad}${"\n{".repeat(1000)}`)[0]?.length! < 200, true);
});
