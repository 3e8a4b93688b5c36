import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import type { TestRuns, TestRunsOptions } from "../../../test/runs.ts";
import { standingStill } from "../../../test/stand-still.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { planExecute } from "./plan-execute.ts";

const planOf = (...steps: string[]) => JSON.stringify({ steps });
const send = (to: string): ScriptAnswer => [{ text: "I send it." }, { call: "send", arguments: { to } }];
const happy: ScriptAnswer[] = [
  planOf("write to Ann", "write to Bob"),
  send("Ann"),
  "Ann has it.",
  send("Bob"),
  "Bob has it.",
  [{ text: "Both " }, { text: "have it." }],
];

function sending(options: { destructive?: boolean } = {}) {
  const sent: string[] = [];
  const tool = defineTool({
    name: "send",
    description: "Sends a letter.",
    input: z.object({ to: z.string() }),
    effect: "write",
    ...options,
    execute: ({ to }) => `letter ${sent.push(to)} to ${to}`,
  });
  return { tools: [tool], sent };
}

function lastPrompt({ messages }: ModelRequest): string {
  return String(messages.findLast(({ role }) => role === "user")!.content);
}

function settings(changes: Partial<(typeof defaultStrategySettings)["plan"]>) {
  return { ...defaultStrategySettings, plan: { ...defaultStrategySettings.plan, ...changes } };
}

const agent = { strategy: "plan-execute" };

