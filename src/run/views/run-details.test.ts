import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, until } from "../../../test/run-suite.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";
import { createUser } from "../../store/people/users.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { takeOver } from "../../../test/run-rows.ts";

const letter = defineTool({
  name: "send_letter",
  description: "Sends a letter.",
  input: z.object({ to: z.string() }),
  effect: "write",
  execute: ({ to }) => `sent to ${to}`,
});
const worker = { id: "worker", instructions: "worker", tools: ["add_task"] };

anyRunDatabase(({ database, start }) => {
  const stranger = async (): Promise<Caller> => {
    const name = `user-${newId()}`;
    const { id } = await createUser(database().query, { name, role: "user" });
    return { userId: id, name, role: "user", permissions: ["*"], via: "api-key" };
  };

  test("what a run did, with those it delegated: steps, calls, writes, who took it when", async () => {
    const service = await start({
      agents: [worker],
      agent: { agents: ["worker"] },
      tools: [letter],
      approval: { ask: ["send_letter"] },
      script: ({ messages }) => {
        const last = messages.at(-1)!;
        if (String(messages[0]!.content).startsWith("worker"))
          return last.role === "tool" ? "a task is there" : [{ call: "add_task", arguments: { title: "Milk" } }];
        if (last.role !== "tool") return [{ call: "delegate", arguments: { agent: "worker", task: "Add milk." } }];
        return String(last.content).startsWith("sent")
          ? "all done"
          : [{ call: "send_letter", arguments: { to: "x".repeat(500) } }];
      },
    });
    const { started } = await service.ask("go");
    const see = (most?: number) => service.runs.details(service.caller, { runId: started.runId, most });
    const waiting = await see();
    assert.deepEqual(
      waiting.questions.map(({ body }) => body.reason),
      ["approval"],
    );
    await service.approvals.decide(service.caller, started.runId, {
      questionId: waiting.questions[0]!.id,
      input: { decision: "allow" },
    });
    await until(async () => (await see()).run.status === "done");

    const { runs, items, modelCalls, ledger, whole, budget } = await see();
    assert.ok(whole);
    const [root, child] = runs;
    assert.equal(root!.id, started.runId);
    assert.deepEqual([child!.agent, child!.parentRun, child!.status], ["worker", root!.id, "done"]);
    assert.ok(child!.parentCall?.startsWith("1"));
    assert.deepEqual(
      root!.takes.map(({ epoch, over, node }) => [epoch, over, typeof node]),
      [
        [1, false, "string"],
        [root!.takes.at(-1)!.epoch, false, "string"],
      ],
    );
    assert.equal(child!.takes.length, 1);
    assert.equal(modelCalls.length, 5);
    assert.ok(modelCalls.every(({ error, totalMs }) => error === null && totalMs >= 0));
    assert.deepEqual(
      ledger.map(({ tool, status, runId }) => [tool, status, runId === root!.id]),
      [
        ["add_task", "done", false],
        ["send_letter", "done", true],
      ],
    );
    assert.deepEqual(
      items.filter(({ kind }) => kind === "call").map(({ facts }) => facts["name"]),
      ["delegate", "add_task", "send_letter"],
    );
    assert.equal(items.find(({ kind }) => kind === "decision")!.facts["decision"], "allow");
    const call = items.find(({ facts }) => facts["name"] === "send_letter")!;
    assert.deepEqual([call.text!.length, call.cut], [300, true]);
    const raw = await service.runs.item(service.caller, root!.id, call.id);
    assert.ok(JSON.stringify(raw.body).includes("x".repeat(500)));
    assert.equal(budget!.toolCalls.used, 3);

    const about = await service.runs.about([root!.id]);
    assert.equal(about.get(root!.id)!.text, "go");
    assert.equal(about.get(root!.id)!.used!.toolCalls, 3);

    const newest = await see(3);
    assert.deepEqual([newest.whole, newest.items.length, newest.modelCalls.length], [false, 3, 3]);
    assert.deepEqual(newest.items, items.slice(-3));

    const nobody = await stranger();
    await assert.rejects(service.runs.details(nobody, { runId: root!.id }), { code: "run_not_found" });
    await assert.rejects(service.runs.item(nobody, root!.id, call.id), { code: "item_not_found" });
    await assert.rejects(service.runs.item(service.caller, child!.id, call.id), { code: "item_not_found" });
    assert.equal((await service.runs.details({ ...nobody, role: "admin" }, { runId: root!.id })).run.id, root!.id);
    const roots = await service.runs.list(service.caller, { isRoot: true });
    assert.deepEqual([roots.length, (await service.runs.list(service.caller, {})).length], [1, 2]);
    assert.deepEqual(await service.runs.list(service.caller, { agent: "nobody" }), []);
  });

  test("what is told of a run in a list: its words, also while it is queued, and where it began", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({
      script: (_, count) => (count === 0 ? [{ gate: () => gate.promise }, "one"] : "two") as never,
    });
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    const { threadId } = first;
    const second = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId,
      message: { content: "and on" },
    });
    const about = async () => {
      const told = await service.runs.about([first.runId, second.runId]);
      return [first, second].map(({ runId }) => [told.get(runId)!.text, told.get(runId)!.place!.kind]);
    };
    assert.equal((await service.runs.about([second.runId])).get(second.runId)!.used, null);
    assert.deepEqual(await about(), [
      ["go", "conversation"],
      ["and on", "conversation"],
    ]);
    const { query } = database();
    await query(`update runs set caller = caller || '{"via":"system"}' where id = $1`, [first.runId]);
    assert.deepEqual(await about(), [
      ["go", "schedule"],
      ["and on", "conversation"],
    ]);
    await query("insert into rooms (thread_id, user_id) values ($1, $2)", [threadId, service.caller.userId]);
    assert.deepEqual(await about(), [
      ["go", "room"],
      ["and on", "room"],
    ]);
    gate.resolve();
    await service.events(second);
  });

  test("a run that is taken over says so; of many takes the first and the newest are kept", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({ script: [[{ text: "one moment" }, { gate: () => gate.promise }]] });
    const { runId } = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => service.model.requests.length === 1);
    const other = newId();
    for (let n = 0; n < 40; n++) assert.ok(await takeOver(database(), runId, other));
    const { takes } = (await service.runs.details(service.caller, { runId })).runs[0]!;
    assert.equal(takes.length, 32);
    assert.deepEqual([takes[0]!.epoch, takes[0]!.over], [1, false]);
    assert.deepEqual([takes[1]!.epoch, takes.at(-1)!.epoch, takes.at(-1)!.over], [11, 41, true]);
    assert.deepEqual([takes[0]!.node === other, takes.at(-1)!.node === other], [false, true]);
    await service.runs.cancel(service.caller, runId);
    gate.resolve();
  });
});
