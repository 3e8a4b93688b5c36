import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOutcome, parsePlan } from "./plan-execute-parse.ts";

const ab = ["find a", "write b"];
for (const [name, text, expected] of [
  ["an object", '{"steps": ["find a", "write b"]}', ab],
  ["prose and a fence around it", 'Sure!\n```json\n{"steps": ["find a", "write b",]}\n```\nShall I begin?', ab],
  ["thinking before it", '<think>{"steps": ["x"]} or so</think>{"steps": ["find a", "write b"]}', ab],
  ["a list alone", '["find a", "write b"]', ab],
  ["steps that are objects", '{"plan": [{"step": 1, "description": "find a"}, {"title": "write b"}]}', ab],
  ["a list of objects", '[{"id": 1, "task": "find a"}, {"id": 2, "task": "write b"}]', ab],
  ["cut off in the second step", '{"steps": ["find a", "write b', ab],
  ["a numbered list", "Here is my plan:\n1. find a\n2) write b\n", ab],
  ["a list of points", "- find a\n- write b", ab],
  ["named steps", "Step 1: find a\nStep 2: write b", ab],
  ["headings", "### Step 1: find a\nIn the notes.\n### Step 2: write b", ab],
  ["points below numbers", "1. find a\n   - in the notes\n2. write b", ab],
  ["boxes to tick", "- [ ] find a\n- [ ] write b", ab],
  ["a link in a step", "1. open [the notes](notes.md)\n2. write b", ["open [the notes](notes.md)", "write b"]],
  ["a step's arguments", '1. read {"paths": ["a", "c"]}\n2. write b', ['read {"paths": ["a", "c"]}', "write b"]],
  ["brackets in the prose", "My plan [short]:\n1. find a\n2. write b", ab],
  ["a number in brackets before it", 'As said in [1]: {"steps": ["find a", "write b"]}', ab],
  ["steps one deeper", '{"plan": {"steps": ["find a", "write b"]}}', ab],
  ["a key for each step", '{"step1": "find a", "step_2": "write b"}', ab],
  ["an empty plan", '{"steps": []}', []],
  ["empty steps", '{"steps": ["", "find a", null]}', ["find a"]],
  ["no plan", "Hello! What can I do for you?", undefined],
  ["nothing", "", undefined],
] as const)
  test(`a plan: ${name}`, () => assert.deepEqual(parsePlan(text), expected));

for (const [name, text, expected] of [
  ["done", "It is written.", { failed: false, text: "It is written." }],
  ["failed", "FAILED: no such file", { failed: true, text: "no such file" }],
  ["in bold, behind prose", "I tried.\n**FAILED:** no such file", { failed: true, text: "no such file\nI tried." }],
  ["without a reason", "FAILED:", { failed: true, text: "no reason was given" }],
  ["a word of the result", "The build FAILED: twice, now it works.", { failed: false }],
  ["a tool's output", "Now it works. Before:\n```\nFAILED: 3 tests\n```", { failed: false }],
  ["only thought", "<think>FAILED: is what I'd say</think>It is written.", { failed: false, text: "It is written." }],
] as const)
  test(`what came out of a step: ${name}`, () => assert.partialDeepStrictEqual(parseOutcome(text), expected));
