import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import { emptyAnswer, messageBody } from "./read-answer.ts";

const record = (startedAt: string, more: Partial<ModelCallRecord & { cost: number }>) => ({
  id: "a",
  userId: null,
  runId: null,
  step: "1",
  attempt: 1,
  asked: "m",
  model: "m",
  provider: "p",
  startedAt: new Date(startedAt),
  firstPartMs: null,
  totalMs: 0,
  inputTokens: null,
  outputTokens: null,
  finish: null,
  error: null,
  ...more,
});

test("a message tells how long its answer took from when it was first asked for, and what all attempts cost", () => {
  const records = [
    record("2026-01-01T00:00:00.000Z", { totalMs: 300, error: "overloaded" }),
    record("2026-01-01T00:00:01.000Z", { firstPartMs: 250.4, totalMs: 900, cost: 0.5 }),
  ];
  const { timing, cost } = messageBody({ ...emptyAnswer(), text: "yes", records });
  assert.deepEqual(timing, { firstMs: 1250, totalMs: 1900 });
  assert.equal(cost, 0.5);
  const bare = messageBody({ ...emptyAnswer(), text: "yes" });
  assert.equal("timing" in bare || "cost" in bare, false);
  // Prices are not known, and nothing came before it broke off.
  const [first] = records;
  assert.deepEqual(messageBody({ ...emptyAnswer(), text: "", records: [first!] }).timing, { totalMs: 300 });
});
