import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { eachRunDatabase, until, watch } from "../../../test/run-suite.ts";
import type { Limits } from "../../protocol/agents/agents.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

eachRunDatabase((suite) => {
  /** Runs a script against limits and says how it ended, and which tools were really called. */
  async function run(limits: Partial<Limits>, script: readonly ScriptAnswer[]) {
    const done: string[] = [];
    const tool = (name: string, effect: "read" | "write") =>
      defineTool({
        name,
        description: name,
        input: z.looseObject({}),
        effect,
        execute: () => {
          done.push(name);
          return "ok";
        },
      });
    const service = await suite.start({ script, limits, tools: [tool("look", "read"), tool("change", "write")] });
    const { events } = await service.ask("go");
    // Or it takes the runs of the next one, which has another script and other limits.
    await service.stop(0);
    const end = events.at(-1)!;
    assert.equal(end.type, "run-end");
    return {
      end: end.type === "run-end" ? (end.error?.code ?? end.status) : "",
      done,
      asked: service.model.requests.length,
    };
  }
  const lookTool = defineTool({
    name: "look",
    description: "Looks.",
    input: z.looseObject({}),
    effect: "read",
    execute: () => "seen",
  });
  const look = (args: object = {}) => ({ call: "look", arguments: args });
  const change = (args: object = {}) => ({ call: "change", arguments: args });

  const three = [look({ n: 1 }), look({ n: 2 }), look({ n: 3 })];

  test("calls beyond the limit are not begun, not even the first of them", async () => {
    assert.deepEqual(await run({ toolCalls: 3, repeatedCall: 0 }, [three, three, "end"]), {
      end: "limit_tool_calls",
      done: ["look", "look", "look"],
      asked: 2,
    });
  });

  test("of more calls than are left those that fit are made; then the limit is reached", async () => {
    assert.deepEqual(await run({ toolCalls: 4, repeatedCall: 0 }, [three, three, three, "end"]), {
      end: "limit_tool_calls",
      done: ["look", "look", "look", "look"],
      asked: 3,
    });
    assert.equal((await run({ toolCalls: 3 }, [three, "end"])).end, "done");
  });

  test("of more writes than are left those that fit are made, in order, and the model is told of the rest", async () => {
    const numbers: unknown[] = [];
    const note = defineTool({
      name: "note",
      description: "Notes.",
      input: z.object({ n: z.number() }),
      effect: "write",
      execute({ n }) {
        numbers.push(n);
        return `noted ${n}`;
      },
    });
    const four = [1, 2, 3, 4].map((n) => ({ call: "note", arguments: { n } }));
    const service = await suite.start({
      script: [[...four, look()], "end"],
      limits: { writes: 2, onLimit: "pause" },
      tools: [note, lookTool],
    });
    const { events, started } = await service.ask("go");
    assert.deepEqual(numbers, [1, 2]);
    const results = events.flatMap((event) => (event.type === "call-end" ? [event.item] : []));
    assert.deepEqual(
      results.toSorted((a, b) => a.index! - b.index!).map(({ body }) => [body.content.split(";")[0], body.outcome]),
      [
        ["noted 1", undefined],
        ["noted 2", undefined],
        ["Not done: the run may make no more writes", "not-run"],
        ["Not done: the run may make no more writes", "not-run"],
        ["seen", undefined],
      ],
    );
    const told = service.model.requests[1]!.messages.filter(({ role }) => role === "tool");
    assert.equal(told.length, 5);
    assert.equal(events.at(-1)!.type, "run-end");
    assert.equal((await suite.database().query("select 1 from ledger where run_id = $1", [started.runId])).length, 2);
  });

  test("calls that a wait interrupts are counted once", async () => {
    const asking = defineTool({
      name: "ask",
      description: "Asks first.",
      input: z.object({}),
      effect: "write",
      execute: (_input, { answers }) =>
        answers.length > 0 ? "done" : { content: "", ask: { text: "Sure?", choices: ["yes"] } },
    });
    const change = defineTool({
      name: "change",
      description: "Changes.",
      input: z.object({}),
      effect: "write",
      execute: () => "ok",
    });
    const service = await suite.start({
      script: [
        [
          { call: "change", arguments: {} },
          { call: "ask", arguments: {} },
          { call: "look", arguments: {} },
        ],
        "end",
      ],
      limits: { toolCalls: 3, writes: 2 },
      tools: [asking, change],
    });
    const { started } = await service.ask("go");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    const input = { decision: "answer" as const, text: "yes" };
    await service.approvals.decide(service.caller, started.runId, { questionId: question!.id, input });
    await until(async () => (await service.runs.get(service.caller, started.runId)).endedAt !== null);
    const { status, error } = await service.runs.get(service.caller, started.runId);
    assert.deepEqual([status, error], ["done", null]);
  });

  test("writes are counted by themselves", async () => {
    assert.deepEqual(await run({ writes: 1 }, [[change({ n: 1 })], [look(), change({ n: 2 })], "end"]), {
      end: "limit_writes",
      done: ["change"],
      asked: 2,
    });
    assert.deepEqual((await run({ writes: 0 }, [[look()], "end"])).end, "done");
  });

  test("tokens are reserved before the model is asked, and settled by what it used", async () => {
    const used = (tokens: number): ScriptAnswer => [
      look({ tokens }),
      { finish: "calls", usage: { inputTokens: tokens, outputTokens: 0 } },
    ];
    assert.deepEqual(await run({ tokens: 5000 }, [used(10), used(4990), "end"]), {
      end: "limit_tokens",
      done: ["look", "look"],
      asked: 2,
    });
    assert.deepEqual(await run({ tokens: 1 }, ["end"]), { end: "limit_tokens", done: [], asked: 0 });
  });

  test("cost is reserved before a model is asked: none is that would go over", async () => {
    const service = await suite.start({ script: ["never asked"], limits: { cost: 1 }, costOf: () => 1.5 });
    const { events } = await service.ask("go");
    const end = events.at(-1)!;
    assert.equal(end.type === "run-end" && end.error?.code, "limit_cost");
    assert.equal(service.model.requests.length, 0);
  });

  test("cost is reserved before a model is asked: of two delegated at once that fit one at a time, one is", async () => {
    const gate = Promise.withResolvers<void>();
    const asked: string[] = [];
    const service = await suite.start({
      // What the first step came to, and one more, but not two.
      limits: { cost: 2.5 },
      costOf: () => 1,
      agent: { id: "assistant", instructions: "boss", tools: [], agents: ["one", "two"] },
      agents: ["one", "two"].map((id) => ({ id, instructions: id, tools: [] })),
      script: ({ messages }) => {
        const who = /^(boss|one|two)/.exec(String(messages[0]!.content))![1]!;
        asked.push(who);
        if (who !== "boss") return [{ gate: () => gate.promise }, { text: "well" }];
        return ["one", "two"].map((agent) => ({ call: "delegate", arguments: { agent, task: "Look." } }));
      },
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    const ended = () =>
      suite
        .database()
        .query<{ code: string }>(
          "select error ->> 'code' as code from runs where root_run = $1 and status = 'failed'",
          [started.runId],
        );
    await until(async () => asked.length === 3 || (await ended()).length > 0, "both children to be asked or refused");
    assert.deepEqual([asked.length, await ended()], [2, [{ code: "limit_cost" }]]);
    gate.resolve();
    const end = (await service.events(started)).at(-1)!;
    assert.equal(end.type === "run-end" && end.error?.code, "limit_cost", "the third step of the tree has no room");
    assert.equal(asked.length, 2);
  });

  test("a request that was refused used nothing, one that was stopped what it sent and brought, both in steps and within tools", async () => {
    const usage = { inputTokens: 100, outputTokens: 20 };
    const asks = defineTool({
      name: "ask",
      description: "Asks a model.",
      input: z.object({}),
      effect: "read",
      execute: async (_input, { step }) => {
        await step({ messages: [{ role: "user", content: "What?" }] }).catch(() => undefined);
        return "asked";
      },
    });
    const used = async (runId: string) =>
      (
        await suite
          .database()
          .query<{ tokens: number; cost: number }>("select tokens, cost from budgets where root_run = $1", [runId])
      )[0];
    const settings = { limits: { tokens: 50_000 }, costOf: (_model: string, of: typeof usage) => of.outputTokens };
    const refused = await suite.start({
      ...settings,
      tools: [asks],
      script: [
        [
          { call: "ask", arguments: {} },
          { finish: "calls", usage },
        ],
        [{ error: "refused" }],
        [{ error: "refused" }],
      ],
    });
    const { started, events } = await refused.ask("go");
    assert.equal(events.at(-1)?.type, "run-end");
    assert.equal(refused.model.requests.length, 3);
    assert.deepEqual(await used(started.runId), { tokens: 120, cost: 20 });
    await refused.stop(0);

    const stopped = await suite.start({ ...settings, script: [[{ text: "half of it" }, { hang: true }]] });
    const live = await stopped.runs.start(stopped.caller, { agent: "assistant", message: { content: "go" } });
    const { seen } = watch(stopped, live);
    await until(() => seen.some(({ type }) => type === "text-delta"));
    await stopped.runs.cancel(stopped.caller, live.runId);
    await stopped.events(live);
    const { tokens, cost } = (await used(live.runId))!;
    assert.ok(tokens > 0 && tokens < 1000, String(tokens));
    assert.equal(cost, 3);
    const logged = "select (input_tokens + output_tokens)::integer as tokens, cost from model_calls where run_id = $1";
    assert.deepEqual(await suite.database().query(logged, [live.runId]), [{ tokens, cost }]);
  });

  test("a repeated call is one with the same arguments, in whatever order and spacing", async () => {
    const twice = [{ call: "look", arguments: '{"a":1,"b":[2]}' }];
    const again = [{ call: "look", arguments: '{ "b": [2], "a": 1 }' }];
    assert.deepEqual(await run({ repeatedCall: 1 }, [twice, again, "end"]), {
      end: "limit_repeated_call",
      done: ["look"],
      asked: 2,
    });
    const other = [{ call: "look", arguments: '{"a":1,"b":[3]}' }];
    assert.equal((await run({ repeatedCall: 1 }, [twice, other, "end"])).end, "done");
  });

  test("a call may be repeated after another that changed something, and not after one that did the same as before", async () => {
    const rounds = [[look()], [change({ n: 1 })], [look()], [change({ n: 2 })], [look()]];
    assert.equal((await run({ repeatedCall: 1 }, [...rounds, "end"])).end, "done");
    assert.equal((await run({ repeatedCall: 1 }, [...rounds, [look()], "end"])).end, "limit_repeated_call");
    const twice = [...rounds, [change({ n: 2 })], "end"];
    assert.equal((await run({ repeatedCall: 1 }, twice)).end, "limit_repeated_call");
  });

  test("a model that fails for good ends the run with its reason", async () => {
    assert.equal((await run({}, [[{ text: "half" }, { error: "refused" }]])).end, "model_refused");
  });
});

eachRunDatabase((suite) => {
  test("a run without tools in a new thread takes at most 16 round trips", async () => {
    const service = await suite.start({ script: () => "An answer." });
    await service.ask("the first one prepares");
    const database = suite.database();
    const trips: string[] = [];
    database.onTrip = (text) => trips.push(text);
    await service.ask("hi");
    await service.stop(0);
    delete database.onTrip;
    // Not counted: what goes on without a run.
    const idle = /^unlisten|nodes|pgboss/i;
    const counted = trips.filter((text) => !idle.test(text));
    assert.ok(counted.length <= 5, `${counted.length}:\n${counted.map((text) => text.trim().slice(0, 90)).join("\n")}`);
  });
}, "postgres");
