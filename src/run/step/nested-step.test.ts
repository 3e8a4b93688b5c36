import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, until, passOn } from "../../../test/run-suite.ts";
import type { Script } from "../../models/demo/scripted.ts";
import type { StepAnswer, StepRequest, Tool, ToolContext } from "../../protocol/agents/tools.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

const question: StepRequest = {
  messages: [{ role: "user", content: "What shall I look at?" }],
  tools: [{ name: "look", description: "Looks.", parameters: { type: "object", properties: {} } }],
};

function asking(execute: (context: ToolContext) => unknown, change: { timeoutMs?: number } = {}): Tool {
  const input = z.object({});
  const description = "Asks a model.";
  return defineTool({ name: "ponder", description, input, effect: "read", ...change, execute: (_, c) => execute(c) });
}

const ponders = [{ call: "ponder", arguments: {} }];

anyRunDatabase((suite) => {
  const resultsOf = async (threadId: string) =>
    suite
      .database()
      .query<{ body: { content: string } }>(
        "select body from items where thread_id = $1 and kind = 'result' order by seq",
        [threadId],
      );

  test("a tool's step gives it text and calls; it counts, stands in the log, and in no prompt", async () => {
    const answers: StepAnswer[] = [];
    const tool = asking(async (context) => {
      for (const request of [question, question]) answers.push(await context.step(request));
      return "pondered";
    });
    const service = await suite.start({
      tools: [tool],
      script: [ponders, [{ text: "There:" }, { call: "look", arguments: { at: "it" } }], "Enough.", "Done."],
    });
    const { started, text } = await service.ask("Ponder.");
    assert.equal(text, "Done.");
    assert.deepEqual(
      answers.map(({ text: said, calls, finish }) => [said, calls.map((call) => [call.name, call.arguments]), finish]),
      [
        ["There:", [["look", '{"at":"it"}']], "calls"],
        ["Enough.", [], "stop"],
      ],
    );
    assert.match(answers[0]!.calls[0]!.id, /^call_/);
    const [, first, , last] = service.model.requests;
    assert.deepEqual(first!.tools, question.tools);
    assert.ok(!JSON.stringify(last!.messages).includes("Enough."), "no part of the conversation");
    const query = suite.database().query;
    const steps = await query<{ step: string }>("select step from model_calls where run_id = $1 order by step", [
      started.runId,
    ]);
    assert.deepEqual(
      steps.map(({ step }) => step),
      ["1", "1.0/1", "1.0/2", "2"],
    );
    const [budget] = await query<{ steps: number; calls: number }>(
      "select steps, calls from budgets where root_run = $1",
      [started.runId],
    );
    assert.deepEqual(budget, { steps: 4, calls: 1 });
  });

  test("who takes the run over, and does the call again, gets the same answers without asking anew", async () => {
    const seen: string[] = [];
    let hangs = true;
    const tool = asking(async (context) => {
      const { text, calls } = await context.step(question);
      seen.push(JSON.stringify({ text, calls }));
      if (hangs) await new Promise(() => {});
      return (await context.step(question)).text;
    });
    const service = await suite.start({
      tools: [tool],
      script: ({ messages, tools }, count) => {
        if (messages.at(-1)!.content === "wake up") return "Awake.";
        if (messages.at(-1)!.role === "tool") return "Done.";
        if (tools?.[0]?.name !== "look") return ponders;
        return [{ text: `answer ${count}` }, ...(hangs ? [{ call: "look", arguments: {} }] : [])];
      },
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "Ponder." } });
    await until(() => seen.length === 1, "the first answer");
    hangs = false;
    await passOn(suite.database(), started.runId);
    await service.ask("wake up");
    const events = await service.events(started);
    assert.equal(events.at(-1)!.type, "run-end");
    assert.equal(seen.length, 2);
    assert.equal(seen[1], seen[0]);
    assert.match((await resultsOf(started.threadId))[0]!.body.content, /^answer /);
    assert.equal(service.model.requests.filter(({ tools }) => tools?.[0]?.name === "look").length, 2);
  });

  /** The model never ends an answer to the tool. */
  const hangs: Script = ({ messages, tools }) => {
    if (tools?.[0]?.name === "look") return [{ hang: true }];
    return messages.at(-1)!.role === "tool" ? "Done." : ponders;
  };

  test("a step stops by its own signal", async () => {
    const control = new AbortController();
    const tool = asking((context) =>
      context.step(question, control.signal).then(
        () => "answered",
        (error: unknown) => `stopped: ${String(error)}`,
      ),
    );
    const service = await suite.start({ tools: [tool], script: hangs });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "Ponder." } });
    await until(() => service.model.requests.length === 2, "the question");
    control.abort();
    await service.events(started);
    assert.match((await resultsOf(started.threadId))[0]!.body.content, /^stopped: /);
    assert.equal(service.model.stopped(), 1);
  });

  test("a step stops with the time of its call", async () => {
    const tool = asking((context) => context.step(question), { timeoutMs: 300 });
    const service = await suite.start({ tools: [tool], script: hangs });
    const { started, text } = await service.ask("Ponder.");
    assert.equal(text, "Done.");
    assert.match((await resultsOf(started.threadId))[0]!.body.content, /did not finish within 0\.3 seconds/);
    const asked = service.model.requests.filter(({ tools }) => tools?.[0]?.name === "look").length;
    await until(() => service.model.stopped() === asked, "the end of the question");
  });

  test("a step is asked again after silence, since its run can't wait for the model there", async () => {
    const tool = asking(async (context) => (await context.step(question)).text);
    const service = await suite.start({ tools: [tool], script: [ponders, [{ error: "timeout" }], "Fine.", "Done."] });
    const { started, text } = await service.ask("Ponder.");
    assert.equal(text, "Done.");
    assert.equal((await resultsOf(started.threadId))[0]!.body.content, "Fine.");
  });

  test("what failed is in the call log, and steps end at the run's limit", async () => {
    const tool = asking(async (context) => {
      const said: string[] = [];
      for (let step = 0; step < 3; step++)
        said.push(
          await context.step(question).then(
            ({ text }) => text,
            (error: unknown) => String(error),
          ),
        );
      return said.join("\n");
    });
    const service = await suite.start({
      tools: [tool],
      script: [ponders, [{ error: "refused", message: "not that" }], "Fine.", "Never asked."],
      limits: { steps: 3 },
    });
    const { started, events } = await service.ask("Ponder.");
    const [result] = await resultsOf(started.threadId);
    assert.match(result!.body.content, /not that\nFine\.\n.*3 steps are used up/);
    assert.equal(service.model.requests.length, 3);
    assert.equal(events.at(-1)!.type, "run-end");
  });
});
