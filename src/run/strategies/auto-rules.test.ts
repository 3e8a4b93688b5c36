import assert from "node:assert/strict";
import { test } from "node:test";
import set from "../../../test/auto-requests.json" with { type: "json" };
import { chooseByRules } from "./auto-rules.ts";

type LabelledRequest = {
  readonly text: string;
  readonly tools: string | readonly string[];
  readonly expect: string | readonly string[];
  readonly needsTool: boolean;
  readonly held?: boolean;
  readonly hasFiles?: boolean;
  readonly turns?: number;
};

const requests: readonly LabelledRequest[] = set.requests;

function toolsOf({ tools }: LabelledRequest) {
  if (tools === "none") return [];
  return tools === "all" ? set.tools : set.tools.filter(({ name }) => tools.includes(name));
}

const judged = requests.map((request) => {
  const choice = chooseByRules({ ...request, tools: toolsOf(request) });
  return { request, choice, right: choice.sure && [request.expect].flat().includes(choice.strategy) };
});

function scoreOf(part: typeof judged) {
  const share = (count: number) => Math.round((1000 * count) / part.length) / 10;
  return {
    requests: part.length,
    right: share(part.filter(({ right }) => right).length),
    asked: share(part.filter(({ choice }) => !choice.sure).length),
  };
}

test("the set is large, and more than a quarter of it was not used to find the rules", () => {
  assert.ok(requests.length >= 80);
  assert.ok(requests.filter(({ held }) => held).length * 4 >= requests.length);
  assert.equal(new Set(requests.map(({ text }) => text)).size, requests.length);
  const names = new Set(set.tools.map(({ name }) => name));
  for (const { tools } of requests)
    if (typeof tools !== "string") assert.ok(tools.length > 0 && tools.every((name) => names.has(name)));
});

for (const [name, part] of [
  ["all", judged],
  ["held out", judged.filter(({ request }) => request.held)],
] as const)
  test(`of ${name}, at least 85 % are right without a model, which is asked for at most 30 %`, (context) => {
    const score = scoreOf(part);
    context.diagnostic(`${name}: ${score.requests} requests, ${score.right} % right, model asked for ${score.asked} %`);
    assert.ok(score.right >= 85);
    assert.ok(score.asked <= 30);
  });

test("no request that needs a tool is sent to chat", () => {
  const lost = judged.filter(({ request, choice }) => request.needsTool && choice.sure && choice.strategy === "chat");
  assert.deepEqual(
    lost.map(({ request }) => request.text),
    [],
  );
});

test("the rules are unsure only where nothing plainly speaks for a tool", () => {
  for (const { choice } of judged) assert.ok(choice.sure || choice.strategy === "chat");
});

test("without tools it is chat, whatever is asked for", () => {
  for (const { text } of requests) assert.equal(chooseByRules({ text, tools: [] }).strategy, "chat");
});

test("a reason names the words that decided", () => {
  const reason = (text: string) => chooseByRules({ text, tools: set.tools }).reason;
  assert.equal(reason("Please remind me to call Ann"), "It asks for the user's tasks: “remind me”.");
  assert.equal(reason("Find out why the build is red"), "Each finding decides the next step: “find out why”.");
});

test("quotations, pasted code and given texts ask for nothing", () => {
  const strategy = (text: string) => chooseByRules({ text, tools: set.tools }).strategy;
  assert.equal(strategy('Translate "search the web for shoes" into Dutch'), "chat");
  assert.equal(strategy("What does this do?\n```\nrm tasks.csv\n```"), "chat");
  assert.equal(strategy("Proofread: I will add a task tomorrow"), "chat");
  assert.equal(strategy("Summarize the following: https://example.org/news"), "tools");
});

test("in a conversation a yes may let something happen", () => {
  const strategy = (text: string, turns: number) => chooseByRules({ text, turns, tools: set.tools }).strategy;
  assert.equal(strategy("ok", 1), "chat");
  assert.equal(strategy("ok", 2), "tools");
  assert.equal(strategy("thanks!", 2), "chat");
});

test("what is asked for is found before and after a long text", () => {
  const long = "lorem ipsum dolor sit amet ".repeat(10_000);
  assert.equal(chooseByRules({ text: `${long}\nAdd a task for this.`, tools: set.tools }).strategy, "tools");
  assert.equal(chooseByRules({ text: `Add a task for this.\n${long}`, tools: set.tools }).strategy, "tools");
});
