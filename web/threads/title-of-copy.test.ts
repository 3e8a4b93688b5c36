import assert from "node:assert/strict";
import { test } from "node:test";
import { titleOfCopy } from "./title-of-copy.ts";

for (const [title, others, copy] of [
  ["Plan", [], "Plan (2)"],
  ["Plan", ["Plan", "Plan (2)"], "Plan (3)"],
  ["Plan (2)", ["Plan (3)"], "Plan (4)"],
  ["Sales (2026 and before)", [], "Sales (2026 and before) (2)"],
  ["(2)", [], "(2) (2)"],
] as const)
  test(`a copy of "${title}" beside ${others.length} is called "${copy}"`, () =>
    assert.equal(titleOfCopy(title, others), copy));

test("a long title stays within what the server takes", () =>
  assert.equal(titleOfCopy("x".repeat(500), []).length, 500));
