import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import type { TestRuns } from "../../../test/runs.ts";

const clientTools = [{ name: "ask", description: "", parameters: { type: "object" } }];
const hang = () => [{ text: "half" }, { hang: true as const }];

eachRunDatabase((suite) => {
  const begin = (service: TestRuns, content = "hi") =>
    service.runs.start(service.caller, { agent: "assistant", message: { content } });
  const cancel = (service: TestRuns, runId: string) => service.runs.cancel(service.caller, runId);

  test("a run that is handed over goes on at once, and no crash is counted", async () => {
    const first = await suite.start({ script: hang });
    const started = await begin(first);
    await until(() => first.model.requests.length === 1);
    await first.stop(0);
    assert.equal(first.active(), 0);
    const second = await suite.start({ script: ["whole"] });
    await second.events(started);
    const { status, epoch, takeovers } = await rowOf(suite.database(), started.runId);
    assert.deepEqual([status, takeovers], ["done", 0]);
    // A look for work that was under way at the stop may have taken it once more, and handed it over too.
    assert.ok(epoch >= 2, String(epoch));
  });

  test("a run that is only just being taken is handed over too", async () => {
    for (let round = 0; round < 10; round++) {
      const service = await suite.start({ script: hang });
      await Promise.all([begin(service), begin(service), begin(service)]);
      for (let turns = 0; turns < round; turns++) await new Promise((resolve) => setImmediate(resolve));
      await service.stop(0);
      assert.deepEqual(await suite.database().query("select id from runs where status = 'running'"), []);
    }
  });

  test("a stop lets a run finish within its grace", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await suite.start({
      script: [[{ text: "half" }, { gate: () => gate.promise }, { text: " and half" }]],
    });
    const started = await begin(service);
    await until(() => service.model.requests.length === 1);
    const stopped = service.stop(10_000);
    gate.resolve();
    await stopped;
    assert.equal((await rowOf(suite.database(), started.runId)).status, "done");
  });

  test("what could not be handed over is not waited for once more", async () => {
    const gate = Promise.withResolvers<void>();
    // As a statement that no database answers would keep it.
    const service = await suite.start({
      script: [],
      agent: { strategy: "deaf" },
      strategies: { deaf: () => gate.promise },
    });
    await begin(service);
    await until(() => service.active() === 1);
    await service.drain(0);
    assert.equal(service.active(), 1);
    // Longer than the test may take.
    await service.stop(600_000);
    gate.resolve();
    await until(() => service.active() === 0);
  });

  test("a run is cancelled wherever it stands, once and for all", async () => {
    const service = await suite.start({
      script: (request) =>
        request.tools?.some((tool) => tool.name === "ask") ? [{ call: "ask", arguments: {} }] : hang(),
      perUser: 1,
    });
    const waiting = await service.runs.start(service.caller, {
      agent: "assistant",
      message: { content: "hi" },
      options: { clientTools },
    });
    await service.events(waiting);
    const running = await begin(service);
    await until(() => service.model.requests.length === 2);
    const queued = await begin(service);
    for (const [place, { runId }] of Object.entries({ queued, waiting, running })) {
      const ends = service.events(place === "queued" ? queued : place === "waiting" ? waiting : running);
      await Promise.all([cancel(service, runId), cancel(service, runId)]);
      if (place !== "waiting") await ends;
      await until(async () => isEnded((await service.runs.get(service.caller, runId)).status), `the end of ${place}`);
      assert.equal((await cancel(service, runId)).status, "cancelled", place);
      const [count] = await suite
        .database()
        .query("select count(*)::integer as ends from items where run_id = $1 and body ->> 'type' = 'run-end'", [
          runId,
        ]);
      assert.deepEqual(count, { ends: 1 });
    }
    assert.equal(service.model.stopped(), 1);
    await until(() => service.active() === 0);
    await assert.rejects(cancel(service, crypto.randomUUID()), { status: 404 });
  });

  test("a run that ended is left as it is", async () => {
    const service = await suite.start({ script: ["ok"] });
    const { started } = await service.ask("hi");
    assert.equal((await cancel(service, started.runId)).status, "done");
  });

  test("a cancel that comes just before a wait is not lost", async () => {
    for (let round = 0; round < 20; round++) {
      const gate = Promise.withResolvers<void>();
      const node = await suite.start({ script: [[{ gate: () => gate.promise }, { call: "ask", arguments: {} }]] });
      const started = await node.runs.start(node.caller, {
        agent: "assistant",
        message: { content: "hi" },
        options: { clientTools },
      });
      const watching = watch(node, started);
      await until(() => node.model.requests.length === 1);
      gate.resolve();
      if (round % 2) await until(() => watching.seen.some((event) => event.type === "call-start"));
      await cancel(node, started.runId);
      await until(async () => (await rowOf(suite.database(), started.runId)).status === "cancelled", `round ${round}`);
      watching.close();
      await node.stop(0);
    }
  });

  test("a deadline stops a run in mid-step", async () => {
    const service = await suite.start({ script: hang, limits: { deadlineSeconds: 0.2 } });
    const started = await begin(service);
    const end = (await service.events(started)).at(-1)!;
    assert.ok(end.type === "run-end" && end.error?.code === "limit_deadline");
    assert.equal(service.model.stopped(), 1);
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.ok(items.some((item) => item.kind === "message" && item.body.partial && item.body.content === "half"));
  });
});

eachRunDatabase((suite) => {
  test("a run of another node is cancelled there", async () => {
    const one = await suite.start({ script: hang });
    const started = await one.runs.start(one.caller, { agent: "assistant", message: { content: "hi" } });
    await until(() => one.model.requests.length === 1);
    const two = await suite.start({ script: [] });
    const ends = two.events(started);
    await two.runs.cancel(two.caller, started.runId);
    assert.equal((await ends).at(-1)!.type, "run-end");
    assert.equal(one.model.stopped(), 1);
  });

  test("what one node hands over, another takes at once", async () => {
    const one = await suite.start({ script: hang });
    const started = await one.runs.start(one.caller, { agent: "assistant", message: { content: "hi" } });
    await until(() => one.model.requests.length === 1);
    const two = await suite.start({ script: ["whole"] });
    const ends = two.events(started);
    await one.stop(0);
    const end = (await ends).at(-1)!;
    assert.ok(end.type === "run-end" && end.status === "done");
    assert.equal((await rowOf(suite.database(), started.runId)).takeovers, 0);
  });

  test("what waits for a disabled account ends, and does nothing", async () => {
    const service = await suite.start({
      script: [[{ call: "add_task", arguments: { title: "x" } }], "ok"],
      approval: { ask: ["add_task"] },
    });
    const { started } = await service.ask("go");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    const { query } = suite.database();
    const before = await query("select 1 from tasks");
    await query("update users set disabled = true where id = $1", [service.caller.userId]);
    try {
      await service.approvals.decide(service.caller, started.runId, {
        questionId: question!.id,
        input: { decision: "allow" },
      });
      await until(async () => (await service.runs.get(service.caller, started.runId)).status === "failed");
    } finally {
      await query("update users set disabled = false where id = $1", [service.caller.userId]);
    }
    assert.equal((await service.runs.get(service.caller, started.runId)).error?.code, "account_disabled");
    assert.equal((await query("select 1 from tasks")).length, before.length);
  });
}, "postgres");
