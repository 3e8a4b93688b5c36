import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { eachRunDatabase, rowOf, until, passOn } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import type { Script } from "../../models/demo/scripted.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

type WriteLog = { readonly keys: string[]; readonly asked: string[] };

/** A write somewhere else; its first call never comes back, as if its process had died over it. */
function remote(place: WriteLog, options: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({
    name: "send",
    description: "Sends.",
    input: z.object({}),
    effect: "write",
    timeoutMs: 2000,
    execute: async (_input: unknown, context: ToolContext): Promise<unknown> => {
      place.keys.push(context.idempotencyKey);
      if (place.keys.length > 1) return "sent";
      return new Promise(() => {});
    },
    ...options,
  } as Parameters<typeof defineTool>[0]);
}

eachRunDatabase((suite) => {
  const ledger = () => suite.database().query("select status, until is null as over from ledger");
  const results = async (service: TestRuns, threadId: string) =>
    (await service.threads.listItems(service.caller, threadId, {})).flatMap((item) =>
      item.kind === "result" ? [{ content: item.body.content, outcome: item.body.outcome }] : [],
    );
  const stopped = (events: readonly RunEvent[]) => {
    const last = events.at(-1)!;
    return last.type === "run-wait" ? last.reason : last.type === "run-end" ? last.status : last.type;
  };

  const script: Script = ({ messages }) => {
    const last = messages.at(-1)!;
    if (last.role === "tool") return "Done.";
    return last.content === "send it" ? [{ call: "send", arguments: {} }] : "Awake.";
  };
  /** The first process is in the midst of the call when a second one takes the run; by then its time is over, unless it shall wait. */
  async function takenOver(tool: Tool, place: WriteLog, { over = true } = {}) {
    const service = await suite.start({ tools: [tool], script });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "send it" } });
    await until(() => place.keys.length === 1, "the first call");
    await takeOver(service, started.runId, { over });
    return { service, started, events: await service.events(started) };
  }

  async function takeOver(service: TestRuns, runId: string, { over = true } = {}): Promise<void> {
    const { query } = suite.database();
    if (over) await query("update ledger set until = now()");
    const { epoch } = await rowOf(suite.database(), runId);
    await passOn(suite.database(), runId);
    // Another run makes the node look for jobs at once.
    await service.ask("wake up");
    await until(async () => (await rowOf(suite.database(), runId)).epoch === epoch + 1, "the takeover");
  }

  test("a tool that honours its key is called again with the same one, and not before its time", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const times: number[] = [];
    const { service, started, events } = await takenOver(
      remote(place, {
        idempotent: true,
        timeoutMs: 1000,
        execute: (_input, context) => {
          times.push(performance.now());
          place.keys.push(context.idempotencyKey);
          return place.keys.length > 1 ? "sent" : new Promise(() => {});
        },
      }),
      place,
      { over: false },
    );
    assert.equal(stopped(events), "done");
    assert.equal(place.keys.length, 2);
    assert.equal(place.keys[0], place.keys[1]);
    assert.ok(times[1]! - times[0]! >= 900, "the first one's time was over");
    assert.deepEqual(await ledger(), [{ status: "done", over: true }]);
    assert.deepEqual(await results(service, started.threadId), [{ content: "sent", outcome: undefined }]);
  });

  const answers: readonly [
    string,
    () => Promise<ToolResult | "not-done" | undefined>,
    { end: string; calls: number },
  ][] = [
    ["that it was done", async () => ({ content: "sent before" }), { end: "done", calls: 1 }],
    ["that it was not done", async () => "not-done", { end: "done", calls: 2 }],
    ["that it can't tell", async () => undefined, { end: "unknown", calls: 1 }],
    ["nothing, but fails", () => Promise.reject(new Error("no answer")), { end: "unknown", calls: 1 }],
    ["nothing in its time", () => new Promise(() => {}), { end: "unknown", calls: 1 }],
  ];
  for (const [said, reconcile, expected] of answers) {
    test(`a tool is asked what became of a call, and says ${said}`, async () => {
      const place: WriteLog = { keys: [], asked: [] };
      const { events } = await takenOver(
        remote(place, {
          timeoutMs: said === "nothing in its time" ? 500 : 60_000,
          reconcile: (_input, context) => {
            place.asked.push(context.idempotencyKey);
            return reconcile();
          },
        }),
        place,
      );
      assert.equal(stopped(events), expected.end);
      assert.equal(place.keys.length, expected.calls);
      assert.deepEqual(place.asked, [place.keys[0]]);
      assert.deepEqual(await ledger(), [{ status: expected.end, over: true }]);
    });
  }

  test("a write that a person had repeated and that breaks off again is unknown anew", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const never = (_input: unknown, { idempotencyKey }: ToolContext) => {
      place.keys.push(idempotencyKey);
      return new Promise(() => {});
    };
    const { service, started, events } = await takenOver(
      remote(place, { timeoutMs: 60_000, execute: never as never }),
      place,
    );
    assert.equal(stopped(events), "unknown");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    const input = { decision: "retry" as const };
    await service.approvals.decide(service.caller, started.runId, { questionId: question!.id, input });
    await until(() => place.keys.length === 2, "the call that was decided");
    await takeOver(service, started.runId);
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "waiting", "the second question");
    assert.equal(place.keys.length, 2, "nobody decided that it is sent a third time");
    assert.deepEqual(await ledger(), [{ status: "unknown", over: true }]);
    const questions = await service.approvals.questions(service.caller, started.runId);
    assert.notEqual(questions[0]!.id, question!.id);
  });

  test("a write that takes too long is unknown and not repeated", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const service = await suite.start({
      tools: [remote(place, { timeoutMs: 100 })],
      script: [
        [
          { call: "send", arguments: {} },
          { call: "now", arguments: {} },
        ],
        "Done.",
      ],
    });
    const { started, events } = await service.ask("send it");
    assert.equal(stopped(events), "unknown");
    assert.equal(place.keys.length, 1);
    assert.deepEqual(await ledger(), [{ status: "unknown", over: true }]);
    assert.equal(events.filter((event) => event.type === "question").length, 1);
    await service.runs.cancel(service.caller, started.runId);
    assert.deepEqual(
      (await results(service, started.threadId)).map(({ outcome }) => outcome),
      ["unknown", "interrupted"],
    );
  });

  test("one that honours its key is called again after it took too long, and nobody is asked", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const service = await suite.start({ tools: [remote(place, { idempotent: true, timeoutMs: 100 })], script });
    const { events, text } = await service.ask("send it");
    assert.equal(stopped(events), "done");
    assert.equal(text, "Done.");
    assert.deepEqual([place.keys.length, new Set(place.keys).size], [2, 1]);
    assert.deepEqual(await ledger(), [{ status: "done", over: true }]);
  });

  test("a write that was cut off by a cancel says that its outcome is unknown", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const service = await suite.start({
      tools: [remote(place, { timeoutMs: 60_000 })],
      script: [
        [
          { call: "send", arguments: {} },
          { call: "send", arguments: {} },
        ],
        "Done.",
      ],
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "send it" } });
    await until(() => place.keys.length === 1);
    assert.deepEqual(await ledger(), [{ status: "executing", over: false }]);
    await service.runs.cancel(service.caller, started.runId);
    assert.equal(stopped(await service.events(started)), "cancelled");
    assert.deepEqual(
      await ledger(),
      [{ status: "unknown", over: false }],
      "its time is left to whoever resumes the run",
    );
    assert.deepEqual(
      (await results(service, started.threadId)).map(({ outcome }) => outcome),
      ["unknown", "interrupted"],
    );
  });

  test("a call in a sandbox that died is interrupted, and nobody is asked", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const tool = remote(place, { scope: "sandbox", timeoutMs: 600_000 });
    const { service, started, events } = await takenOver(tool, place, { over: false });
    assert.equal(stopped(events), "done", "at once, whatever time it had");
    assert.equal(place.keys.length, 1);
    assert.match((await results(service, started.threadId))[0]!.content, /^Interrupted/);
    assert.deepEqual(await ledger(), [{ status: "failed", over: true }]);
  });

  test("a call in a sandbox that takes too long is stopped, and nobody is asked", async () => {
    const place: WriteLog = { keys: [], asked: [] };
    const tool = remote(place, { scope: "sandbox", timeoutMs: 100 });
    const service = await suite.start({ tools: [tool], script });
    const { started, events } = await service.ask("send it");
    assert.equal(stopped(events), "done");
    assert.match((await results(service, started.threadId))[0]!.content, /did not finish within 0\.1 seconds/);
    assert.deepEqual(await ledger(), [{ status: "failed", over: true }]);
  });

  test("a local write of a process that lost its run is as if it had never been", async () => {
    const entered = Promise.withResolvers<void>();
    let calls = 0;
    const tool = defineTool({
      name: "note",
      description: "Notes.",
      input: z.object({}),
      effect: "write",
      scope: "local",
      execute: async (_input, { query, caller }) => {
        await query("insert into tasks (user_id, title) values ($1, 'noted')", [caller.userId]);
        if (++calls > 1) return "noted";
        entered.resolve();
        // As if somebody else took the run just then; in one transaction, since an embedded database has only this one.
        await query("update runs set epoch = epoch + 1, handed_over = true");
        return "noted";
      },
    });
    const service = await suite.start({ tools: [tool], script: [[{ call: "note", arguments: {} }], "Done."] });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "note it" } });
    await entered.promise;
    await until(() => service.active() === 0);
    assert.deepEqual(await suite.database().query("select 1 from tasks where title = 'noted'"), []);
    assert.deepEqual(await ledger(), []);
    await passOn(suite.database(), started.runId);
    assert.equal(stopped(await service.events(started)), "done");
    assert.equal((await suite.database().query("select 1 from tasks where title = 'noted'")).length, 1);
    await suite.database().query("delete from tasks");
  });

  test("a local write can't wait for a model", async () => {
    const tool = defineTool({
      name: "note",
      description: "Notes.",
      input: z.object({}),
      effect: "write",
      scope: "local",
      execute: async (_input, context) => (await context.step({ messages: [{ role: "user", content: "?" }] })).text,
    });
    const service = await suite.start({ tools: [tool], script: [[{ call: "note", arguments: {} }], "Done."] });
    const { started, events } = await service.ask("note it");
    assert.equal(stopped(events), "done");
    assert.match((await results(service, started.threadId))[0]!.content, /can't ask a model/);
  });
});
