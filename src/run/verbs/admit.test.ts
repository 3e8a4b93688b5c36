import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { z } from "zod";
import { eachDatabase } from "../../../test/databases.ts";
import { until } from "../../../test/run-suite.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { StartInput } from "../runs.ts";

const addMilk = [{ call: "add_task", arguments: { title: "Milk" } }];

eachDatabase((databases) => {
  const services: TestRuns[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(0))));
  const start = async (options: Omit<TestRunsOptions, "database">) => {
    const service = await startTestRuns({ ...options, database: await databases.lend() });
    services.push(service);
    return service;
  };
  const message = (threadId: string, content: string): StartInput => ({
    agent: "assistant",
    threadId,
    message: { id: newId(), content },
  });

  test("a message sent again never meets its own run: not refused, not stopped, not said twice", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({ script: () => [{ text: "one" }, { gate: () => gate.promise }] });
    const { runs, threads, caller } = service;
    for (const mode of ["reject", "interrupt", "steer"] as const) {
      const thread = await threads.createThread(caller, {});
      const input = { ...message(thread.id, "first"), mode };
      const keyed = {
        ...message(thread.id, "second"),
        mode: "steer",
        idempotency: { key: mode, bodyHash: "h" },
      } as const;
      const { message: second, ...rest } = keyed;
      const first = await runs.start(caller, input);
      assert.deepEqual(await runs.start(caller, input), { ...first, replayed: true });
      const steered = await runs.start(caller, { ...rest, message: { content: second.content } });
      assert.equal(steered.runId, first.runId);
      const again = await runs.start(caller, { ...rest, message: { content: second.content } });
      assert.deepEqual([again.runId, again.replayed], [first.runId, true]);
      const said = (await threads.listItems(caller, thread.id, {})).filter(({ kind }) => kind === "message");
      assert.equal(said.filter((item) => item.author === caller.name).length, 2);
    }
    gate.resolve();
  });

  test("steer: what is said while the second of two writes is made is in the next prompt", async () => {
    const gate = Promise.withResolvers<void>();
    let writes = 0;
    const write = defineTool({
      name: "write_it",
      description: "Writes.",
      input: z.object({}),
      effect: "write",
      async execute() {
        if (++writes === 2) await gate.promise;
        return { content: "written" };
      },
    });
    const service = await start({
      script: ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? "ok"
          : [
              { call: "write_it", arguments: {} },
              { call: "write_it", arguments: {} },
            ],
      tools: [write],
    });
    const { runs, caller, model } = service;
    const started = await runs.start(caller, { agent: "assistant", message: { content: "write" } });
    await until(() => writes === 2, "the second write");
    await runs.steer(caller, started.runId, { content: "and be brief" });
    gate.resolve();
    await service.events(started);
    assert.match(JSON.stringify(model.requests[1]!.messages), /and be brief/);
  });

  test("steer by run: its message's id answers again, an ended run refuses", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({ script: [[{ text: "one" }, { gate: () => gate.promise }], "two"] });
    const { runs, caller } = service;
    const started = await runs.start(caller, { agent: "assistant", message: { content: "go" } });
    const said = { id: newId(), content: "and this" };
    const steered = await runs.steer(caller, started.runId, said);
    assert.equal(steered.messageId, said.id);
    assert.deepEqual(await runs.steer(caller, started.runId, said), steered);
    gate.resolve();
    assert.equal((await service.events(started)).at(-1)!.type, "run-end");
    assert.match(JSON.stringify(service.model.requests.at(-1)!.messages), /and this/);
    assert.deepEqual(await runs.steer(caller, started.runId, said), steered);
    await assert.rejects(runs.steer(caller, started.runId, { content: "late" }), { status: 409, code: "run_not_live" });
    await assert.rejects(runs.steer(caller, newId(), { content: "?" }), { status: 404 });
  });

  test("who can't answer questions is given the run that waits for one, and nothing is queued", async () => {
    const service = await start({ script: [addMilk, "ok", "later"], approval: { ask: ["add_task"] } });
    const { runs, approvals, caller } = service;
    const { started } = await service.ask("go");
    const next = { ...message(started.threadId, "hello?"), showQuestions: true };
    const shown = await runs.start(caller, next);
    assert.deepEqual([shown.runId, shown.pending], [started.runId, false]);
    const [question, wait] = await service.events(shown);
    assert.ok(question!.type === "question" && wait!.type === "run-wait");
    assert.deepEqual(await service.database.query("select 1 from pending"), []);
    await approvals.decide(caller, started.runId, { questionId: question.item.id, input: { decision: "allow" } });
    await service.events(started);
    const later = await runs.start(caller, next);
    assert.notEqual(later.runId, started.runId);
    assert.equal((await service.events(later)).at(-1)!.type, "run-end");
  });
});
