import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import { standingStill } from "../../../test/stand-still.ts";
import type { TestRuns, TestRunsOptions } from "../../../test/runs.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { react } from "./react.ts";

const lookUp = 'Thought: I need the numbers.\nAction: look_up\nAction Input: {"what": "fibonacci"}';
const enough = "final_answer: true\nObservation: The tenth is 55.";

function tools(): { readonly tools: readonly Tool[]; readonly asked: string[] } {
  const asked: string[] = [];
  const lookUpTool = defineTool({
    name: "look_up",
    description: "Looks something up.",
    input: z.object({ what: z.string().describe("a word"), limit: z.number().optional() }),
    effect: "read",
    execute({ what }) {
      asked.push(what);
      if (what === "nothing") throw new Error("there is no such entry");
      return "1 1 2 3 5 8 13 21 34 55";
    },
  });
  const destroy = defineTool({
    name: "destroy",
    description: "Takes something away.",
    input: z.object({ what: z.string() }),
    effect: "write",
    destructive: true,
    execute: ({ what }) => asked.push(what),
  });
  return { tools: [lookUpTool, destroy], asked };
}

function lastPrompt({ messages }: ModelRequest): string {
  return String(messages.at(-1)!.content);
}

function settings(changes: Partial<(typeof defaultStrategySettings)["react"]>) {
  return { ...defaultStrategySettings, react: { ...defaultStrategySettings.react, ...changes } };
}

async function traceOf(service: TestRuns, threadId: string): Promise<string[]> {
  const items = await service.threads.listItems(service.caller, threadId, { limit: 1000 });
  return items.map((item) => `${item.kind}${item.step === null ? "" : ` ${item.step}`}`);
}

