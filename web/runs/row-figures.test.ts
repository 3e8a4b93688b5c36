import assert from "node:assert/strict";
import { test } from "node:test";
import { cachedTokens, stepUse, workedMs } from "./row-figures.ts";
import type { TraceRow } from "./trace-rows.ts";

const row = (times: Pick<TraceRow, "from" | "to"> & Partial<TraceRow>) => times as TraceRow;

test("a call that waited to be allowed tells its own time", () => {
  assert.equal(workedMs(row({ from: 1000, to: 61_500, workedFrom: 61_000 })), 500);
  assert.equal(workedMs(row({ from: 1000, to: 1500 })), 500);
  assert.equal(workedMs(row({ from: 1000, to: undefined })), undefined);
  assert.equal(workedMs(row({ from: 1000, to: 61_000, workedFrom: Infinity })), 0, "it never began");
});

test("tokens of a cache are told only where there are some", () => {
  const answer = (usage: unknown) => ({ facts: { usage } }) as never;
  assert.equal(cachedTokens(answer({ inputTokens: 5, cachedTokens: 3 })), 3);
  assert.equal(cachedTokens(answer({ inputTokens: 5 })), undefined);
  assert.equal(cachedTokens(undefined), undefined);
  assert.equal(stepUse(row({ from: 0, to: 0, modelCalls: [] })), undefined);
});
