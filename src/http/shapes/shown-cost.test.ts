import assert from "node:assert/strict";
import { test } from "node:test";
import { shownCost } from "./budget-view.ts";

test("costs are told without what adding them up leaves behind", () => {
  for (const [sum, told] of [
    [0.1 + 0.2, 0.3],
    [0.0002000000000000001, 0.0002],
    [0.1 + 0.2 - 0.3, 0],
    [0.000_000_15, 0.000_000_15],
    [123_456.789 + 0.001, 123_456.79],
  ] as const)
    assert.equal(shownCost(sum), told);
});