anyRunDatabase((suite) => {
  const start = (options: Omit<TestRunsOptions, "database" | "strategies" | "agent">) =>
    suite.start({ ...options, agent, strategies: { "plan-execute": planExecute } });
  const itemsOf = (service: TestRuns, threadId: string) =>
    service.threads.listItems(service.caller, threadId, { limit: 1000 });
  /** The states of the plan's steps, one word for each plan item. */
  const plansOf = async (service: TestRuns, threadId: string) =>
    (await itemsOf(service, threadId)).flatMap((item) =>
      item.kind === "plan" ? [`${item.step} ${item.body.steps.map(({ state }) => state).join(" ")}`.trim()] : [],
    );
  const isDone = async (runId: string) => (await rowOf(suite.database(), runId)).status === "done";

  test("a plan is made, worked through and answered from", async () => {
    const { tools, sent } = sending();
    const service = await start({ tools, script: happy });
    const { started, events, text } = await service.ask("Write to Ann and Bob");
    assert.equal(text, "Both have it.", "only the answer is told as text");
    assert.deepEqual(sent, ["Ann", "Bob"]);
    assert.deepEqual(await plansOf(service, started.threadId), [
      "plan:1 running open",
      "plan:1:2 done running",
      "plan:1:3 done done",
    ]);
    assert.equal(events.filter(({ type }) => type === "plan").length, 3);
    assert.deepEqual(
      (await itemsOf(service, started.threadId)).map(({ kind, step }) => `${kind} ${step ?? ""}`.trim()),
      [
        "message",
        ...["message plan", "plan plan:1"],
        ...["message task:1:1", "call task:1:1", "result task:1:1", "message task:1:2", "plan plan:1:2"],
        ...["message task:2:1", "call task:2:1", "result task:2:1", "message task:2:2", "plan plan:1:3"],
        ...["message answer:1", "state"],
      ],
    );
  });

  test("each step sees the plan, what the others brought and its own calls", async () => {
    const { tools } = sending();
    const service = await start({ tools, script: happy });
    await service.ask("Write to Ann and Bob");
    const [plan, , done, second, , answer] = service.model.requests;
    assert.match(String(plan!.messages[0]!.content), /^Help\.\n[^]*\nsend: Sends a letter\.[^]*At most 12 steps/);
    assert.deepEqual([plan!.tools, plan!.format?.type], [undefined, "json-schema"]);
    assert.deepEqual(
      done!.messages.map(({ role }) => role),
      ["system", "user", "assistant", "tool"],
    );
    const told = done!.messages[2]!;
    assert.equal(told.role === "assistant" && told.content, "I send it.");
    assert.equal(done!.format, undefined);
    assert.ok(done!.tools!.some(({ name }) => name === "send"));
    assert.match(lastPrompt(second!), /1\. \[done\] write to Ann\n2\. \[running\] write to Bob/);
    assert.match(lastPrompt(second!), /1\. write to Ann \[done\]\nAnn has it\./);
    assert.equal(second!.messages.at(-1)!.role, "user", "the calls of other steps are not told");
    assert.match(lastPrompt(answer!), /2\. write to Bob \[done\]\nBob has it\./);
    assert.equal(answer!.tools, undefined);
  });

  test("a step that failed is planned anew; what was done stays", async () => {
    const { tools, sent } = sending();
    const service = await start({
      tools,
      script: [
        planOf("write to Ann", "write to Bob", "write to Cleo"),
        send("Ann"),
        "Ann has it.",
        "I tried.\n**FAILED:** Bob has no address.",
        planOf("write to Bob's sister", "write to Cleo"),
        send("Bea"),
        "Bea has it.",
        send("Cleo"),
        "Cleo has it.",
        "All but Bob.",
      ],
    });
    const { started, text } = await service.ask("go");
    assert.equal(text, "All but Bob.");
    assert.deepEqual(sent, ["Ann", "Bea", "Cleo"]);
    assert.deepEqual((await plansOf(service, started.threadId)).slice(2), [
      "plan:1:3 done failed open",
      "plan:2 done failed running open",
      "plan:2:2 done failed done running",
      "plan:2:3 done failed done done",
    ]);
    const revision = lastPrompt(service.model.requests[4]!);
    assert.match(revision, /: step 2 failed: Bob has no address\.\nI tried\./);
    assert.match(revision, /At most 10 steps/);
  });

  for (const [what, maxRevisions, script] of [
    ["no plan may be made anew", 0, [planOf("a", "b"), "FAILED: no way", "Nothing was done."]],
    [
      "the second plan fails too, and is the last",
      1,
      [planOf("a", "b"), "FAILED: no way", planOf("c", "d"), "FAILED: no way either", "Nothing was done."],
    ],
    ["the model sees no other way", 5, [planOf("a", "b"), "FAILED: no way", planOf(), "Nothing was done."]],
  ] as const)
    test(`${what}: the rest is left out, and the answer knows of it`, async () => {
      const service = await start({ script, strategySettings: settings({ maxRevisions }) });
      const { started, text } = await service.ask("go");
      assert.equal(text, "Nothing was done.");
      const last = (await plansOf(service, started.threadId)).at(-1)!;
      assert.match(last, /failed skipped$/);
      assert.match(lastPrompt(service.model.requests.at(-1)!), /\[failed\] \w\n\d\. \[skipped\] \w\n[^]*no way/);
    });

  test("steps beyond the limit are not done, and the answer knows of them", async () => {
    const script = [planOf("a", "b", "c"), "a is done", "b is done", "That was not all."];
    const service = await start({ script, strategySettings: settings({ maxSteps: 2 }) });
    const { started } = await service.ask("go");
    assert.equal((await plansOf(service, started.threadId)).at(-1), "plan:1:3 done done skipped");
    assert.match(lastPrompt(service.model.requests.at(-1)!), /3\. \[skipped\] c/);
  });

  test("a request that needs no step is just answered", async () => {
    const service = await start({ script: [planOf(), "Hello!"] });
    const { started, text } = await service.ask("hi");
    assert.equal(text, "Hello!");
    assert.deepEqual(await plansOf(service, started.threadId), ["plan:1"]);
    assert.deepEqual(
      service.model.requests[1]!.messages.map(({ content }) => content),
      ["Help.", "hi"],
    );
  });

  test("without a readable plan the request itself is the one step", async () => {
    const { tools, sent } = sending();
    const service = await start({ tools, script: ["Sure, I will!", send("Ann"), "", "Done."] });
    const { started } = await service.ask("write to Ann");
    assert.deepEqual(sent, ["Ann"]);
    const plan = (await itemsOf(service, started.threadId)).findLast((item) => item.kind === "plan");
    assert.deepEqual(plan?.body.steps, [{ text: "write to Ann", state: "done" }]);
    // The step said nothing: what its call returned counts.
    assert.match(lastPrompt(service.model.requests.at(-1)!), /send: letter 1 to Ann/);
  });

  test("a person allows a call within a step, and the step goes on", async () => {
    const { tools, sent } = sending({ destructive: true });
    const script = [planOf("write to Ann"), send("Ann"), "Ann has it.", "Done."];
    const service = await start({ tools, script });
    const { started, events } = await service.ask("go");
    assert.equal(events.at(-1)!.type, "run-wait");
    assert.deepEqual(sent, []);
    const [question] = await service.approvals.questions(service.caller, started.runId);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question!.id,
      input: { decision: "allow" },
    });
    await until(() => isDone(started.runId));
    assert.deepEqual(sent, ["Ann"]);
    assert.equal(service.model.requests.length, 4);
  });

  test("what a person says in the middle of a step leads to another plan", async () => {
    const { tools, sent } = sending();
    const gate = Promise.withResolvers<void>();
    const script: ScriptAnswer[] = [
      planOf("write to Ann", "write to Bob"),
      [{ gate: () => gate.promise }, { call: "send", arguments: { to: "Ann" } }],
      "Ann has it.",
      planOf("write to Cleo"),
      send("Cleo"),
      "Cleo has it.",
      "Ann and Cleo have it.",
    ];
    const service = await start({ tools, script });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => service.model.requests.length === 2);
    await service.runs.steer(service.caller, started.runId, { content: "Cleo instead of Bob" });
    gate.resolve();
    await until(() => isDone(started.runId));
    assert.deepEqual(sent, ["Ann", "Cleo"]);
    assert.deepEqual((await plansOf(service, started.threadId)).slice(1), [
      "plan:1:2 done open",
      "plan:2 done running",
      "plan:2:2 done done",
    ]);
    assert.match(lastPrompt(service.model.requests[3]!), /the user has written meanwhile: Cleo instead of Bob/);
  });

  test("what a person says while the answer is being written is taken up", async () => {
    const gate = Promise.withResolvers<void>();
    const answering: ScriptAnswer = [{ text: "a is " }, { gate: () => gate.promise }, { text: "done." }];
    const script = [planOf("a"), "a is done", answering, planOf("b"), "b is done", "a and b are done."];
    const service = await start({ script });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => service.model.requests.length === 3);
    await service.runs.steer(service.caller, started.runId, { content: "b too" });
    gate.resolve();
    await until(() => isDone(started.runId));
    assert.deepEqual((await plansOf(service, started.threadId)).slice(-2), [
      "plan:2 done running",
      "plan:2:2 done done",
    ]);
    assert.match(lastPrompt(service.model.requests[3]!), /You have already answered the user: a is done\./);
  });

  for (let acts = 1; acts <= 11; acts++)
    test(`stopped after ${acts} of its acts: the next process repeats none of them`, async () => {
      const { tools, sent } = sending();
      const { strategy, stands, giveUp } = standingStill(planExecute, { after: acts });
      const dying = await suite.start({ tools, script: happy, agent, strategies: { "plan-execute": strategy } });
      const started = await dying.runs.start(dying.caller, { agent: "assistant", message: { content: "go" } });
      await stands;
      const stopping = dying.stop(0);
      giveUp();
      await stopping;
      const next = await start({ tools, script: happy.slice(dying.model.requests.length) });
      await next.events(started);
      assert.ok(await isDone(started.runId));
      assert.equal(dying.model.requests.length + next.model.requests.length, happy.length);
      assert.deepEqual(sent, ["Ann", "Bob"]);
      assert.equal((await plansOf(next, started.threadId)).length, 3);
    });

  test("stopped between the thought of another plan and the plan: it is not thought again", async () => {
    const script = [planOf("a"), "FAILED: no", planOf("b"), "b is done", "b is done, a is not"];
    // plan, plan:1, task:1:1, plan:1:2, revise:1
    const { strategy, stands, giveUp } = standingStill(planExecute, { after: 5 });
    const dying = await suite.start({ script, agent, strategies: { "plan-execute": strategy } });
    const started = await dying.runs.start(dying.caller, { agent: "assistant", message: { content: "go" } });
    await stands;
    const stopping = dying.stop(0);
    giveUp();
    await stopping;
    const next = await start({ script: script.slice(3) });
    await next.events(started);
    assert.ok(await isDone(started.runId));
    assert.equal((await plansOf(next, started.threadId)).at(-1), "plan:2:2 failed done");
  });
});
