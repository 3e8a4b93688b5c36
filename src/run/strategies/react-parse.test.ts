import assert from "node:assert/strict";
import { test } from "node:test";
import observations from "../../../test/messy-answers/react-observation.json" with { type: "json" };
import thoughts from "../../../test/messy-answers/react-thought.json" with { type: "json" };
import schemas from "../../../test/messy-answers/tools.json" with { type: "json" };
import type { JsonSchema } from "../../protocol/agents/models.ts";
import { argumentsOf } from "../text/call-arguments.ts";
import { parseObservation, parseThought } from "./react-parse.ts";

const tools = Object.keys(schemas);
const schemaOf = new Map<string, JsonSchema>(Object.entries(schemas));

for (const { name, source, text, expect, arguments: expected } of thoughts) {
  test(`${name} (${source})`, () => {
    const thought = parseThought(text, { tools });
    assert.deepEqual(thought, expect);
    if (!thought.action) return assert.equal(expected, undefined);
    assert.deepEqual(JSON.parse(argumentsOf(thought.input ?? "", schemaOf.get(thought.action)!)), expected);
  });
}

for (const { name, source, text, expect } of observations) {
  test(`${name} (${source})`, () => {
    assert.deepEqual(parseObservation(text), { done: undefined, ...expect });
  });
}

test("the first of an action and a final answer counts", () => {
  assert.deepEqual(parseThought("Final Answer: 4\nThought: next\nAction: get_time"), { thought: "", finalAnswer: "4" });
  const both = "Thought: t\nAction: get_time\nAction Input: {}\nFinal Answer: 4";
  assert.deepEqual(parseThought(both), { thought: "t", action: "get_time", input: "{}" });
});

test("the second step's verdict in the first step is no answer", () => {
  assert.deepEqual(parseThought("Thought: t\nfinal_answer: true\nObservation: It is 4."), {
    thought: "t",
    finalAnswer: "It is 4.",
  });
  assert.deepEqual(parseThought("final_answer: false"), { thought: "", problem: "missing-action" });
});

test("no tool, in many words", () => {
  for (const words of ["N/A", "none.", "No tool needed", "no action required", "*None*", "-", "null"]) {
    assert.deepEqual(parseThought(`Thought: t\nAction: ${words}`), { thought: "t", problem: "no-tool" }, words);
  }
  assert.equal(parseThought("Action: note_add\nAction Input: x").action, "note_add");
});

test("arguments in the action's parentheses", () => {
  const input = (call: string) => parseThought(`Action: ${call}`).input;
  assert.equal(input("get_time()"), undefined);
  assert.equal(input('read_file("a.txt")'), '"a.txt"');
  assert.equal(input("write_file(path=\"a=b\", content='x')"), '{"path":"a=b","content":"x"}');
  assert.equal(input('write_file("a.txt", "x")'), '["a.txt","x"]');
});

test("labels in one line, as a list, as headings", () => {
  const expected = { thought: "t", action: "read_file", input: "a" };
  assert.deepEqual(parseThought("Thought: t Action: read_file Action Input: a"), expected);
  assert.deepEqual(parseThought("- thought: t\n- action: read_file\n- action input: a"), expected);
  assert.deepEqual(parseThought("### Thought: t\n### Action: read_file\n### Action Input: a"), expected);
  assert.deepEqual(parseThought("1. __Thought__: t\n2. __Action__: read_file\n3. __Action Input__: a"), expected);
});

test("a finish is an answer, an unknown tool stays as it was written", () => {
  assert.deepEqual(parseThought("Thought: t\nAction: Finish[42]"), { thought: "t", finalAnswer: "42" });
  assert.deepEqual(parseThought("Action: final_answer\nAction Input: 42"), { thought: "", finalAnswer: "42" });
  assert.deepEqual(parseThought("Action: teleport\nAction Input: x", { tools }), {
    thought: "",
    action: "teleport",
    input: "x",
  });
});

test("nothing at all", () => {
  assert.deepEqual(parseThought(""), { thought: "", finalAnswer: "", problem: "no-format" });
  assert.deepEqual(parseObservation(""), { done: undefined, observation: "" });
});

test("verdicts", () => {
  const done = (verdict: string) => parseObservation(`final_answer: ${verdict}\nObservation: o`).done;
  assert.deepEqual(["true", "True.", "**TRUE**", '"true"', "1"].map(done), [true, true, true, true, true]);
  assert.deepEqual(["false", "False - more is needed", "No,", "0"].map(done), [false, false, false, false]);
  assert.deepEqual(["true/false", "unknown", ""].map(done), [undefined, undefined, undefined]);
  assert.deepEqual(parseObservation("Observation: o\nfinal_answer: true"), { done: true, observation: "o" });
  assert.deepEqual(parseObservation("Final Answer: Oslo has 700,000 people."), {
    done: true,
    observation: "Oslo has 700,000 people.",
  });
});

test("long runs of one character are read in reasonable time", () => {
  for (const run of [" ", "\n", "(", "```\n", "* "]) {
    const text = `Thought: t\nAction: f(${run.repeat(30_000)}x)`;
    assert.equal(parseThought(text).action, "f", JSON.stringify(run));
  }
});
