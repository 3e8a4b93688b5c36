import assert from "node:assert/strict";
import { test } from "node:test";
import type { ColloquyError } from "../../protocol/base/errors.ts";
import { decisions, type Item, type ItemOf } from "../../protocol/threads/items.ts";
import type { RunDecision } from "../runs.ts";
import { checkDecision } from "./check-decision.ts";

type QuestionState = {
  readonly body?: object;
  readonly status?: string;
  readonly isChild?: boolean;
  readonly items?: object[];
};

/** What is said against a decision: its code or param, and its words. */
function refused(input: RunDecision, { body = {}, status = "waiting", isChild, items = [] }: QuestionState = {}) {
  const question = { kind: "question", id: "q", body: { reason: "approval", argumentsHash: "h", ...body } };
  const run = { status, root: isChild ? {} : undefined } as Parameters<typeof checkDecision>[0];
  try {
    checkDecision(run, [question, ...items] as unknown as Item[], {
      ...{ question: question as unknown as ItemOf<"question">, input },
    });
    return undefined;
  } catch (error) {
    const { status: http, code, detail, message } = error as ColloquyError;
    return [http, detail.param ?? code, message, ...(code === "invalid_arguments" ? [code] : [])];
  }
}
const allow = { decision: "allow" } as const;
const deny = { decision: "deny" } as const;

test("decision: each question takes its own decisions, and no others", () => {
  const all = [...new Set(Object.values(decisions).flat())];
  for (const [reason, possible] of Object.entries(decisions))
    for (const decision of all) {
      const isOne = (possible as readonly string[]).includes(decision);
      const text = `This question takes ${possible.join(" or ")}.`;
      assert.deepEqual(
        refused({ decision, text: "x" }, { body: { reason } }),
        isOne ? undefined : [400, "decision", text],
        `${decision} on ${reason}`,
      );
    }
});

test("decision: a question is answered once, and while its run waits for it", () => {
  const decided = { kind: "decision", id: "d", body: { question: "q", decision: "allow" } };
  assert.deepEqual(refused(allow, { items: [decided] }), [
    ...[409, "already_decided", "This question has already been answered."],
  ]);
  const other = { ...decided, body: { question: "other" } };
  assert.equal(refused(allow, { items: [other] }), undefined);
  for (const status of ["running", "queued", "done", "cancelled"])
    assert.deepEqual(refused(allow, { status }), [
      ...[409, "run_not_waiting", `The run is ${status}; it is not waiting for this.`],
    ]);
  const stop = { decision: "stop" } as const;
  const provider = { reason: "provider" };
  assert.equal(refused(stop, { body: provider, status: "running" }), undefined, "it asks again by itself");
  assert.equal(refused(stop, { body: provider, status: "running", isChild: true })![1], "run_not_waiting");
  assert.equal(refused(stop, { body: provider, status: "done" })![1], "run_not_waiting");
  assert.equal(refused(stop, { body: { reason: "limit" }, status: "running" })![1], "run_not_waiting");
});

test("decision: what the person saw is what is decided about", () => {
  assert.equal(refused({ ...allow, argumentsHash: "h" }), undefined);
  assert.deepEqual(refused({ ...allow, argumentsHash: "old" }), [
    ...[409, "arguments_changed", "The arguments have changed since you saw them."],
  ]);
});

test("decision: always, here and read go with allow, where the question is about it", () => {
  assert.equal(refused({ ...allow, always: true }), undefined);
  assert.deepEqual(refused({ ...deny, always: true }), [400, "decision", "always goes with allow only."]);
  const told = { receivers: ["example.org"] };
  assert.equal(refused({ ...allow, here: true }, { body: told }), undefined);
  const here = [400, "here", "here goes with allow, where the question names receivers."];
  assert.deepEqual(refused({ ...deny, here: true }, { body: told }), here);
  assert.deepEqual(refused({ ...allow, here: true }), here);
  const outside = { outside: ["example.org"] };
  assert.equal(refused({ ...allow, read: true }, { body: outside }), undefined);
  const read = [400, "read", "read goes with allow, where text from outside was read."];
  assert.deepEqual(refused({ ...deny, read: true }, { body: outside }), read);
  assert.deepEqual(refused({ ...allow, read: true }), read);
});

test("decision: arguments go with allow and answer, and not with always", () => {
  assert.equal(refused({ ...allow, arguments: "{}" }), undefined);
  assert.deepEqual(refused({ ...deny, arguments: "{}" }), [
    ...[400, "decision", "arguments go with allow and answer only."],
  ]);
  assert.deepEqual(refused({ ...allow, arguments: "{}", always: true }), [
    ...[400, "always", "Either other arguments or always, not both."],
  ]);
});

test("decision: an answer is a text, or one of the choices", () => {
  const question = { reason: "question" };
  const answer = (text?: string, more = {}) =>
    refused({ decision: "answer", ...(text === undefined ? {} : { text }) }, { body: { ...question, ...more } });
  assert.equal(answer("yes"), undefined);
  const missing = [400, "text", "The answer is missing: send it as text."];
  for (const text of [undefined, "", " \n"]) assert.deepEqual(answer(text), missing);
  assert.equal(answer("yes", { choices: ["yes", "no"] }), undefined);
  assert.deepEqual(answer("maybe", { choices: ["yes", "no"] }), [400, "text", "The answer must be one of yes, no."]);
  assert.equal(refused({ decision: "decline" }, { body: question }), undefined, "no answer is needed");
});

test("decision: a form is filled in as its schema says, without numbers that can't be kept", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const fill = (filled?: string) =>
    refused(
      { decision: "answer", ...(filled === undefined ? {} : { arguments: filled }) },
      { body: { reason: "question", schema } },
    );
  assert.equal(fill('{"n": 1}'), undefined);
  assert.deepEqual(fill(), [400, "arguments", "The question has a form: send it filled in, as arguments."]);
  for (const [filled, told] of [
    ["{}", /n/],
    ['{"n": "x"}', /number/],
    ["{", /./],
    ['{"n": 12345678901234567890}', /n: 12345678901234567890 has more digits than can be kept$/],
  ] as const) {
    const [http, param, message, code] = fill(filled)!;
    assert.deepEqual([http, param, code], [400, "arguments", "invalid_arguments"]);
    assert.match(String(message), told);
  }
  const many = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`n${at}`, 0]));
  const [, , message] = fill(JSON.stringify({ n: 1, ...many }).replaceAll(":0", ":12345678901234567890"))!;
  assert.equal(String(message).split("; ").length, 5);
});
