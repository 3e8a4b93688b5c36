import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { eachRunDatabase, until, watch } from "../../test/run-suite.ts";
import type { Limits } from "../protocol/agents.ts";
import type { ScriptAnswer } from "../models/scripted.ts";
import { defineTool } from "../tools/define-tool.ts";

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
  const look = (args: object = {}) => ({ call: "look", arguments: args });
  const change = (args: object = {}) => ({ call: "change", arguments: args });

  test("calls beyond the limit are not begun, not even the first of them", async () => {
    const three = [look({ n: 1 }), look({ n: 2 }), look({ n: 3 })];
    assert.deepEqual(await run({ toolCalls: 4 }, [three, three, "end"]), {
      end: "limit_tool_calls",
      done: ["look", "look", "look"],
      asked: 2,
    });
    assert.equal((await run({ toolCalls: 3 }, [three, "end"])).end, "done");
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
    const [question] = await service.runs.questions(service.caller, started.runId);
    const input = { decision: "answer" as const, text: "yes" };
    await service.runs.decide(service.caller, started.runId, { questionId: question!.id, input });
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

  test("a read may be repeated after a write, a write may not", async () => {
    const rounds = [[look()], [change({ n: 1 })], [look()], [change({ n: 2 })], [look()]];
    assert.equal((await run({ repeatedCall: 1 }, [...rounds, "end"])).end, "done");
    assert.equal((await run({ repeatedCall: 1 }, [...rounds, [look()], "end"])).end, "limit_repeated_call");
    assert.equal((await run({ repeatedCall: 1 }, [...rounds, [change({ n: 1 })], "end"])).end, "limit_repeated_call");
  });

  test("a model that fails ends the run with its reason", async () => {
    assert.equal((await run({}, [[{ text: "half" }, { error: "cut" }]])).end, "model_cut");
  });
});

eachRunDatabase((suite) => {
  test("a run without tools in a new thread takes at most 16 round trips", async () => {
    const service = await suite.start({ script: () => "An answer." });
    await service.ask("the first one prepares");
    const trips: string[] = [];
    const database = suite.database();
    database.onTrip = (text) => trips.push(text);
    await service.ask("hi");
    await service.stop(0);
    delete database.onTrip;
    // Not counted: what goes on without a run, like the poll and pg-boss's own upkeep.
    const ours = /insert into pgboss\.job|skip locked/i;
    const idle = /^unlisten|^select 1 from pgboss\.job|from unnest|pgboss\.(version|warning|queue)|DELETE FROM pgboss/i;
    const counted = trips.filter((text) => ours.test(text) || !idle.test(text));
    assert.ok(
      counted.length <= 16,
      `${counted.length}:\n${counted.map((text) => text.trim().slice(0, 90)).join("\n")}`,
    );
  });
}, "postgres");
