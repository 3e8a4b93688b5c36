import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { publicItem } from "../../protocol/threads/public-views.ts";
import type { Tool, ToolContext, ToolQuestion } from "../../protocol/agents/tools.ts";
import { defineTool, type ToolDefinition } from "../../tools/core/define-tool.ts";
import type { RunDecision } from "../runs.ts";
import type { Turn } from "../contract/turn.ts";

const whichSprint: ToolQuestion = { text: "Which sprint 6?", choices: ["old", "new"], state: { secret: 1 } };

/** Asks first; then does what it is told, which the test counts. */
function asking(
  done: string[],
  ask: ToolQuestion,
  kind: Pick<ToolDefinition<z.ZodType>, "effect" | "scope"> = { effect: "read" },
): Tool {
  return defineTool({
    name: "book",
    description: "Books.",
    input: z.object({}),
    ...(kind as { effect: "read" | "write"; scope?: "local" }),
    async execute(_input, { answers, query }: ToolContext) {
      const [answer] = answers;
      if (!answer) return { content: "", ask };
      if (kind.scope === "local") await query("select 1");
      done.push(JSON.stringify(answer));
      return `did ${answer.decision} ${answer.text ?? ""}`;
    },
  });
}

anyRunDatabase(({ database, start }) => {
  async function answerFirst(service: TestRuns, runId: string, input: RunDecision): Promise<void> {
    const [question] = await service.approvals.questions(service.caller, runId);
    await service.approvals.decide(service.caller, runId, { questionId: question!.id, input });
  }
  const isDone = (runId: string) => until(async () => (await rowOf(database(), runId)).status === "done");

  test("a call that somebody wants to be tried again begins anew, with its question", async () => {
    let broken = true;
    const book = defineTool({
      name: "book",
      description: "Books.",
      input: z.object({}),
      effect: "write",
      timeoutMs: 100,
      async execute(_input, { answers }) {
        if (answers.length === 0) return { content: "", ask: whichSprint };
        if (broken) return { content: "cut off", isError: true, uncertain: true };
        return `did ${answers.map(({ text }) => text).join()}`;
      },
    });
    const service = await start({ script: [[{ call: "book", arguments: {} }], "ok"], tools: [book] });
    const { started } = await service.ask("go");
    const waitsFor = (reason: string) =>
      until(async () => (await rowOf(database(), started.runId)).wait_reason === reason);
    await answerFirst(service, started.runId, { decision: "answer", text: "old" });
    await waitsFor("unknown");
    broken = false;
    await answerFirst(service, started.runId, { decision: "retry" });
    await waitsFor("question");
    await answerFirst(service, started.runId, { decision: "answer", text: "new" });
    await isDone(started.runId);
    assert.equal(service.model.requests[1]!.messages.at(-1)!.content, "did new");
  });

  for (const [name, how] of [
    ["reads", { effect: "read" }],
    ["writes", { effect: "write" }],
    ["writes to our own tables", { effect: "write", scope: "local" }],
  ] as const)
    test(`a tool that ${name} asks first, and is called again with the answer`, async () => {
      const done: string[] = [];
      const service = await start({
        script: [[{ call: "book", arguments: {} }], "ok"],
        tools: [asking(done, whichSprint, how)],
      });
      const { started, events } = await service.ask("go");
      const last = events.at(-1)!;
      assert.equal(last.type === "run-wait" && last.reason, "question");
      assert.deepEqual(await database().query("select 1 from ledger where run_id = $1", [started.runId]), []);
      await assert.rejects(answerFirst(service, started.runId, { decision: "answer", text: "both" }), {
        message: "The answer must be one of old, new.",
      });
      await assert.rejects(answerFirst(service, started.runId, { decision: "answer" }), { status: 400 });
      await assert.rejects(answerFirst(service, started.runId, { decision: "allow" }), { status: 400 });
      await answerFirst(service, started.runId, { decision: "answer", text: "new" });
      await isDone(started.runId);
      assert.deepEqual(done, [JSON.stringify({ decision: "answer", text: "new", state: { secret: 1 } })]);
      const ledger = await database().query("select status from ledger where run_id = $1", [started.runId]);
      assert.deepEqual(ledger, how.effect === "write" ? [{ status: "done" }] : []);
      const items = await service.threads.listItems(service.caller, started.threadId, {});
      assert.doesNotMatch(JSON.stringify(items.map(publicItem)), /secret/);
    });

  test("a form is checked by its schema; one may decline", async () => {
    const done: string[] = [];
    const form = {
      text: "Who?",
      schema: { type: "object", properties: { age: { type: "integer" } }, required: ["age"] },
    };
    const service = await start({
      script: [[{ call: "book", arguments: {} }], "ok", [{ call: "book", arguments: {} }], "ok"],
      tools: [asking(done, form)],
    });
    const first = await service.ask("go");
    const bad = { decision: "answer", arguments: '{"age":"old"}' } as const;
    await assert.rejects(answerFirst(service, first.started.runId, bad), { code: "invalid_arguments" });
    const long = { decision: "answer", arguments: '{"age":9007199254740993}' } as const;
    await assert.rejects(answerFirst(service, first.started.runId, long), {
      code: "invalid_arguments",
      message: /^age: 9007199254740993 has more digits/,
    });
    await answerFirst(service, first.started.runId, { decision: "answer", arguments: '{"age":7.0}' });
    await isDone(first.started.runId);
    const second = await service.ask("go");
    await answerFirst(service, second.started.runId, { decision: "decline", text: "no" });
    await isDone(second.started.runId);
    assert.deepEqual(done, [
      JSON.stringify({ decision: "answer", data: { age: 7 } }),
      JSON.stringify({ decision: "decline", text: "no" }),
    ]);
  });

  test("a strategy asks by itself", async () => {
    const service = await start({
      agent: { strategy: "curious" },
      strategies: {
        async curious(turn: Turn) {
          const { text } = await turn.ask("name", { text: "Your name?" });
          await turn.say("hello", `Hello ${text}`, { final: true });
        },
      },
      script: [],
    });
    const { started } = await service.ask("go");
    await answerFirst(service, started.runId, { decision: "answer", text: "Ada" });
    await isDone(started.runId);
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.ok(items.some((item) => item.kind === "message" && item.body.content === "Hello Ada"));
  });
});
