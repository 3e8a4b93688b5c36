import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { written } from "../../../test/json-actions.ts";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import type { Limits } from "../../protocol/agents/agents.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { maskVolatile } from "./mask-volatile.ts";

type NamedCall = readonly [name: string, args: object];
/** What each strategy's model writes to make a call, or to end. */
const ways: Readonly<Record<string, (call: NamedCall | undefined, last: string, count: number) => ScriptAnswer>> = {
  tools: (call) => (call ? [{ call: call[0], arguments: call[1] }] : "done"),
  react: (call) =>
    call
      ? `Thought: on\nAction: ${call[0]}\nAction Input: ${JSON.stringify(call[1])}`
      : "Thought: so\nFinal Answer: done",
  "json-actions": (call) =>
    written(call ? { action: "use_tool", tool: call[0], args: call[1] } : { action: "final", answer: "done" }),
  "plan-execute": (call) => (call ? [{ call: call[0], arguments: call[1] }] : "done"),
};

eachRunDatabase(({ start }) => {
  /** Works through the calls; how many were made, and how it ended. */
  async function work(calls: readonly NamedCall[], options: { strategy?: string; limits?: Partial<Limits> } = {}) {
    const { strategy = "tools", limits } = options;
    let edits = 0;
    let polls = 0;
    let made = 0;
    const tool = (name: string, effect: "read" | "write", execute: (input: object) => string | object) =>
      defineTool({
        name,
        description: name,
        input: z.looseObject({}),
        effect,
        execute(input) {
          made++;
          return execute(input) as string;
        },
      });
    // What differs though nothing has changed: how long it took, where, and when.
    const took = () =>
      `[${(1 + made / 7).toFixed(1)} s] in /tmp/jest-${made}x at 10:0${made % 10}:11, pid ${4000 + made}`;
    const service = await start({
      agent: { strategy },
      limits: { steps: 200, toolCalls: 200, writes: 200, ...limits },
      strategySettings: { ...defaultStrategySettings, react: { maxIterations: 100, retryOnError: true } },
      tools: [
        tool("edit", "write", () => `edited ${++edits}`),
        tool("fails", "write", () => ({ content: `old_str was not found (${made})`, isError: true })),
        tool("bash", "write", () => ({ content: `2 tests failed ${took()}`, data: { files: [] } })),
        tool("poll", "read", () => `${++polls} of 100`),
        tool("look", "read", () => "the same"),
        tool("press", "write", () => "ok"),
      ],
      script: ({ messages }, count) => {
        const last = String(messages.at(-1)!.content);
        if (strategy === "plan-execute" && count === 0) return '{"steps": ["do it"]}';
        if (last.includes("The tool returned:")) return "final_answer: false\nObservation: seen";
        return ways[strategy]!(calls[made], last, count);
      },
    });
    const { events } = await service.ask("go");
    await service.stop(0);
    const end = events.at(-1)!;
    return [end.type === "run-end" ? (end.error?.code ?? end.status) : end.type, made];
  }
  const edit = (n: number): NamedCall => ["edit", { n }];
  const bash: NamedCall = ["bash", { cmd: "npm test" }];
  const rounds = (count: number, round: (n: number) => readonly NamedCall[]) =>
    Array.from({ length: count }, (_, n) => round(n)).flat();

  for (const strategy of Object.keys(ways)) {
    test(`${strategy}: twelve rounds of edit and test ask nobody`, async () => {
      assert.deepEqual(
        await work(
          rounds(12, (n) => [edit(n), bash]),
          { strategy },
        ),
        ["done", 24],
      );
    });
    test(`${strategy}: ten tests with nothing edited between ask at the limit`, async () => {
      const calls = rounds(10, () => [bash]);
      assert.deepEqual(await work(calls, { strategy }), ["limit_repeated_call", 2]);
      assert.deepEqual(await work(calls, { strategy, limits: { repeatedCall: 5 } }), ["limit_repeated_call", 5]);
      assert.deepEqual(await work(calls, { strategy, limits: { repeatedCall: 0 } }), ["done", 10]);
    });
  }

  test("a read whose result changes asks nobody before ten in a row", async () => {
    const poll: NamedCall = ["poll", {}];
    assert.deepEqual(await work(rounds(10, () => [poll])), ["done", 10]);
    assert.deepEqual(await work(rounds(11, () => [poll])), ["limit_repeated_call", 10]);
    // A wait between is another call, and what it waited for changed.
    assert.deepEqual(await work(rounds(12, () => [poll, bash])), ["done", 24]);
    assert.deepEqual(
      await work(
        rounds(11, () => [poll]),
        { limits: { repeatedCall: 20 } },
      ),
      ["done", 11],
    );
  });

  test("what changes nothing is no progress: reads of the same, other commands, edits that fail, edits that were made before", async () => {
    const asked = (made: number) => ["limit_repeated_call", made];
    const look = (n: number): NamedCall => ["look", { n }];
    assert.deepEqual(await work(rounds(5, (n) => [look(n), bash])), asked(5));
    assert.deepEqual(await work(rounds(5, (n) => [["bash", { cmd: `cat ${n}` }], bash])), asked(5));
    assert.deepEqual(await work(rounds(5, (n) => [["fails", { n }], bash])), asked(5));
    assert.deepEqual(await work(rounds(5, () => [["press", {}], bash])), asked(4));
    assert.deepEqual(await work(rounds(5, () => [look(1), look(2)])), asked(4));
  });

  test("what another call shows to have changed is progress", async () => {
    const poll: NamedCall = ["poll", {}];
    assert.deepEqual(await work(rounds(5, () => [["press", {}], poll])), ["done", 10]);
  });

  test("'continue' gives as often again", async () => {
    const service = await start({
      limits: { onLimit: "pause" },
      tools: [
        defineTool({ name: "look", description: "look", input: z.object({}), effect: "read", execute: () => "same" }),
      ],
      script: (_, count) => (count < 5 ? [{ call: "look", arguments: {} }] : "done"),
    });
    const { started, events } = await service.ask("go");
    assert.equal(events.at(-1)?.type, "run-wait");
    for (const made of [2, 4]) {
      const items = await service.threads.listItems(service.caller, started.threadId, {});
      assert.equal(items.filter(({ kind }) => kind === "result").length, made);
      const question = (await service.approvals.questions(service.caller, started.runId)).at(-1)!;
      assert.equal(question.body.limit, "repeated_call");
      const input = { decision: "continue" as const };
      await service.approvals.decide(service.caller, started.runId, { questionId: question.id, input });
      await until(async () => {
        const { status } = await service.runs.get(service.caller, started.runId);
        return status === (made === 2 ? "waiting" : "done");
      });
    }
  });
}, "pglite");