anyRunDatabase((suite) => {
  const start = (options: Omit<TestRunsOptions, "database" | "strategies">) =>
    suite.start({ ...options, agent: { strategy: "react" }, strategies: { react } });
  const endOf = async (service: TestRuns, content = "go") => {
    const { started, text } = await service.ask(content);
    return { ...(await rowOf(suite.database(), started.runId)), text, ...started };
  };

  test("thought, action, observation, answer", async () => {
    const { tools: given, asked } = tools();
    const service = await start({ tools: given, script: [lookUp, enough, [{ text: "It is " }, { text: "55." }]] });
    const { started, events, text } = await service.ask("What is the tenth Fibonacci number?");
    assert.equal(text, "It is 55.", "only the answer is told as text");
    assert.deepEqual(asked, ["fibonacci"]);
    assert.deepEqual(await traceOf(service, started.threadId), [
      "message",
      "message thought:1",
      "call thought:1",
      "result thought:1",
      "message observation:1",
      "message final:1",
      "state",
    ]);
    const reasoning = events.flatMap((event) => (event.type === "reasoning-delta" ? [event.text] : [])).join("\n");
    assert.match(reasoning, /^Thought: I need the numbers/);
    const [thought, observation, final] = service.model.requests;
    assert.equal(thought!.tools, undefined);
    const system = String(thought!.messages[0]!.content);
    assert.match(system, /^Help\.\n/);
    assert.match(system, /look_up: Looks something up\.\n {2}Parameters:\n {2}- what \(string\): a word/);
    assert.match(system, /- limit \(number, optional\)/);
    assert.match(lastPrompt(thought!), /so far:\n\n\(nothing yet\)\n/);
    assert.match(lastPrompt(observation!), /<result>\n1 1 2 3 5 8 13 21 34 55\n<\/result>/);
    assert.equal(lastPrompt(observation!).split("1 1 2 3").length, 2, "the result is told once");
    assert.match(
      lastPrompt(final!),
      /Thought: I need the numbers\.\nAction: look_up\nAction Input: \{"what": "fibonacci"\}\nResult: 1 1 2 3 5 8 13 21 34 55\nObservation: The tenth is 55\./,
    );
    assert.deepEqual(
      final!.messages.map(({ role }) => role),
      ["system", "user"],
    );
  });

  test("a python_coder is given what it takes: code, or a task in words", async () => {
    for (const [key, rule] of [
      ["code", /its Action Input is the Python code itself/],
      ["task", /Its Action Input is an instruction in plain words, never code/],
    ] as const) {
      const given: string[] = [];
      const coder = defineTool({
        name: "python_coder",
        description: "Codes.",
        input: z.object({ [key]: z.string() }),
        effect: "read",
        execute: (input) => given.push(String(input[key])),
      });
      const act = "Thought: code.\nAction: python_coder\nAction Input: x = 1\nprint(x)";
      const service = await start({ tools: [coder], script: [act, enough, "1"] });
      await service.ask("go");
      await service.stop(0);
      const [system, thought] = service.model.requests[0]!.messages.map(({ content }) => String(content));
      assert.match(system!, rule);
      assert.match(
        thought! + lastPrompt(service.model.requests[0]!),
        key === "task" ? /never code/ : /Python code that prints/,
      );
      assert.deepEqual(given, ["x = 1\nprint(x)"]);
    }
  });

  test("a final answer in place of an action is the answer, and the next request sees it as such", async () => {
    const script = ["Thought: easy.\nFinal Answer: It is 55.", "Thought: thanks.\nFinal Answer: You're welcome."];
    const service = await start({ script });
    const first = await service.ask("go");
    assert.equal(service.model.requests.length, 1);
    await service.ask("thanks", { threadId: first.started.threadId });
    assert.deepEqual(
      service.model.requests[1]!.messages.slice(1).map(({ role, content }) => [role, String(content).split("\n\n")[0]]),
      [
        ["user", "go"],
        ["assistant", "It is 55."],
        ["user", "thanks"],
      ],
    );
  });

  test("what the model makes up behind its action is never used", async () => {
    const { tools: given } = tools();
    const invented = `${lookUp}\nObservation: It is 89.\nThought: I know.\nFinal Answer: 89`;
    const service = await start({ tools: given, script: [invented, enough, "55"] });
    assert.equal((await service.ask("go")).text, "55");
    for (const request of service.model.requests) assert.doesNotMatch(JSON.stringify(request.messages), /89/);
  });

  test("an error goes back to the model, without being read by a step of its own", async () => {
    const { tools: given, asked } = tools();
    const missing = 'Thought: try.\nAction: look_up\nAction Input: "nothing"';
    const unknown = "Thought: try another.\nAction: look_down\nAction Input: x";
    const service = await start({ tools: given, script: [missing, unknown, lookUp, enough, "55"] });
    assert.equal((await service.ask("go")).text, "55");
    assert.deepEqual(asked, ["nothing", "fibonacci"]);
    const [, second, third] = service.model.requests.map(lastPrompt);
    assert.match(second!, /Observation: it failed: .*there is no such entry/);
    assert.match(third!, /Action Input: \{"input":"x"\}\nObservation: it failed: Tool "look_down" not found/);
  });

  test("with retryOnError false an error ends the run", async () => {
    const { tools: given } = tools();
    for (const [script, message] of [
      [["Thought: try.\nAction: look_up\nAction Input: nothing"], /look_up failed: .*there is no such entry/],
      [["Thought: try.\nAction: look_down\nAction Input: x"], /Tool "look_down" not found/],
      [["Thought: I should look."], /without an action/],
    ] as const) {
      const service = await start({ tools: given, script, strategySettings: settings({ retryOnError: false }) });
      const { status, error } = await endOf(service);
      await service.stop(0);
      assert.deepEqual([status, error?.code], ["failed", "react_tool_failed"]);
      assert.match(error!.message, message);
    }
  });

  test("at the last iteration it must answer", async () => {
    const { tools: given, asked } = tools();
    const goOn = "final_answer: false\nObservation: more";
    const more = (what: string) => `Thought: more\nAction: look_up\nAction Input: ${what}`;
    const script = [more("a"), goOn, more("b"), goOn, "That is all I found."];
    const service = await start({ tools: given, script, strategySettings: settings({ maxIterations: 2 }) });
    assert.equal((await service.ask("go")).text, "That is all I found.");
    assert.deepEqual(asked, ["a", "b"]);
  });

  test("a thought without an action is asked for again once", async () => {
    const service = await start({ script: ["Thought: hm.", "Thought: still.", "I can't tell."] });
    const { started, text } = await service.ask("go");
    assert.equal(text, "I can't tell.");
    assert.match(lastPrompt(service.model.requests[1]!), /Thought: hm\.\nObservation: this had neither/);
    assert.deepEqual((await traceOf(service, started.threadId)).slice(1, 4), [
      "message thought:1",
      "message thought:2",
      "message final:1",
    ]);
  });

  test("calls that a model makes by its provider's own means are done too", async () => {
    const { tools: given, asked } = tools();
    const both = [
      { call: "look_up", arguments: { what: "a" } },
      { call: "look_up", arguments: { what: "b" } },
    ];
    const service = await start({ tools: given, script: [both, enough, "55"] });
    assert.equal((await service.ask("go")).text, "55");
    assert.deepEqual(asked, ["a", "b"]);
    assert.match(lastPrompt(service.model.requests[1]!), /<result>\nlook_up: 1 1 2.*\n\nlook_up: 1 1 2/);
  });

  test("a person allows an action, and says more while the answer is being written", async () => {
    const { tools: given, asked } = tools();
    const gate = Promise.withResolvers<void>();
    const script = [
      "Thought: away with it.\nAction: destroy\nAction Input: the old list",
      enough,
      [{ text: "Gone." }, { gate: () => gate.promise }],
      "Thought: that was all.\nFinal Answer: Gone, and good night.",
    ];
    const service = await start({ tools: given, script });
    const { started, events } = await service.ask("go");
    assert.equal(events.at(-1)!.type, "run-wait");
    assert.deepEqual(asked, []);
    const [question] = await service.approvals.questions(service.caller, started.runId);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question!.id,
      input: { decision: "allow" },
    });
    await until(() => service.model.requests.length === 3);
    await service.runs.steer(service.caller, started.runId, { content: "and good night" });
    gate.resolve();
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "done");
    assert.deepEqual(asked, ["the old list"]);
    const items = await service.threads.listItems(service.caller, started.threadId, { limit: 1000 });
    const last = items.findLast((item): item is ItemOf<"message"> => item.kind === "message");
    assert.equal(last?.body.content, "Gone, and good night.");
    assert.match(
      lastPrompt(service.model.requests[3]!),
      /The user wrote meanwhile: and good night\nFinal Answer: Gone\./,
    );
  });

  for (let acts = 1; acts <= 4; acts++)
    test(`stopped after ${acts} acts: the next process repeats none of them`, async () => {
      const { tools: given, asked } = tools();
      const answers = [lookUp, enough, "55"];
      const { strategy, stands, giveUp } = standingStill(react, { after: acts });
      const agent = { strategy: "react" };
      const dying = await suite.start({ tools: given, script: answers, agent, strategies: { react: strategy } });
      const started = await dying.runs.start(dying.caller, { agent: "assistant", message: { content: "go" } });
      await stands;
      const stopping = dying.stop(0);
      giveUp();
      await stopping;
      const next = await start({ tools: given, script: answers.slice(dying.model.requests.length) });
      const events = await next.events(started);
      assert.equal(events.at(-1)!.type, "run-end");
      const { status, error } = await rowOf(suite.database(), started.runId);
      assert.deepEqual({ status, error }, { status: "done", error: null });
      assert.equal(dying.model.requests.length + next.model.requests.length, 3);
      assert.deepEqual(asked, ["fibonacci"]);
    });
});
