import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase } from "../../../test/run-suite.ts";
import type { AgentDefinition, Limits } from "../../protocol/agents/agents.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

anyRunDatabase((suite) => {
  const tool = (name: string, effect: "read" | "write") =>
    defineTool({ name, description: "Says ok.", input: z.object({}), effect, scope: "local", execute: () => "ok" });
  const tools = [tool("look", "read"), tool("put", "write")];
  const look = { call: "look", arguments: {} };
  const put = { call: "put", arguments: {} };

  /** What became of the calls, what was counted, and how often calls were reserved by a statement of their own. */
  async function run(
    script: readonly ScriptAnswer[],
    { limits = {}, agent = {} }: { limits?: Partial<Limits>; agent?: Partial<AgentDefinition> } = {},
  ) {
    const database = suite.database();
    const service = await suite.start({ script, tools, agent, limits: { repeatedCall: 100, ...limits } });
    const texts: string[] = [];
    database.onTrip = (text) => texts.push(text);
    const { events, started } = await service.ask("go");
    database.onTrip = undefined;
    const [budget] = await database.query<{ calls: number; writes: number }>(
      "select calls, writes from budgets where root_run = $1",
      [started.runId],
    );
    const last = events.at(-1)!;
    return {
      results: events.flatMap((event) => (event.type === "call-end" ? [event.item.body.content.slice(0, 8)] : [])),
      end: last.type === "run-end" ? (last.error?.code ?? last.status) : last.type,
      ...budget!,
      statements: texts.filter((text) => text.includes("update budgets b set steps = steps + $3")).length,
    };
  }

  test("calls are counted with the answer that asks for them, and its writes by a statement before the first is made", async () => {
    assert.deepEqual(await run([[look, look], [look], "end"]), {
      ...{ results: ["ok", "ok", "ok"], end: "done", calls: 3, writes: 0, statements: 0 },
    });
    assert.deepEqual(await run([[look, put], [look], [put], "end"]), {
      ...{ results: ["ok", "ok", "ok", "ok"], end: "done", calls: 4, writes: 2, statements: 2 },
    });
  });

  test("where not all of an answer's calls are left, those are made that are", async () => {
    assert.deepEqual(await run([[look], [look, look, look], "end"], { limits: { toolCalls: 3 } }), {
      ...{ results: ["ok", "Not done", "ok", "ok"], end: "done", calls: 3, writes: 0, statements: 2 },
    });
    assert.deepEqual(await run([[put, put, look], "end"], { limits: { toolCalls: 3, writes: 1 } }), {
      ...{ results: ["Not done", "ok", "ok"], end: "done", calls: 3, writes: 1, statements: 2 },
    });
    assert.deepEqual(await run([[look], [look], "end"], { limits: { toolCalls: 1, onLimit: "stop" } }), {
      ...{ results: ["ok", "Not done"], end: "limit_tool_calls", calls: 1, writes: 0, statements: 1 },
    });
  });

  test("a run that has a bound for tokens reserves its steps and calls one by one", async () => {
    const { calls, statements } = await run([[look], "end"], { limits: { tokens: 100_000 } });
    assert.deepEqual([calls, statements], [1, 3]);
  });

  test("calls that an agent's own limit ends it over are made by nobody, and counted for nobody", async () => {
    const worker = { id: "worker", instructions: "worker", tools: ["look"], limits: { toolCalls: 1 } };
    const service = await suite.start({
      tools,
      agent: { agents: [worker.id] },
      agents: [worker],
      script({ messages }): ScriptAnswer {
        if (String(messages[0]?.content).startsWith("worker")) return [look, look];
        const last = messages.at(-1)!;
        return last.role === "tool"
          ? String(last.content)
          : [{ call: "delegate", arguments: { agent: "worker", task: "Look." } }];
      },
    });
    const { started, text } = await service.ask("go");
    assert.match(text, /own limit: 1 tool calls/);
    const [used] = await suite.database().query("select calls from budgets where root_run = $1", [started.runId]);
    assert.deepEqual(used, { calls: 1 });
  });

  test("a child's local write does not hold the budget of its tree: the step behind it is reserved by itself", async () => {
    const database = suite.database();
    const worker = { id: "worker", instructions: "worker", tools: ["put"] };
    const service = await suite.start({
      tools,
      agent: { agents: [worker.id] },
      agents: [worker],
      script({ messages }): ScriptAnswer {
        const isDone = messages.at(-1)!.role === "tool";
        if (String(messages[0]?.content).startsWith("worker")) return isDone ? "put" : [put];
        return isDone ? "end" : [{ call: "delegate", arguments: { agent: "worker", task: "Put." } }];
      },
    });
    const writes: string[] = [];
    database.onTrip = (text) => text.includes("insert into ledger") && writes.push(text);
    await service.ask("go");
    database.onTrip = undefined;
    assert.equal(writes.length, 1);
    assert.doesNotMatch(writes[0]!, /update budgets/);
  });
});
