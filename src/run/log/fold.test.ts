import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../../protocol/threads/items.ts";
import { callKey, foldOf, isErased, isNested, isWordless, protocolText } from "./fold.ts";

/** Items in their order, as far as a fold looks at them. */
function items(...given: Readonly<Record<string, unknown>>[]): Item[] {
  return given.map((item, at) => ({ seq: at + 1, step: null, index: null, ...item }) as unknown as Item);
}

const said = { kind: "message", body: { role: "user", content: "hi" } };
const answer = (step: string, body: object = {}) => ({
  ...{ kind: "message", step },
  body: { role: "assistant", content: "ok", ...body },
});
const call = (step: string, index: number) => ({ kind: "call", step, index, body: { name: "t" } });
const result = (step: string, index: number) => ({ kind: "result", step, index, body: { content: "" } });
const state = (type: string) => ({ kind: "state", body: { type } });

/** What the fold of these items says: its steps, its open calls, and the step of its answer. */
function folded(...given: Parameters<typeof items>) {
  const all = items(...given);
  const fold = foldOf(all);
  assert.equal(fold.items, all);
  return [fold.steps, fold.openCalls.map(callKey), fold.answer?.step];
}

test("fold: a run that was only asked has no step, no call and no answer", () => {
  assert.deepEqual(folded(said), [0, [], undefined]);
  assert.deepEqual(folded(), [0, [], undefined]);
  assert.deepEqual(folded(answer("1"), { kind: "question", step: "1", index: 0, body: {} }), [1, [], "1"]);
});

test("fold: the last answer without calls is the answer", () => {
  assert.deepEqual(folded(said, answer("1")), [1, [], "1"]);
  assert.deepEqual(folded(said, answer("1"), call("1", 0), result("1", 0), answer("2")), [2, [], "2"]);
});

test("fold: an answer that asked for calls is none, whether they are done or not", () => {
  assert.deepEqual(folded(said, answer("1"), call("1", 0)), [1, ["1.0"], undefined]);
  assert.deepEqual(folded(said, answer("1"), call("1", 0), result("1", 0)), [1, [], undefined]);
});

test("fold: calls without a result are open, in their order", () => {
  const calls = [call("1", 2), call("1", 0), call("1", 1), result("1", 0)];
  assert.deepEqual(folded(said, answer("1"), ...calls), [1, ["1.2", "1.1"], undefined]);
  assert.deepEqual(folded(said, answer("1"), call("1", 0), result("2", 0)), [1, ["1.0"], undefined]);
});

test("fold: nobody is answered who spoke after the answer, or after what it saw", () => {
  assert.deepEqual(folded(answer("1"), said), [1, [], undefined]);
  assert.deepEqual(folded(said, said, answer("1", { seen: 1 })), [1, [], undefined]);
  assert.deepEqual(folded(said, said, answer("1", { seen: 2 })), [1, [], "1"]);
  assert.deepEqual(folded(said, answer("1", { seen: 1 })), [1, [], "1"]);
  assert.deepEqual(folded(said, answer("1"), { kind: "notice", body: { text: "x" } }), [1, [], "1"]);
});

test("fold: what a tool asked of a model is no part of it", () => {
  assert.deepEqual(folded(said, answer("1.0/1"), call("1.0/1", 0)), [0, [], undefined]);
  const own = [answer("1"), call("1", 0)];
  assert.deepEqual(folded(said, ...own, answer("1.0/1"), result("1", 0)), [1, [], undefined]);
  const [nested, whole, none] = items(answer("1.0/1"), answer("1"), said);
  assert.deepEqual(
    [nested, whole, none].map((item) => isNested(item as Item)),
    [true, false, false],
  );
});

test("fold: what is only protocol is no answer", () => {
  assert.deepEqual(folded(said, answer("1", { content: "", protocolAt: 0, reasoning: "x" })), [1, [], undefined]);
  assert.deepEqual(folded(said, answer("1", { content: "ok", protocolAt: 0, reasoning: "x" })), [1, [], "1"]);
});

test("fold: one without a word is an answer only where the run ended with it", () => {
  const wordless = answer("1", { content: " \n" });
  assert.deepEqual(folded(said, wordless), [1, [], undefined]);
  assert.deepEqual(folded(said, wordless, state("run-end")), [1, [], "1"]);
  assert.deepEqual(folded(said, wordless, state("run-end"), state("run-resume")), [1, [], undefined]);
  assert.deepEqual(folded(said, wordless, state("run-end"), state("withdrawn")), [1, [], "1"]);
  assert.deepEqual(folded(said, wordless, { kind: "notice", body: { type: "run-end" } }), [1, [], undefined]);
  const erasedEnd = { kind: "state", body: { erased: true } };
  assert.deepEqual(folded(said, wordless, state("run-end"), erasedEnd), [1, [], "1"]);
});

test("fold: an erased answer was one", () => {
  const [erased, empty, full] = items({ ...answer("1"), body: { erased: true } }, answer("1", { content: "" }), said);
  assert.deepEqual(
    [erased, empty, full].map((item) => isErased(item as Item)),
    [true, false, false],
  );
  const wordless = [erased, empty, full].map((item) => isWordless(item as Parameters<typeof isWordless>[0]));
  assert.deepEqual(wordless, [false, true, false]);
});

test("fold: a strategy's own protocol stands behind the model's thoughts", () => {
  const text = (body: object) => protocolText(items(answer("1", body))[0] as Parameters<typeof protocolText>[0]);
  assert.equal(text({ reasoning: "think: act", protocolAt: 7 }), "act");
  assert.equal(text({ protocolAt: 0 }), "");
  assert.equal(text({ reasoning: "think" }), undefined);
});
