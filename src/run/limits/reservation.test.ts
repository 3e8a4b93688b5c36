import assert from "node:assert/strict";
import { test } from "node:test";
import type { Model, ModelCallRecord } from "../../protocol/agents/models.ts";
import { highestCost, expectedOf, actualSpending } from "./reservation.ts";

/** One token costs 1 of `cheap`, 10 of `dear`; of others nobody knows. */
const costOf = (id: string, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
  id === "cheap" ? inputTokens + outputTokens : id === "dear" ? (inputTokens + outputTokens) * 10 : undefined;
const model = (more: object = {}) => ({ id: "cheap", contextTokens: 8000, ...more }) as Model;

test("reservation: a request may come to its prompt and the longest answer", () => {
  const { id, ...expected } = expectedOf(model(), { input: 100.4, maxTokens: 50 }, costOf);
  assert.deepEqual(expected, { tokens: 150, cost: 150.4 });
  assert.notEqual(id, expectedOf(model(), { input: 1, maxTokens: 1 }, costOf).id);
  assert.equal(expectedOf(model(), { input: 100, maxTokens: undefined }, costOf).tokens, 2100);
});

test("reservation: of a chain the dearest counts, of one without a price nothing", () => {
  const usage = { inputTokens: 1, outputTokens: 2 };
  assert.equal(highestCost(model(), usage, costOf), 3);
  assert.equal(highestCost(model({ members: ["dear", "other"] }), usage, costOf), 30);
  assert.equal(highestCost(model({ id: "dear", members: ["cheap"] }), usage, costOf), 30);
  assert.equal(highestCost(model({ id: "other" }), usage, costOf), 0);
});

const held = { expected: { id: "h", tokens: 999, cost: 999 }, input: 100, model: "cheap" };
const record = (used: object) =>
  ({ model: "cheap", inputTokens: null, outputTokens: null, ...used }) as unknown as ModelCallRecord;
const spent = (answer: object) =>
  actualSpending(
    { records: [], usage: undefined, text: "", reasoning: "", ...answer } as Parameters<typeof actualSpending>[0],
    held,
    costOf,
  );

test("reservation: what its records say was used", () => {
  const records = [
    record({ inputTokens: 10, outputTokens: 5 }),
    record({ model: "dear", inputTokens: 1 }),
    record({ model: "dear", outputTokens: 2 }),
    record({}),
  ];
  const usage = { inputTokens: 7, outputTokens: 7 };
  assert.deepEqual(spent({ records, usage, text: "x".repeat(40) }), {
    ...{ id: "h", tokens: 18, cost: 45, requests: 1, isUnpriced: false },
  });
});

test("reservation: one whose name has no price costs what the one that was asked for does", () => {
  assert.deepEqual(spent({ records: [record({ model: "alias", inputTokens: 10 })] }), {
    ...{ id: "h", tokens: 10, cost: 10, requests: 1, isUnpriced: false },
  });
  const unknown = actualSpending(
    { records: [record({ model: "a", inputTokens: 9 })], usage: undefined, text: "", reasoning: "" },
    { ...held, model: "b" },
    costOf,
  );
  assert.deepEqual(unknown, { id: "h", tokens: 9, cost: 0, requests: 1, isUnpriced: true });
});

test("reservation: without records the answer's own usage counts, else what came of it is estimated", () => {
  const usage = { inputTokens: 7, outputTokens: 8 };
  assert.deepEqual(spent({ usage, text: "x".repeat(40) }), {
    ...{ id: "h", tokens: 15, cost: 15, requests: 1, isUnpriced: false },
  });
  assert.equal(spent({ text: "x".repeat(40), reasoning: "x".repeat(80) }).tokens, 130);
  assert.equal(spent({ reasoning: "x".repeat(80) }).tokens, 120);
  assert.equal(spent({ records: [record({})], text: "x".repeat(40) }).tokens, 110);
});

test("reservation: a request that was refused or brought nothing used nothing", () => {
  const nothing = { id: "h", tokens: 0, cost: 0, requests: 0, isUnpriced: false };
  assert.deepEqual(spent({}), nothing);
  assert.deepEqual(spent({ records: [record({})] }), nothing);
});
