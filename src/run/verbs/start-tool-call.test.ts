import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { z } from "zod";
import { anyDatabase } from "../../../test/databases.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { ToolCallRequest } from "../runs.ts";

const secret = defineTool({
  name: "read_secret",
  description: "For few only.",
  input: z.object({}),
  effect: "read",
  permissions: ["secrets"],
  execute: () => "42",
});

anyDatabase((databases) => {
  const services: TestRuns[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(0))));
  const start = async (options: Partial<TestRunsOptions> = {}) => {
    const service = await startTestRuns({ script: [], ...options, database: await databases.lend() });
    services.push(service);
    return service;
  };
  const call = async (service: TestRuns, input: ToolCallRequest) => {
    const started = await service.runs.callTool(service.caller, input);
    const events = await service.events(started);
    const result = events.find((event) => event.type === "call-end")?.item.body;
    return { started, events, result, last: events.at(-1)! };
  };
  const titles = async (service: TestRuns) =>
    (await service.database.query<{ title: string }>("select title from tasks order by id")).map((task) => task.title);
  const countRuns = async (service: TestRuns) => (await service.runs.list(service.caller, {})).length;

  test("a read: a run of one call, without a model, in a thread that is not listed", async () => {
    const service = await start();
    const { started, result, last } = await call(service, { tool: "calculate", arguments: '{"expression":"6*7"}' });
    assert.match(result!.content, /42/);
    assert.equal(last.type === "run-end" && last.status, "done");
    assert.equal(service.model.requests.length, 0);
    const run = await service.runs.get(service.caller, started.runId);
    assert.equal(run.agent, "tool:calculate");
    assert.equal((await service.threads.getThread(service.caller, started.threadId)).hidden, true);
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.deepEqual(
      items.map(({ kind, step, index }) => [kind, step, index]),
      [
        ["call", "0", 0],
        ["result", "0", 0],
        ["state", null, null],
      ],
    );
  });

  test("a write sent twice with one key is done once, and both hear of the same run", async () => {
    const service = await start();
    const input = {
      tool: "add_task",
      arguments: '{"title":"Milk"}',
      idempotency: { key: "k", bodyHash: "h" },
    };
    const both = await Promise.all([call(service, input), call(service, input)]);
    assert.equal(both[0].started.runId, both[1].started.runId);
    assert.equal(both[0].result!.content, both[1].result!.content);
    assert.deepEqual(await titles(service), ["Milk"]);
    assert.deepEqual(await service.database.query("select step, call_index, status from ledger"), [
      { step: "0", call_index: 0, status: "done" },
    ]);
    await assert.rejects(
      service.runs.callTool(service.caller, { ...input, idempotency: { key: "k", bodyHash: "other" } }),
      { status: 422, code: "idempotency_key_reused" },
    );
  });

  test("approval, denial and limits hold for it too", async () => {
    const service = await start({ approval: { ask: ["add_task"], deny: ["delete_task"] }, limits: { writes: 1 } });
    const waits = await call(service, { tool: "add_task", arguments: '{"title":"Milk"}' });
    assert.equal(waits.last.type === "run-wait" && waits.last.reason, "approval");
    assert.deepEqual(await titles(service), []);
    const [question] = await service.approvals.questions(service.caller, waits.started.runId);
    await service.approvals.decide(service.caller, waits.started.runId, {
      questionId: question!.id,
      input: { decision: "allow", argumentsHash: question!.body.argumentsHash! },
    });
    assert.equal((await service.events(waits.started)).at(-1)!.type, "run-end");
    assert.deepEqual(await titles(service), ["Milk"]);

    const denied = await call(service, { tool: "delete_task", arguments: '{"task_id":1}' });
    assert.equal(denied.result!.isError, true);
    assert.match(denied.result!.content, /does not allow/);
    assert.deepEqual(await titles(service), ["Milk"]);

    const strict = await start({ limits: { writes: 0, onLimit: "pause" } });
    const limited = await call(strict, { tool: "add_task", arguments: '{"title":"Milk"}' });
    assert.equal(limited.last.type === "run-wait" && limited.last.reason, "limit");
    await strict.runs.continue(strict.caller, limited.started.runId);
    assert.equal((await strict.events(limited.started)).at(-1)!.type, "run-end");
    assert.deepEqual(await titles(strict), ["Milk"]);
  });

  test("what can't be right is refused before anything is written", async () => {
    const service = await start({ tools: [secret] });
    const { caller } = service;
    await assert.rejects(service.runs.callTool(caller, { tool: "add_tsk", arguments: "{}" }), {
      status: 404,
      code: "tool_not_found",
      message: /Did you mean add_task/,
    });
    for (const given of ["{}", '{"title":1}', "no JSON", '{"title":"x","more":1}'])
      await assert.rejects(service.runs.callTool(caller, { tool: "add_task", arguments: given }), {
        status: 400,
        code: "invalid_arguments",
      });
    const guest = { ...caller, role: "user", permissions: [] } as const;
    await assert.rejects(service.runs.callTool(guest, { tool: "read_secret", arguments: "{}" }), { status: 404 });
    await assert.rejects(service.runs.callTool(caller, { tool: "now", arguments: "{}", threadId: newId() }), {
      status: 404,
    });
    assert.equal(await countRuns(service), 0);
    assert.equal((await call(service, { tool: "read_secret", arguments: "{}" })).result!.content, "42");
  });

  test("in a thread it waits its turn, no message steers it, and agents see what it brought", async () => {
    const service = await start({ script: ["hello", "seen"], approval: { ask: ["add_task"] } });
    const { started } = await service.ask("hi");
    const { threadId } = started;
    const waits = await call(service, { tool: "add_task", arguments: '{"title":"Milk"}', threadId });
    assert.equal(waits.last.type, "run-wait");
    const behind = await service.runs.callTool(service.caller, { tool: "now", arguments: "{}", threadId });
    assert.equal(behind.pending, true);
    const steering = { agent: "assistant", threadId, message: { content: "and bread" }, mode: "steer" } as const;
    const said = await service.runs.start(service.caller, steering);
    assert.equal(said.pending, true);
    await assert.rejects(service.runs.steer(service.caller, waits.started.runId, { content: "x" }), {
      status: 409,
      code: "run_not_live",
    });
    const [question] = (await service.approvals.questions(service.caller)) as [ItemOf<"question">];
    await service.approvals.decide(service.caller, waits.started.runId, {
      questionId: question.id,
      input: { decision: "deny", text: "no milk" },
    });
    assert.equal((await service.events(behind)).at(-1)!.type, "run-end");
    assert.equal((await service.events(said)).at(-1)!.type, "run-end");
    const prompt = service.model.requests.at(-1)!.messages;
    assert.deepEqual(
      prompt.map(({ role }) => role),
      ["system", "user", "assistant", "assistant", "tool", "assistant", "tool", "user"],
    );
    assert.match(String(prompt[4]!.content), /no milk/);
  });
});