test("what differs from one time to the next though nothing has changed is masked, and what was done is not", () => {
  const same = [
    ["took 12.3 s", "took 4 s"],
    ["done in 2m 5s", "done in 45s"],
    ["# duration_ms 54.21", "# duration_ms 1"],
    ['{"elapsed": 3}', '{"elapsed": 4.5}'],
    ["at 2026-01-31T12:00:00.123Z", "at 2026-02-01T09:10:11Z"],
    ["Mon Jan 31 12:00:01 2026", "Tue Feb 1 09:00:11 2026"],
    ["listening on http://localhost:43121/", "listening on http://localhost:39001/"],
    ["port 43121", "port 5"],
    ["<object at 0x7ffe12ab>", "<object at 0x55d0c9>"],
    ["run 550e8400-e29b-41d4-a716-446655440000", "run 123e4567-e89b-12d3-a456-426614174000"],
    ["commit 3f2a9bc", "commit 91d0e4f"],
    ["see /tmp/tmpabc123/out.txt", "see /tmp/x9/out.txt"],
    ['{"id": 17}', '{"id": 18}'],
    ["task #17", "task #18"],
    ["[pid 4711] x", "[pid 4712] x"],
  ];
  for (const [one, other] of same) assert.equal(maskVolatile(one!), maskVolatile(other!));
  const different = [
    ["2 tests failed", "3 tests failed"],
    ["40 of 100", "41 of 100"],
    ["error in a.ts", "error in b.ts"],
    ["99%", "100%"],
  ];
  for (const [one, other] of different) assert.notEqual(maskVolatile(one!), maskVolatile(other!));
});
