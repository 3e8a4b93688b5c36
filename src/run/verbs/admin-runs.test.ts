import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";
import { changeUser, createUser } from "../../store/people/users.ts";
import { letterTool } from "../../../test/letters.ts";

const silent = letterTool();
const sendLetter = [{ call: "send_letter", arguments: {} }];

anyDatabase((databases) => {
  const services: TestRuns[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(0))));
  const start = async (options: Omit<TestRunsOptions, "database">) => {
    const service = await startTestRuns({ ...options, database: await databases.lend() });
    services.push(service);
    return service;
  };
  const sound = async ({ database }: TestRuns) =>
    assert.deepEqual(
      (await checkInvariants(database.query)).filter(({ broken }) => broken > 0),
      [],
    );

  test("a run is seen from inside: who holds it, what it has spent", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({
      script: (_request, count) =>
        count === 0
          ? [{ call: "add_task", arguments: { title: "Milk" } }]
          : [{ text: "one moment" }, { gate: () => gate.promise }],
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    while (service.model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));

    const { run, job, budget, ledger, models, questions } = await service.adminRuns.get(started.runId);
    assert.deepEqual([run.status, run.userName, run.takeovers], ["running", "owner", 0]);
    assert.ok(run.node && isId(run.node));
    assert.equal(job!.state, "active");
    if (databases.kind === "postgres") assert.ok(job!.heartbeatSeconds! >= 0);
    else assert.equal(job!.heartbeatSeconds, null);
    assert.deepEqual([budget!.steps.used, budget!.writes.used, budget!.cost.max], [2, 1, null]);
    assert.deepEqual(
      ledger.map(({ tool, status, step }) => [tool, status, step]),
      [["add_task", "done", "1"]],
    );
    assert.deepEqual(
      models.map(({ model, calls, failed }) => [model, calls, failed]),
      [["script", 1, 0]],
    );
    assert.deepEqual(questions, []);

    const behind = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: started.threadId,
      message: { content: "and then" },
    });
    assert.equal((await service.adminRuns.get(behind.runId)).run.status, "queued");
    gate.resolve();
    await service.events(started);
    await assert.rejects(service.adminRuns.get(newId()), { status: 404 });
    await assert.rejects(service.adminRuns.get("nonsense"), { status: 404 });
  });

  test("the list is filtered and paged", async () => {
    const service = await start({ script: [sendLetter, "a", "b", "c"], tools: [silent] });
    const waiting = (await service.ask("send it")).started;
    const done = [];
    for (const content of ["a", "b", "c"]) done.unshift((await service.ask(content)).started.runId);
    const ids = async (filter: Parameters<typeof service.adminRuns.list>[0]) =>
      (await service.adminRuns.list(filter)).map(({ id }) => id);
    assert.deepEqual(await ids({}), [...done, waiting.runId]);
    assert.deepEqual(await ids({ status: "done", limit: 2 }), done.slice(0, 2));
    assert.deepEqual(await ids({ status: "done", before: done[1]! }), done.slice(2));
    assert.deepEqual(await ids({ waitReason: "unknown" }), [waiting.runId]);
    assert.deepEqual(await ids({ waitReason: "approval" }), []);
    assert.deepEqual(await ids({ user: "owner", agent: "assistant", threadId: waiting.threadId }), [waiting.runId]);
    assert.equal((await ids({ user: service.caller.userId })).length, 4);
    assert.deepEqual(await ids({ user: "nobody" }), []);
    assert.deepEqual(await ids({ agent: "nobody" }), []);
  });

  test("an unknown write of a waiting run: the answer is the result, and the run goes on", async () => {
    const service = await start({ script: [sendLetter, "sent then"], tools: [silent] });
    const { started } = await service.ask("send it");
    const { run, questions, ledger } = await service.adminRuns.get(started.runId);
    assert.deepEqual([run.status, run.waitReason, ledger[0]!.status], ["waiting", "unknown", "unknown"]);
    assert.ok(Date.parse(run.waitUntil!) > Date.now());
    assert.equal(questions[0]!.body.tool, "send_letter");
    const resolution = { step: "1", index: 0, status: "done", text: "It is in the post book." } as const;
    await service.adminRuns.resolve(service.caller, started.runId, resolution);
    await service.events({ ...started, cursor: { seq: questions[0]!.seq + 1, live: [] } });
    assert.equal((await service.adminRuns.get(started.runId)).ledger[0]!.status, "done");
    assert.match(String(service.model.requests[1]!.messages.at(-1)!.content), /post book/);
    await assert.rejects(service.adminRuns.resolve(service.caller, started.runId, resolution), {
      code: "write_not_unknown",
    });
    await assert.rejects(service.adminRuns.resolve(service.caller, started.runId, { ...resolution, index: 1 }), {
      code: "write_not_found",
    });
    await sound(service);
  });

  test("an unknown write of a run that has ended: ledger and a notice, never a second result", async () => {
    const service = await start({ script: [sendLetter, "next"], tools: [silent] });
    const { started } = await service.ask("send it");
    await service.runs.cancel(service.caller, started.runId);
    const resolution = { step: "1", index: 0, status: "failed", text: "It came back." } as const;
    const both = await Promise.allSettled(
      [1, 2].map(() => service.adminRuns.resolve(service.caller, started.runId, resolution)),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.equal(items.filter(({ kind }) => kind === "result").length, 1);
    const last = items.at(-1)!;
    assert.ok(last.kind === "notice" && last.step === "1" && /was not done. It came back\./.test(last.body.text));
    assert.equal((await service.adminRuns.get(started.runId)).ledger[0]!.status, "failed");
    assert.equal((await service.ask("go on", { threadId: started.threadId })).text, "next");
    await sound(service);
  });

  test("a cancelled run is tried again with its message and its files, as its owner", async () => {
    const service = await start({ script: [[{ hang: true }], "the second time"] });
    const { query } = service.database;
    const ann = await createUser(query, { name: "ann", role: "user" });
    const caller = { ...service.caller, userId: ann.id, name: "ann", role: "user" } as const;
    const options = { settings: { temperature: 0.5 } };
    const file = { id: newId(), name: "a.txt", mediaType: "text/plain", bytes: 1, path: "a.txt", about: "It says: x." };
    const message = { content: "try", files: [file] };
    const first = await service.runs.start(caller, { agent: "assistant", message, options });
    await assert.rejects(service.adminRuns.retry(first.runId), { code: "run_not_failed" });
    while (service.model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await service.runs.cancel(service.caller, first.runId);
    await service.events(first);

    const again = await service.adminRuns.retry(first.runId, "key");
    await service.events(again);
    assert.equal((await service.adminRuns.retry(first.runId, "key")).runId, again.runId);
    const [run] = await service.adminRuns.list({ user: "ann", status: "done" });
    assert.deepEqual([run!.id, run!.threadId, run!.userId], [again.runId, first.threadId, ann.id]);
    const request = service.model.requests.at(-1)!;
    assert.match(String(request.messages.at(-1)!.content), /try\s+<attached-file>\s+It says: x\.\s+<\/attached-file>$/);
    assert.equal(request.settings?.temperature, 0.5);
    await assert.rejects(service.adminRuns.retry(again.runId), { code: "run_not_failed" });
    await changeUser(query, { id: ann.id, disabled: true });
    await assert.rejects(service.adminRuns.retry(first.runId), { code: "account_disabled" });
  });
});
