import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { z } from "zod";
import { anyDatabase } from "../../../test/databases.ts";
import {
  insertItem as insertItemOf,
  insertRun,
  insertUser,
  rowIn,
  type RunRows,
  runRows,
  setWaiting,
} from "../../../test/run-rows.ts";
import { startTestRuns, type TestRuns } from "../../../test/runs.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Database } from "../../store/driver/database.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { RunDecision } from "../runs.ts";

const send = defineTool({
  ...{ name: "send", description: "Sends.", input: z.object({ to: z.string() }), effect: "write" },
  execute: () => "sent",
});

anyDatabase((databases) => {
  let database: Database;
  let service: TestRuns;
  let run: RunRows;
  let caller: Caller;

  before(async () => {
    database = await databases.open();
    // Nobody works on these runs: what a decision makes of the rows is all that happens.
    service = await startTestRuns({ database, script: [], tools: [send], runsJobs: false });
  });
  after(() => service.stop(0));

  beforeEach(async () => {
    for (const table of ["threads", "grants"]) await database.query(`delete from ${table}`);
    run = await insertRun(database, { userId: await insertUser(database) });
    await wait(run);
    const { userId } = run;
    caller = { userId, name: "ann", role: "user", permissions: ["*"], via: "session" };
  });

  const wait = (of: RunRows, status?: string) => setWaiting(database, of, { status });
  const insertItem = (...[of, kind, body, at]: [RunRows, string, object, { step?: string; index?: number }?]) =>
    insertItemOf(database, of, { kind, body, ...at });
  const approval = { reason: "approval", tool: "send", arguments: '{"to":"a"}', argumentsHash: "h" };
  const ask = (body: object = approval, of = run, at = {}) =>
    insertItem(of, "question", { text: "Sure?", ...body }, at);
  const decide = (questionId: string, input: RunDecision, { by = caller, runId = run.runId } = {}) =>
    service.approvals.decide(by, runId, { questionId, input });
  const queued = async () =>
    (await database.query<{ id: string }>("select id from runs where status = 'queued' and parent_run is null")).map(
      ({ id }) => id,
    );
  const itemsOf = async (kind: string) => {
    const rows = (await runRows(database)).items.filter((item) => item["kind"] === kind);
    return rows.map(({ body, author, run_id }) => ({ body, author, of: run_id }));
  };
  const allow = { decision: "allow" } as const;
  const readTo = async (of: RunRows) => rowIn(await runRows(database), "threads", of.threadId)["outside_read"];

  test("decide: a question is one of the run's that is named, and that the caller may decide on", async () => {
    const question = await ask();
    const notice = await insertItem(run, "notice", { text: "x" });
    const other = await insertRun(database, { userId: run.userId });
    const stranger = { ...caller, userId: await insertUser(database) };
    const foreign = await insertRun(database, { userId: stranger.userId });
    for (const [questionId, options, code] of [
      [await insertItem(foreign, "notice", { text: "x" }), {}, "question_not_found"],
      ["q", {}, "question_not_found"],
      [newId(), {}, "question_not_found"],
      [notice, {}, "question_not_found"],
      [question, { runId: other.runId }, "question_not_found"],
      [question, { runId: "r" }, "run_not_found"],
      [newId(), { runId: newId() }, "run_not_found"],
      [question, { by: stranger }, "run_not_found"],
    ] as const)
      await assert.rejects(decide(questionId, allow, options), { code, status: 404 });
    const { id, status } = await decide(question, allow, { by: { ...stranger, role: "admin" } });
    assert.deepEqual([id, status], [run.runId, "queued"]);
    assert.deepEqual(await queued(), [run.runId]);
    await wait(run);
    await assert.rejects(decide(question, allow), { code: "already_decided" });
  });

  test("decide: in a room its people decide, and an admin", async () => {
    await database.query("insert into rooms (thread_id, user_id) values ($1, $2)", [run.threadId, run.userId]);
    const question = await ask();
    await assert.rejects(decide(question, allow), { code: "run_not_found" });
    await decide(question, allow, { by: { ...caller, role: "admin" } });
    await wait(run);
    await database.query("insert into room_people (thread_id, user_id, handle) values ($1, $2, 'ann')", [
      ...[run.threadId, run.userId],
    ]);
    await decide(await ask(), allow);
    await database.query("delete from room_people");
    await wait(run);
    const authority = { room: run.threadId, userId: run.userId, why: "decides for the room" } as const;
    await decide(await ask(), allow, { by: { ...caller, authority } });
  });

  test("decide: what was decided is written, and the run goes on once nothing else is asked", async () => {
    const [first, second] = [await ask(), await ask()];
    await decide(first, { ...allow, text: "ok", argumentsHash: "h" });
    assert.deepEqual(await itemsOf("decision"), [
      { body: { question: first, decision: "allow", text: "ok" }, author: "ann", of: run.runId },
    ]);
    assert.deepEqual(await queued(), []);
    assert.equal(rowIn(await runRows(database), "runs", run.runId)["status"], "waiting");
    await decide(second, { decision: "deny" });
    assert.deepEqual(await queued(), [run.runId]);
    assert.equal(rowIn(await runRows(database), "runs", run.runId)["epoch"], 2);
  });

  test("decide: other arguments must be ones that the tool takes", async () => {
    const question = await ask();
    const told = { code: "invalid_arguments", status: 400, detail: { param: "arguments" } };
    const { detail: _, ...refused } = told;
    await assert.rejects(decide(question, { ...allow, arguments: '{"to": 7}' }), refused);
    assert.deepEqual(await itemsOf("decision"), []);
    await decide(question, { ...allow, arguments: '{"to": "b"}' });
    // Of a tool that is gone, or that only asks a question of its own, no schema is known.
    const form = { reason: "question", tool: "send", schema: { type: "object" } };
    for (const [body, decision] of [
      [{ ...approval, tool: "gone" }, "allow"],
      [{ ...approval, tool: undefined }, "allow"],
      [form, "answer"],
    ] as const) {
      await wait(run);
      await decide(await ask(body), { decision, arguments: '{"to": 7}' });
    }
  });

  test("decide: what a person makes of a plan is held to its tools, and their questions about it only", async () => {
    const plan = async (tool: string, given: object) => {
      await database.query("delete from threads");
      run = await insertRun(database, { userId: run.userId });
      await setWaiting(database, run, { options: { dryRun: true } });
      const at = { step: "1", index: 0 };
      await insertItem(run, "call", { name: tool, arguments: JSON.stringify(given), target: "server" }, at);
      await insertItem(run, "result", { content: "", data: { planned: { id: "new:1", tool, arguments: given } } }, at);
    };
    const question = { reason: "question", choices: ["Do it"] };
    const toPlan = { step: "plan:1", index: 0 };
    const answer = { decision: "answer", text: "Do it" } as const;
    const choose = (given: object) => JSON.stringify({ writes: [{ id: "new:1", arguments: given }] });
    await plan("send", { to: "a" });
    const about = await ask(question, run, toPlan);
    await assert.rejects(decide(about, { ...answer, arguments: choose({ to: 7 }) }), {
      code: "invalid_arguments",
      status: 400,
      message: /^new:1: /,
    });
    await assert.rejects(decide(about, { ...answer, arguments: "[]" }), { code: "invalid_arguments" });
    await decide(about, { ...answer, arguments: choose({ to: "b" }) });
    // Its tool takes something else since: whoever changes nothing is not held to that.
    await plan("send", { to: 7 });
    await decide(await ask(question, run, toPlan), answer);
    await plan("gone", { to: 7 });
    await decide(await ask(question, run, toPlan), { ...answer, arguments: choose({ to: 8 }) });
    await setWaiting(database, run, { options: { dryRun: true } });
    await decide(await ask(question, run, { step: "2", index: 0 }), { ...answer, arguments: "[]" });
  });

  test("decide: who may hear something here, and that it was read, is kept", async () => {
    const receivers = ["a.test"];
    await decide(await ask({ ...approval, receivers, outside: ["mail"] }), { ...allow, here: true, read: true });
    const [{ body }] = (await itemsOf("decision")) as unknown as [{ body: Record<string, unknown> }];
    assert.deepEqual(body["here"], receivers);
    assert.deepEqual(await readTo(run), 2);
    const child = await insertRun(database, { userId: run.userId, parent: run });
    for (const [given, to] of [
      [{}, 2],
      [{ read: true }, 3],
    ] as const) {
      await wait(run);
      await wait(child);
      await database.query("update threads set next_seq = 4 where id = $1", [run.threadId]);
      await decide(await ask({ ...approval, receivers, outside: ["mail"] }, child), { ...allow, ...given });
      assert.deepEqual(await readTo(run), to, "it is the root's thread that was read");
    }
    const bodies = (await itemsOf("decision")).map((item) => "here" in (item.body as object));
    assert.equal(bodies.filter(Boolean).length, 1);
  });

  test("decide: always is kept for the run's account, for this call or what fits", async () => {
    const grants = () => database.query("select user_id, tool, pattern from grants order by id");
    const of = { user_id: run.userId, tool: "send" };
    await decide(await ask(), { ...allow, always: true });
    await wait(run);
    await decide(await ask(), { ...allow, always: { to: "a*" } });
    assert.deepEqual(await grants(), [
      { ...of, pattern: { exact: "h" } },
      { ...of, pattern: { fits: { to: "a*" } } },
    ]);
    for (const body of [
      { ...approval, eachTime: true },
      { ...approval, tool: undefined },
      { ...approval, argumentsHash: undefined },
    ]) {
      await wait(run);
      await assert.rejects(decide(await ask(body), { ...allow, always: true }), { code: "invalid_input" });
    }
    assert.equal((await grants()).length, 2);
  });

  test("decide: a person says what became of a write, and its row says so too", async () => {
    const at = { step: "1", index: 0 };
    const unknown = { reason: "unknown", tool: "send" };
    for (const [input, row, result] of [
      [{ decision: "done" }, "done", { content: "A person says that this was done.", isError: false }],
      [{ decision: "failed" }, "failed", { content: "A person says that this was not done.", isError: true }],
      [{ decision: "done", text: "I saw it." }, "done", { content: "I saw it.", isError: false }],
      [{ decision: "retry" }, "unknown", undefined],
    ] as const) {
      await database.query("delete from threads");
      run = await insertRun(database, { userId: run.userId });
      await wait(run);
      await insertItem(run, "notice", { text: "x" }, at);
      for (const place of [{ step: "0", index: 0 }, { step: "1", index: 1 }, at]) {
        await insertItem(run, "call", { name: "send", arguments: "{}", target: "server" }, place);
        await database.query(
          `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, until)
           values ($1, $2, $3, $4, 'send', 'unknown', gen_random_uuid(), '', now())`,
          [run.runId, place.step, place.index, run.userId],
        );
      }
      const question = await ask(unknown, run, at);
      const strange = await ask(unknown, run, { step: "2", index: 0 });
      if (result) await assert.rejects(decide(strange, input), { code: "question_not_found" });
      await decide(question, input);
      const { ledger, items } = await runRows(database);
      const ofCall = (one: Record<string, unknown>) => one["step"] === "1" && one["call_index"] === 0;
      const [made, ...others] = ledger.toSorted((one, other) => Number(ofCall(other)) - Number(ofCall(one)));
      assert.deepEqual([made!["status"], made!["result"]], [row, result ?? null]);
      assert.equal(made!["until"] === null && made!["ended_at"] !== null, result !== undefined);
      assert.deepEqual(
        others.map(({ status }) => status),
        ["unknown", "unknown"],
      );
      const results = items.filter(({ kind }) => kind === "result");
      assert.deepEqual(
        results.map(({ step, call_index }) => [step, call_index]),
        result ? [["1", 0]] : [],
      );
      for (const { body } of results) {
        const { content, isError } = body as Record<string, unknown>;
        assert.deepEqual({ content, isError: isError ?? false }, result);
      }
    }
  });

  test("decide: a limit is extended, or its run ends", async () => {
    const limit = { reason: "limit", limit: "steps", text: "5 steps are used up" };
    await assert.rejects(service.runs.continue(caller, run.runId), { code: "nothing_to_continue" });
    await ask();
    await assert.rejects(service.runs.continue(caller, run.runId), { code: "nothing_to_continue" });
    await database.query("delete from threads");
    run = await insertRun(database, { userId: run.userId });
    await wait(run);
    await ask(limit);
    await service.runs.continue(caller, run.runId);
    assert.equal(rowIn(await runRows(database), "budgets", run.runId)["steps_max"], 105);
    await wait(run);
    await decide(await ask(limit), { decision: "stop" });
    const row = rowIn(await runRows(database), "runs", run.runId);
    assert.deepEqual(
      [row["status"], row["error"]],
      [...["cancelled", { code: "limit_steps", message: "5 steps are used up" }]],
    );
    assert.equal((await itemsOf("decision")).length, 2);
    const stranger = { ...caller, userId: await insertUser(database) };
    await assert.rejects(service.runs.continue(stranger, run.runId), { code: "run_not_found" });
    await assert.rejects(service.runs.continue(caller, "r"), { code: "run_not_found" });
  });

  test("decide: an admin continues anybody's run, and a key only its own", async () => {
    const admin = { ...caller, userId: await insertUser(database), role: "admin" } as const;
    const [approving, limited] = [await ask(), await ask({ reason: "limit", limit: "steps", text: "used up" })];
    await assert.rejects(service.runs.continue({ ...caller, only: newId() }, run.runId), { status: 403 });
    assert.deepEqual(await itemsOf("decision"), []);
    const { id } = await service.runs.continue(admin, run.runId);
    assert.equal(id, run.runId);
    const decided = (await itemsOf("decision")).map(({ body }) => body);
    assert.deepEqual(decided, [{ question: limited, decision: "continue" }]);
    await decide(approving, allow);
    await assert.rejects(service.runs.continue(admin, newId()), { code: "run_not_found" });
    await assert.rejects(service.runs.continue(admin, "r"), { code: "run_not_found" });
  });

  test("decide: whoever decides for a turn within another's run is shown the turn, and an admin the run", async () => {
    const person = { ...caller, userId: await insertUser(database) };
    const admin = { ...caller, userId: await insertUser(database), role: "admin" } as const;
    const child = await insertRun(database, { userId: person.userId, parent: run });
    for (const [by, shown] of [
      [person, child],
      [admin, run],
    ] as const) {
      await wait(run);
      await wait(child);
      const { id } = await decide(await ask(approval, child), allow, { by, runId: run.runId });
      assert.equal(id, shown.runId);
    }
  });

  test("decide: a wait for a provider is ended, or goes on with a model that there is", async () => {
    const provider = { reason: "provider", text: "It is away." };
    await assert.rejects(decide(await ask(provider), { decision: "model", text: "none" }), { status: 422 });
    await database.query("delete from threads");
    run = await insertRun(database, { userId: run.userId });
    await wait(run);
    await decide(await ask(provider), { decision: "stop" });
    const row = rowIn(await runRows(database), "runs", run.runId);
    assert.deepEqual([row["status"], row["error"]], ["cancelled", { code: "", message: "It is away." }]);
  });

  test("decide: of a turn within another run whose wait is ended that one goes on", async () => {
    const child = await insertRun(database, { userId: run.userId, parent: run });
    await wait(child);
    const outage = { code: "model_unreachable", model: "m", text: "gone" };
    await decide(await ask({ reason: "provider", text: "It is away.", outage }, child), { decision: "stop" });
    const rows = await runRows(database);
    const { status, error } = rowIn(rows, "runs", child.runId);
    assert.deepEqual([status, rowIn(rows, "runs", run.runId)["status"]], ["cancelled", "queued"]);
    const { code, message } = error as { code: string; message: string };
    assert.equal(code, "model_unreachable");
    assert.match(message, /, and a person ended the wait\.$/);
    assert.deepEqual(await queued(), [run.runId]);
  });

  test("decide: who asks again by itself is interrupted, and writes nothing more", async () => {
    await wait(run, "running");
    const provider = { reason: "provider", text: "It is away." };
    await decide(await ask(provider), { decision: "retry" });
    assert.equal(rowIn(await runRows(database), "runs", run.runId)["epoch"], 3);
    assert.deepEqual(await queued(), [run.runId]);
  });

  test("decide: a question of a run below is answered by either name, and that run is told of", async () => {
    const child = await insertRun(database, { userId: run.userId, parent: run });
    for (const runId of [run.runId, child.runId]) {
      await wait(child);
      await wait(run);
      const { id } = await decide(await ask(approval, child), allow, { runId });
      assert.equal(id, runId);
    }
    assert.deepEqual(
      (await itemsOf("decision")).map(({ of }) => of),
      [child.runId, child.runId],
    );
    const limit = { reason: "limit", limit: "steps", text: "used up" };
    await wait(child);
    await wait(run);
    await decide(await ask(limit, child), { decision: "continue" });
    assert.equal(rowIn(await runRows(database), "budgets", run.runId)["steps_max"], 105);
    await wait(child);
    await wait(run);
    await decide(await ask(limit, child), { decision: "stop" });
    const rows = await runRows(database);
    assert.deepEqual(
      [run, child].map(({ runId }) => rowIn(rows, "runs", runId)["status"]),
      ["cancelled", "cancelled"],
    );
  });
});
