import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { z } from "zod";
import { eachDatabase } from "../../../test/databases.ts";
import { raceDecisions } from "../../../test/race-decisions.ts";
import { until } from "../../../test/run-suite.ts";
import { eventsOf, startTestRuns, type TestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { RunStart } from "../runs.ts";

const addMilk = [{ call: "add_task", arguments: { title: "Milk" } }];

eachDatabase((databases) => {
  const services: TestRuns[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(0))));
  const start = async (options: Omit<TestRunsOptions, "database">) => {
    const service = await startTestRuns({ ...options, database: await databases.lend() });
    services.push(service);
    return service;
  };

  /** Starts a run that stops at a question. */
  async function asked(service: TestRuns): Promise<{ started: RunStart; question: ItemOf<"question"> }> {
    const { started, events } = await service.ask("go");
    assert.equal(events.at(-1)!.type, "run-wait");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    return { started, question: question! };
  }
  const answer = (
    service: TestRuns,
    { started, question }: { started: RunStart; question: ItemOf<"question"> },
    input: Parameters<TestRuns["approvals"]["decide"]>[2]["input"],
  ) => service.approvals.decide(service.caller, started.runId, { questionId: question.id, input });
  const titles = async (service: TestRuns) =>
    (await service.database.query<{ title: string }>("select title from tasks order by id")).map((task) => task.title);

  test("a call that needs approval waits, and is done when a person allows it", async () => {
    const service = await start({ script: [addMilk, "ok"], approval: { ask: ["add_*"] } });
    const open = await asked(service);
    assert.deepEqual(await titles(service), []);
    await answer(service, open, { decision: "allow", argumentsHash: open.question.body.argumentsHash! });
    assert.equal((await service.events(open.started)).at(-1)!.type, "run-end");
    assert.deepEqual(await titles(service), ["Milk"]);
    await assert.rejects(answer(service, open, { decision: "allow" }), { status: 409 });
  });

  test("nobody is asked about a call of which its tool says that it can't be done", async () => {
    const sell = defineTool({
      name: "sell",
      description: "Sells.",
      input: z.object({ pieces: z.int() }),
      effect: "write",
      destructive: true,
      check: async ({ pieces }) => (pieces > 2 ? "There are only 2." : undefined),
      execute: async ({ pieces }) => `sold ${pieces}`,
    });
    const calls = (pieces: number) => [{ call: "sell", arguments: { pieces } }];
    const service = await start({ script: [calls(3), calls(2), "ok"], tools: [sell] });
    const open = await asked(service);
    assert.match(String(service.model.requests[1]!.messages.at(-1)!.content), /There are only 2/);
    assert.equal(open.question.body.arguments, '{"pieces":2}');
    await answer(service, open, { decision: "allow" });
    await service.events(open.started);
    assert.equal(service.model.requests[2]!.messages.at(-1)!.content, "sold 2");
  });

  test("denied with a reason: the model is told, nothing is done", async () => {
    const service = await start({ script: [addMilk, "ok"], approval: { ask: [{ tool: "*", effect: "write" }] } });
    const open = await asked(service);
    await answer(service, open, { decision: "deny", text: "we have milk" });
    await service.events(open.started);
    assert.deepEqual(await titles(service), []);
    assert.match(String(service.model.requests[1]!.messages.at(-1)!.content), /we have milk/);
  });

  test("edited arguments are what is done", async () => {
    const service = await start({ script: [addMilk, "ok"], approval: { ask: ["add_task"] } });
    const open = await asked(service);
    await answer(service, open, { decision: "allow", arguments: '{"title":"Oat milk"}' });
    await service.events(open.started);
    assert.deepEqual(await titles(service), ["Oat milk"]);
  });

  test("always lifts ask for what fits, but neither deny nor askAlways", async () => {
    const call = (title: string) => [{ call: "add_task", arguments: { title } }];
    const service = await start({
      script: [call("Milk 1"), "ok", call("Milk 2"), "ok", call("Bread"), "ok"],
      approval: { ask: ["add_task"] },
    });
    const open = await asked(service);
    await answer(service, open, { decision: "allow", always: { title: "Milk *" } });
    await service.events(open.started);
    assert.equal((await service.ask("again")).events.at(-1)!.type, "run-end");
    assert.equal((await service.ask("and bread")).events.at(-1)!.type, "run-wait");
    const strict = await start({ script: [call("Milk 1"), "ok"], approval: { askAlways: ["add_task"] } });
    const other = await asked(strict);
    await assert.rejects(answer(strict, other, { decision: "allow", always: true }), {
      message: /asked every time/,
    });
    await answer(strict, other, { decision: "allow" });
    await strict.events(other.started);
    const denied = await start({ script: [call("Milk 1"), "ok"], approval: { allow: ["*"], deny: ["add_task"] } });
    assert.equal((await denied.ask("go")).events.at(-1)!.type, "run-end");
    assert.deepEqual(await titles(denied), []);
  });

  test("a limit is a wait, and continue gives as much again", async () => {
    const service = await start({
      script: (_request, count) => (count < 4 ? [{ call: "now", arguments: {} }] : "done"),
      limits: { steps: 2, repeatedCall: 0, onLimit: "pause" },
    });
    const { started } = await asked(service);
    await service.runs.continue(service.caller, started.runId);
    await service.events(started);
    const [again] = await service.approvals.questions(service.caller, started.runId);
    assert.equal(again!.body.limit, "steps");
    await service.runs.continue(service.caller, started.runId);
    const events = await service.events({ ...started, cursor: { seq: again!.seq + 1, live: [] } });
    assert.equal(events.at(-1)!.type, "run-end");
    await assert.rejects(service.runs.continue(service.caller, started.runId), { status: 409 });
  });

  test("stop at a limit is a person's stop, with the limit as its reason", async () => {
    const service = await start({
      script: () => [{ call: "now", arguments: {} }],
      limits: { steps: 1, onLimit: "pause" },
    });
    const open = await asked(service);
    const run = await answer(service, open, { decision: "stop" });
    assert.deepEqual([run.status, run.error?.code], ["cancelled", "limit_steps"]);
  });

  test("the cost limit counts what the prices say", async () => {
    const usage = { inputTokens: 1000, outputTokens: 100 };
    const service = await start({
      script: () => [
        { call: "now", arguments: {} },
        { finish: "calls", usage },
      ],
      agent: { settings: { maxTokens: 50 } },
      limits: { cost: 3, repeatedCall: 0, onLimit: "stop" },
      costOf: (_model, used) => used.outputTokens / 50,
    });
    const { events } = await service.ask("spend");
    const end = events.at(-1)!;
    assert.equal(end.type === "run-end" && end.error?.code, "limit_cost");
    assert.equal(service.model.requests.length, 2);
  });

  test("a message is taken in at the next step, also when the last answer was being written", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({ script: [[{ text: "first" }, { gate: () => gate.promise }], "second"] });
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { content: "one" } });
    while (service.model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: first.threadId,
      message: { content: "two" },
      mode: "steer",
    });
    assert.equal(second.runId, first.runId);
    gate.resolve();
    await service.events(first);
    assert.deepEqual(service.model.requests[1]!.messages.map((message) => message.content).slice(1), [
      "one",
      "first",
      "two",
    ]);
  });

  test("reject and interrupt", async () => {
    const service = await start({ script: [[{ text: "never ends" }, { hang: true }], "instead"] });
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { content: "one" } });
    while (service.model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const { threadId } = first;
    await assert.rejects(
      service.runs.start(service.caller, { agent: "assistant", threadId, message: { content: "two" }, mode: "reject" }),
      { status: 409 },
    );
    const instead = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId,
      message: { content: "two" },
      mode: "interrupt",
    });
    const events = await service.events(instead);
    assert.equal(events.at(-1)!.type, "run-end");
    assert.equal((await service.runs.get(service.caller, first.runId)).status, "cancelled");
  });

  test("a message taken in while a run begins or ends is always seen by the model", async () => {
    const seen = new Set<string>();
    let round = 0;
    let saying = Promise.withResolvers<void>();
    const service = await start({
      script(request) {
        for (const message of request.messages)
          if (message.role === "user") for (const said of String(message.content).split("\n\n")) seen.add(said);
        // In every other round the end comes no sooner than the message, and races it.
        return round % 2 === 0 ? "ok" : [{ gate: () => saying.promise }, { text: "ok" }];
      },
      perUser: 64,
    });
    let taken = 0;
    for (; round < (databases.kind === "postgres" ? 60 : 40); round++) {
      saying = Promise.withResolvers();
      const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
      const steering = service.runs.steer(service.caller, started.runId, { content: `said ${round}` }).then(
        () => true,
        () => false,
      );
      // The answer comes after some of its statements, another number each time, or after all.
      let trips = 0;
      service.database.onTrip = () => {
        if (++trips === (round % 16) + 1) saying.resolve();
      };
      const said = await steering;
      saying.resolve();
      delete service.database.onTrip;
      await service.events(started);
      if (said) assert.ok(seen.has(`said ${round}`), `message ${round} was taken in and not seen`);
      taken += Number(said);
    }
    assert.ok(taken > 0);
  });

  test("signals are written with the event", async () => {
    const service = await start({
      script: [addMilk, "ok"],
      approval: { ask: ["add_*"] },
      hooksFor: (event) => (event === "waiting" || event === "done" ? ["ops"] : []),
    });
    const open = await asked(service);
    await answer(service, open, { decision: "allow" });
    await service.events(open.started);
    const rows = await service.database.query<{ hook: string; body: { type: string } }>(
      "select hook, body from deliveries order by created_at",
    );
    assert.deepEqual(
      rows.map((row) => [row.hook, row.body.type]),
      [
        ["ops", "run.waiting"],
        ["ops", "run.done"],
      ],
    );
  });

  test("decisions racing their wait: none lost, none double", async () => {
    const service = await start({
      script: (_request, count) => (count % 2 === 0 ? addMilk : "ok"),
      approval: { ask: ["add_*"] },
      perUser: 1,
    });
    await raceDecisions(service, 40);
    assert.equal((await titles(service)).length, 40);
  });

  test("what a tool says of a plan is no plan, and a plan that is nested without end is refused", async () => {
    const planned = { id: "new:9", tool: "delete_task", arguments: { task_id: 1 } };
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: z.object({}),
      effect: "read",
      execute: async () => ({ content: "seen", data: { planned } }),
    });
    const begin = async (service: TestRuns) => {
      const asked = { agent: "assistant", message: { content: "go" }, options: { dryRun: true } };
      const started = await service.runs.start(service.caller, asked);
      return { started, events: await eventsOf(service, started) };
    };
    const looks = await start({ script: [[{ call: "look", arguments: {} }], "Nothing to do."], tools: [look] });
    assert.equal((await begin(looks)).events.at(-1)!.type, "run-end");

    const service = await start({ script: [[{ call: "look", arguments: {} }], addMilk, "Planned."], tools: [look] });
    const { started } = await begin(service);
    const [question] = await service.approvals.questions(service.caller, started.runId);
    assert.match(question!.body.text, /^May this write be done\?\n\S+ {2}add_task /);
    const id = /new:\d+/.exec(question!.body.text)![0];
    const open = { started, question: question! };
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const given = `{"writes": [{"id": "${id}", "arguments": {"title": ${deep}}}]}`;
    const decision = { decision: "answer", text: "Do exactly this" } as const;
    await assert.rejects(answer(service, open, { ...decision, arguments: given }), { code: "invalid_arguments" });
    await answer(service, open, decision);
    await until(async () => (await titles(service)).length === 1);
  });
});
