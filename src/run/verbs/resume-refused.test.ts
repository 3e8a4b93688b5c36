import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";
import { changeUser, createUser } from "../../store/people/users.ts";

const refusal = [{ error: "auth", message: "the key is wrong" }] as const;
const begin = (service: TestRuns, threadId?: string) =>
  service.runs.start(service.caller, {
    agent: "assistant",
    message: { content: "go" },
    ...(threadId === undefined ? {} : { threadId }),
  });
const statusOf = async (service: TestRuns, runId: string) => (await service.runs.get(service.caller, runId)).status;

anyRunDatabase((runs) => {
  const sound = async () =>
    assert.deepEqual(
      (await checkInvariants(runs.database().query)).filter(({ broken }) => broken > 0),
      [],
    );

  test("what can't be resumed is refused with words", async () => {
    const service = await runs.start({
      script: (_request, count) => (count === 0 ? refusal : count === 1 ? "fine" : [{ hang: true }]),
      agents: [{ id: "other" }],
    });
    const failed = await begin(service);
    await service.events(failed);
    const done = await begin(service);
    await service.events(done);
    const { query } = runs.database();
    const nobody = { ...service.caller, userId: newId(), role: "user" as const };
    const resumed = (runId: string, caller = service.caller) => service.runs.resume(caller, runId);
    await assert.rejects(resumed(done.runId), { status: 409, code: "run_done" });
    await assert.rejects(resumed(newId()), { status: 404, code: "run_not_found" });
    await assert.rejects(resumed("nonsense"), { status: 404 });
    await assert.rejects(resumed(failed.runId, nobody), { status: 404, code: "run_not_found" });

    const live = await begin(service, failed.threadId);
    await until(() => service.model.requests.length === 3);
    await assert.rejects(resumed(live.runId), { status: 409, code: "run_live" });
    await assert.rejects(resumed(failed.runId), { status: 409, code: "thread_busy", message: new RegExp(live.runId) });
    const behind = await begin(service, failed.threadId);
    await assert.rejects(resumed(behind.runId), { status: 409, code: "run_live" });
    await service.runs.cancel(service.caller, behind.runId);
    await assert.rejects(resumed(behind.runId), { status: 409, code: "run_not_begun" });
    await service.runs.cancel(service.caller, live.runId);
    await until(async () => (await statusOf(service, live.runId)) === "cancelled");

    await query(
      `with d as (insert into run_definitions (user_id, hash, body) select user_id, 'gone', jsonb_set(body, '{agent,id}', '"gone"')
         from run_definitions where hash = (select definition_hash from runs where id = $1))
       update runs set agent = 'gone', definition_hash = 'gone' where id = $1`,
      [failed.runId],
    );
    await assert.rejects(resumed(failed.runId), { status: 409, code: "agent_gone", message: /gone/ });
    const ann = await createUser(query, { name: `ann-${newId()}`, role: "user" });
    await query("update runs set caller = jsonb_set(caller, '{userId}', to_jsonb($2::text)) where id = $1", [
      failed.runId,
      ann.id,
    ]);
    await changeUser(query, { id: ann.id, disabled: true });
    await assert.rejects(resumed(failed.runId), { status: 409, code: "account_disabled" });
    await sound();
  });

  test("twice at once: one goes on, the other is refused", async () => {
    const service = await runs.start({ script: (_request, count) => (count === 0 ? refusal : "well") });
    const started = await begin(service);
    await service.events(started);
    const both = await Promise.allSettled([1, 2, 3].map(() => service.runs.resume(service.caller, started.runId)));
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
    await until(async () => (await statusOf(service, started.runId)) === "done");
    assert.equal(service.model.requests.length, 2);
  });

  test("cancelled where it waited at a limit: it gets as much again, and the next question is the only one", async () => {
    const service = await runs.start({
      limits: { steps: 1, onLimit: "pause" },
      approval: { ask: ["add_task"] },
      script: [[{ call: "list_tasks", arguments: {} }], [{ call: "add_task", arguments: { title: "Milk" } }], "done"],
    });
    const started = await begin(service);
    await service.events(started);
    assert.equal((await service.approvals.questions(service.caller, started.runId))[0]!.body.reason, "limit");
    await service.runs.cancel(service.caller, started.runId);
    const resumed = await service.runs.resume(service.caller, started.runId);
    await service.events(resumed);
    const questions = await service.approvals.questions(service.caller, started.runId);
    assert.deepEqual(
      questions.map(({ body }) => body.reason),
      ["approval"],
    );
    assert.equal((await service.adminRuns.get(started.runId)).budget!.steps.max, 2);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: questions[0]!.id,
      input: { decision: "allow" },
    });
    await until(async () => (await statusOf(service, started.runId)) === "waiting");
    await service.runs.continue(service.caller, started.runId);
    await until(async () => (await statusOf(service, started.runId)) === "done");
    await sound();
  });
});
