import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";

eachDatabase((databases) => {
  const services: TestRuns[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(0))));
  const start = async (options: Omit<TestRunsOptions, "database">) => {
    const service = await startTestRuns({ ...options, database: await databases.lend() });
    services.push(service);
    return service;
  };

  test("an agent answers, and its answer is told as it was stored", async () => {
    const service = await start({ script: [[{ text: "Hello" }, { text: " there" }]] });
    const { started, events, text } = await service.ask("hi");
    assert.equal(text, "Hello there");
    assert.deepEqual(
      events.map((event) => event.type),
      ["run-start", "message", "step-start", "text-delta", "text-delta", "message", "run-end"],
    );
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.deepEqual(
      items.map((item) => [item.seq, item.kind]),
      [
        [1, "message"],
        [2, "message"],
        [3, "state"],
      ],
    );
    assert.equal((await service.runs.get(service.caller, started.runId)).status, "done");
  });

  test("a tool call is done and its result goes back to the model", async () => {
    const service = await start({ script: [[{ call: "add_task", arguments: { title: "Buy milk" } }], "Done."] });
    const { started, events } = await service.ask("add a task to buy milk");
    assert.deepEqual(
      events.filter((event) => !event.type.includes("delta")).map((event) => event.type),
      ["run-start", "message", "step-start", "message", "call-start", "call-end", "step-start", "message", "run-end"],
    );
    const tasks = await service.database.query<{ title: string }>("select title from tasks");
    assert.deepEqual(tasks, [{ title: "Buy milk" }]);
    const last = service.model.requests[1]!.messages;
    assert.deepEqual(
      last.map((message) => message.role),
      ["system", "user", "assistant", "tool"],
    );
    const ledger = await service.database.query<{ status: string }>("select status from ledger where run_id = $1", [
      started.runId,
    ]);
    assert.deepEqual(ledger, [{ status: "done" }]);
  });

  test("the thread is remembered, and a message to a busy one waits its turn", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({ script: [[{ text: "one" }, { gate: () => gate.promise }], "two", "three"] });
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { content: "1" } });
    const second = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: first.threadId,
      message: { content: "2" },
    });
    const third = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: first.threadId,
      message: { content: "3" },
    });
    assert.deepEqual([first.pending, second.pending, third.pending], [false, true, true]);
    assert.equal((await service.runs.get(service.caller, third.runId)).status, "queued");
    gate.resolve();
    await service.events(third);
    assert.deepEqual(
      service.model.requests[2]!.messages.map((message) => message.content),
      ["Help.", "1", "one", "2", "two", "3"],
    );
  });

  test("a message may follow an earlier run: it is told nothing of what came after that", async () => {
    const service = await start({ script: ["one", "two", "other two", "three"] });
    const say = async (content: string, more = {}) => {
      const started = await service.runs.start(service.caller, { agent: "assistant", message: { content }, ...more });
      await service.events(started);
      return started;
    };
    const { runId: follows, threadId } = await say("1");
    await say("2", { threadId });
    await say("2, else", { threadId, follows });
    await say("3", { threadId });
    assert.deepEqual(
      service.model.requests.slice(2).map(({ messages }) => messages.map(({ content }) => content)),
      [
        ["Help.", "1", "one", "2, else"],
        ["Help.", "1", "one", "2, else", "other two", "3"],
      ],
    );
    const elsewhere = { agent: "assistant", message: { content: "x" }, follows };
    await assert.rejects(service.runs.start(service.caller, elsewhere), { code: "not_found" });
    const unknown = { agent: "assistant", threadId, message: { content: "x" }, follows: newId() };
    await assert.rejects(service.runs.start(service.caller, unknown), { code: "not_found" });
  });

  test("after a restart what was asked of a node that is no more is not begun again", async () => {
    const service = await start({ script: ["one", "two", "three"] });
    const ask = async (mayRepeat?: "restart", hash = "a") => {
      const request = { hash, ...(mayRepeat && { mayRepeat }) };
      const started = await service.runs.start(service.caller, {
        agent: "assistant",
        message: { content: "1" },
        request,
      });
      await service.events(started);
      return started.runId;
    };
    const first = await ask();
    const second = await ask("restart");
    assert.notEqual(second, first, "its node lives, and has told the answer");
    await service.database.query(`update runs set takes = jsonb_set(takes, '{0,node}', '"gone"')`);
    assert.equal(await ask("restart"), second);
    assert.notEqual(await ask("restart", "b"), second);
    await service.database.query(`update runs set ended_at = now() - interval '2 minutes' where request = 'a'`);
    assert.notEqual(await ask("restart"), second, "nobody asks so late for an answer that was lost");
  });

  test("a model without its key is named as the reason, in an old thread too", async () => {
    const database = await databases.lend();
    const before = await startTestRuns({ database, script: ["hi"] });
    const { started } = await before.ask("hello");
    await before.stop(0);
    const cloud = { id: "cloud", provider: "openai", model: "m", baseUrl: "https://api.openai.com/v1" } as const;
    const service = await startTestRuns({ database, script: [], models: [cloud], agent: { model: "cloud" } });
    services.push(service);
    const { events } = await service.ask("and now?", { threadId: started.threadId });
    const end = events.at(-1)!;
    assert.equal(end.type === "run-end" && end.error?.code, "model_unavailable");
  });

  test("the same Idempotency-Key gives the same run; with another body it is refused", async () => {
    const service = await start({ script: ["once"] });
    const input = { agent: "assistant", message: { content: "hi" }, idempotency: { key: "k", bodyHash: "h" } };
    const [a, b] = await Promise.all([
      service.runs.start(service.caller, input),
      service.runs.start(service.caller, input),
    ]);
    assert.equal(a.runId, b.runId);
    assert.deepEqual([a.replayed, b.replayed].sort(), [false, true]);
    await service.events(b);
    await assert.rejects(
      service.runs.start(service.caller, { ...input, idempotency: { key: "k", bodyHash: "other" } }),
      { status: 422 },
    );
  });

  test("the same message id answers the first run", async () => {
    const service = await start({ script: ["once"] });
    const id = newId();
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { id, content: "hi" } });
    const again = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: first.threadId,
      message: { id, content: "hi" },
    });
    assert.equal(again.runId, first.runId);
    await service.events(first);
  });

  test("cancel stops the model and keeps the partial text", async () => {
    const service = await start({ script: [[{ text: "part" }, { hang: true }]] });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "hi" } });
    await untilTold(service, started, "text-delta");
    await service.runs.cancel(service.caller, started.runId);
    const events = await service.events(started);
    assert.deepEqual(events.at(-1), { type: "run-end", seq: 3, run: started.runId, status: "cancelled" });
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.deepEqual(items[1]?.kind === "message" && [items[1].body.content, items[1].body.partial], ["part", true]);
    assert.equal(service.model.stopped(), 1);
  });

  test("a limit is reserved before the work", async () => {
    const service = await start({
      script: () => [
        { call: "now", arguments: {} },
        { call: "calculate", arguments: { expression: "1+1" } },
      ],
      limits: { steps: 3, repeatedCall: 0, onLimit: "stop" },
    });
    const { events } = await service.ask("loop");
    const end = events.at(-1)!;
    assert.equal(end.type === "run-end" && end.error?.code, "limit_steps");
    assert.equal(service.model.requests.length, 3);
  });

  test("the same call again and again is stopped", async () => {
    const service = await start({
      script: () => [{ call: "calculate", arguments: { expression: "1+1" } }],
      limits: { onLimit: "stop" },
    });
    const { events } = await service.ask("loop");
    const end = events.at(-1)!;
    assert.equal(end.type === "run-end" && end.error?.code, "limit_repeated_call");
  });

  for (const [what, text] of [
    ["broken", '{"title":"Buy'],
    ["valid", '{"title":"Buy"}'],
  ])
    test(`an answer cut for length runs none of its calls: arguments that are ${what} JSON`, async () => {
      const service = await start({
        script: [[{ call: "add_task", arguments: text! }, { finish: "length" }], "sorry"],
      });
      const { started, text: answer } = await service.ask("add");
      assert.equal(answer, "sorry");
      assert.deepEqual(await service.database.query("select 1 from tasks"), []);
      const items = await service.threads.listItems(service.caller, started.threadId, {});
      const results = items.filter((item) => item.kind === "result");
      assert.deepEqual(
        results.map(({ body }) => [body.isError, body.outcome]),
        [[true, "not-run"]],
      );
      assert.match(results[0]!.body.content, /reached its length limit/);
    });

  test("a client's tool makes the run wait, and its result goes on with it", async () => {
    const service = await start({ script: [[{ call: "weather", arguments: { city: "Oslo" } }], "Rain."] });
    const clientTools = [{ name: "weather", description: "", parameters: { type: "object" } }];
    const started = await service.runs.start(service.caller, {
      agent: "assistant",
      message: { content: "weather?" },
      options: { clientTools },
    });
    const events = await service.events(started);
    assert.equal(events.at(-1)!.type, "run-wait");
    const call = events.find((event) => event.type === "call-start")!;
    const callId = "call_" + call.item.id.replaceAll("-", "");
    await waitFor(async () => (await service.runs.get(service.caller, started.runId)).status === "waiting");
    const resumed = await service.runs.bringResults(service.caller, [{ callId, content: "rain" }]);
    assert.equal(resumed.runId, started.runId);
    const rest = await service.events(resumed);
    assert.equal(rest.at(-1)!.type, "run-end");
    const again = await service.runs.bringResults(service.caller, [{ callId, content: "other" }]);
    assert.equal(again.replayed, true);
    assert.equal((await service.events(again)).at(-1)!.type, "run-end");
  });
});

async function untilTold(service: TestRuns, started: Parameters<TestRuns["events"]>[0], type: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const follower = service.runs.follow(started, started.cursor, {
      events(batch) {
        if (!batch.some((event) => event.type === type)) return;
        queueMicrotask(() => follower.close());
        resolve();
      },
      error: reject,
    });
  });
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
