import assert from "node:assert/strict";
import { test } from "node:test";
import answers from "../../../test/messy-answers/json-actions.json" with { type: "json" };
import tools from "../../../test/messy-answers/tools.json" with { type: "json" };
import type { Action } from "./json-actions-parse.ts";
import { parseAction } from "./json-actions-parse.ts";

const known = { tools: Object.keys(tools), agents: ["orchestrator", "coder", "researcher"] };
const empty = { thought: "", action: "final", tool: null, targetAgent: null, args: {}, answer: "" };

function parsed(text: string): Omit<Action, "written"> {
  const { written: _, ...action } = parseAction(text, known);
  return action;
}

for (const { name, source, text, expect } of answers) {
  test(`${name} (${source})`, () => assert.deepEqual(parsed(text), expect));
}

test("missing keys have the protocol's defaults", () => {
  assert.deepEqual(parsed('{"thought": "hm"}'), { ...empty, thought: "hm" });
  assert.deepEqual(parsed('{"answer": 42}'), { ...empty, answer: "42" });
  assert.deepEqual(parsed('{"action": "final", "answer": null, "args": null}'), empty);
});

test("what has no key of an action is the answer itself", () => {
  for (const text of ['{"name": "Ada", "age": 36}', "{}", "[1, 2]", '"done"', "Use {curly} braces.", ""]) {
    const { written, ...action } = parseAction(text, known);
    assert.deepEqual(action, { ...empty, thought: "JSON parsing failed", answer: text, problem: "no-json" });
    assert.deepEqual(written, {
      thought: "JSON parsing failed",
      action: "final",
      args: {},
      answer: text,
      tool: null,
      target_agent: null,
    });
  }
});

test("the log quotes the model's own object, with the missing keys filled in", () => {
  const { written } = parseAction('{"action": "read_file", "action_input": {"path": "a"}, "mood": 1}', known);
  assert.deepEqual(written, {
    action: "read_file",
    action_input: { path: "a" },
    mood: 1,
    thought: "",
    tool: null,
    target_agent: null,
    args: {},
    answer: "",
  });
});

test("an invalid action and unknown names stay as they were written", () => {
  assert.deepEqual(parsed('{"action": "dance", "tool": "shoes"}'), { ...empty, action: "dance", tool: "shoes" });
  assert.deepEqual(parsed('{"action": "use_tool", "tool": "null"}'), { ...empty, action: "use_tool" });
  assert.deepEqual(parsed('{"action": "use_tool", "tool": "rm"}'), { ...empty, action: "use_tool", tool: "rm" });
  const delegate = { ...empty, action: "delegate", targetAgent: "pilot" };
  assert.deepEqual(parsed('{"action": "delegate", "target_agent": "pilot"}'), delegate);
});

test("a tool's own parameters `tool` and `args` stay in its arguments", () => {
  const args = { tool: "list_files", args: { path: "." } };
  const text = JSON.stringify({ action: "use_tool", tool: "mcp_filesystem", args });
  assert.deepEqual(parsed(text), { ...empty, action: "use_tool", tool: "mcp_filesystem", args });
});

test("an agent's name as the action delegates, its plain arguments are the task", () => {
  const expected = { ...empty, action: "delegate", targetAgent: "coder", args: { task: "write fib" } };
  assert.deepEqual(parsed('{"action": "coder", "args": "write fib"}'), expected);
  assert.deepEqual(parsed('{"action": "hand_off", "target": "Coder", "args": {"task": "write fib"}}'), expected);
});

test("without an action, what is named is done, unless there is an answer", () => {
  const used = { ...empty, action: "use_tool", tool: "read_file", args: { path: "a" } };
  assert.deepEqual(parsed('{"tool": "read_file", "args": {"path": "a"}}'), used);
  assert.equal(parsed('{"tool": "read_file", "answer": "it says a"}').action, "final");
  assert.equal(parsed('{"target_agent": "coder"}').action, "delegate");
});

test("arguments that are no object wait for the tool's schema", () => {
  const call = (args: string) => parsed(`{"action": "use_tool", "tool": "read_file", "args": ${args}}`);
  assert.deepEqual(call('"notes.md"'), { ...empty, action: "use_tool", tool: "read_file", input: "notes.md" });
  assert.equal(call("7").input, "7");
  assert.equal(call('["a", "b"]').input, '["a","b"]');
  assert.deepEqual(call("[]"), { ...empty, action: "use_tool", tool: "read_file" });
});

test("a call that is cut off anywhere is not made", () => {
  const whole = '{"thought": "t", "action": "use_tool", "tool": "write_file", "args": {"path": "a", "content": "b"}}';
  for (let length = 1; length < whole.length - 1; length++) {
    assert.notEqual(parseAction(whole.slice(0, length), known).action, "use_tool", whole.slice(0, length));
  }
  assert.equal(parseAction(whole.slice(0, -1), known).action, "use_tool");
});

test("thinking that ends in the middle, or not in an action, is no action", () => {
  assert.equal(parsed('<think>{"action": "use_tool", "tool": "get_time"} would be wrong').problem, "no-json");
  assert.equal(parsed("<think>hm</think>I am fine.").answer, "I am fine.");
});

test("a text full of braces is read in reasonable time", () => {
  assert.equal(parseAction("{".repeat(50_000), known).problem, "no-json");
  assert.equal(parseAction("{'a' ".repeat(4_000), known).action, "final");
});
