import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import { textIn, type TestRuns } from "../../../test/runs.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { RunOptions } from "../../protocol/threads/runs.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { RunStart } from "../runs.ts";

const away: ScriptAnswer = [{ error: "unreachable", message: "nothing listens there" }];
const key = { idempotency: { key: "k", bodyHash: "h" } };

anyRunDatabase((suite) => {
  const start = (service: TestRuns, input: { held?: boolean; options?: RunOptions } & Partial<typeof key> = {}) =>
    service.runs.start(service.caller, { agent: "assistant", message: { content: "go" }, ...input });
  const typesOf = (events: readonly RunEvent[]) => events.map(({ type }) => type);
  const endOf = async (service: TestRuns, started: RunStart) => {
    const { seen, close } = watch(service, started);
    await until(() => seen.at(-1)?.type === "run-end", "the end of the run");
    close();
    return seen;
  };
  const openQuestion = async (service: TestRuns, { runId }: RunStart) => {
    // While it is asked again there is none to be answered.
    let found: ItemOf<"question"> | undefined;
    await until(async () => {
      [found] = await service.approvals.questions(service.caller, runId);
      return found !== undefined;
    }, "the question");
    return found!;
  };
  /** A write whose effects are counted. */
  const note = () => {
    const done: number[] = [];
    const tool = defineTool({
      name: "note",
      description: "Notes.",
      input: z.object({ n: z.int() }),
      effect: "write",
      execute: ({ n }) => `noted ${done.push(n)}`,
    });
    const call = (n: number) => [{ call: "note", arguments: { n } }];
    return { done, tool, call };
  };
  const never = { firstMs: 3_600_000, longestMs: 3_600_000 };

  for (const error of ["cut", "server", "overloaded", "timeout", "rate-limit", "unreachable", "garbage"] as const)
    test(`${error}: the step is asked again, and what was told is withdrawn at once with a word`, async () => {
      const script = [[{ text: "half of it" }, { error }], "All of it."];
      const service = await suite.start({ script });
      const { started, events, text } = await service.ask("go");
      assert.equal(text, "All of it.");
      const retry = events.find((event) => event.type === "step-retry");
      assert.equal(retry?.attempt, 1);
      assert.match(retry.retry?.text ?? "", /^The model script .+; trying again in 1 s$/);
      const messages = events.flatMap((event) => (event.type === "message" ? [event.item] : []));
      assert.deepEqual(
        messages.map(({ body, attempt }) => [body.content, attempt]),
        [
          ["go", null],
          ["All of it.", 2],
        ],
      );
      const calls = await suite
        .database()
        .query("select attempt, error is null as ok from model_calls where run_id = $1 order by attempt", [
          started.runId,
        ]);
      assert.deepEqual(calls, [
        { attempt: 1, ok: false },
        { attempt: 2, ok: true },
      ]);
    });

  test("an outage is a wait that ends by itself: two writes before it are made once", async () => {
    const { done, tool, call } = note();
    let isAway = true;
    const script = (_: unknown, count: number) =>
      count === 0 ? call(1) : count === 1 ? call(2) : isAway ? away : "Both are noted.";
    // Tries in vain count against no limit.
    const service = await suite.start({ script, tools: [tool], limits: { steps: 3, onLimit: "pause" } });
    const { started, events } = await service.ask("go");
    const wait = events.at(-1);
    assert.deepEqual(wait?.type === "run-wait" && [wait.reason, wait.error?.code], ["provider", "model_unreachable"]);
    const question = await openQuestion(service, started);
    assert.deepEqual(question.body.outage, { model: "script", code: "model_unreachable", repeats: true });
    // Asked again and again, with nothing new in the log.
    const asked = service.model.requests.length;
    await until(() => service.model.requests.length > asked + 3, "further tries");
    assert.equal((await rowOf(suite.database(), started.runId)).takeovers, 0);
    isAway = false;
    const all = await endOf(service, started);
    assert.deepEqual(done, [1, 2]);
    assert.equal(all.filter(({ type }) => type === "run-wait").length, 1);
    const decision = all.find((event) => event.type === "decision");
    assert.deepEqual(decision?.item.body, { question: question.id, decision: "retry", text: "It answers again." });
    assert.equal(decision.item.author, null);
    const end = all.at(-1);
    assert.equal(end?.type === "run-end" && end.status, "done");
    assert.deepEqual(await service.approvals.questions(service.caller, started.runId), []);
  });

  test("what says nothing has taken its whole time: the run waits after one try", async () => {
    const service = await suite.start({ script: () => [{ error: "timeout" }], outages: never });
    const { events } = await service.ask("go");
    const wait = events.at(-1);
    assert.deepEqual(wait?.type === "run-wait" && [wait.reason, wait.error?.code], ["provider", "model_timeout"]);
    assert.equal(service.model.requests.length, 1);
  });

  test("no slot is held while it waits, and another process asks again", async () => {
    let isAway = true;
    const script = () => (isAway ? away : "Back.");
    const first = await suite.start({ script, perUser: 1 });
    const { started } = await first.ask("go");
    const active = "select 1 from runs where status = 'running'";
    await until(async () => (await suite.database().query(active)).length === 0, "the free slot");
    await first.stop(0);
    isAway = false;
    const second = await suite.start({ script });
    assert.equal(textIn(await endOf(second, started)), "Back.");
  });

  test("a provider that says when is not asked before", async () => {
    const script = () => [{ error: "rate-limit" as const, retryAfterSeconds: 3600 }];
    const service = await suite.start({ script });
    const { started } = await service.ask("go");
    assert.equal(service.model.requests.length, 1);
    const { retryAt } = await service.runs.get(service.caller, started.runId);
    const [{ inMs }] = (await suite
      .database()
      .query<{ inMs: number }>(`select extract(epoch from $1::timestamptz - now())::float8 * 1000 as "inMs"`, [
        retryAt,
      ])) as [{ inMs: number }];
    assert.ok(inMs > 3_500_000 && inMs <= 3_600_000, String(inMs));
  });

  test("Try now asks at once", async () => {
    let isAway = true;
    const service = await suite.start({ script: () => (isAway ? away : "Back."), outages: never });
    const { started } = await service.ask("go");
    const question = await openQuestion(service, started);
    isAway = false;
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question.id,
      input: { decision: "retry" },
    });
    assert.equal(textIn(await endOf(service, started)), "Back.");
  });

  test("another model goes on in its place; one that is not there is refused with names that are near", async () => {
    const service = await suite.start({
      script: () => away,
      outages: never,
      models: [{ id: "spare", provider: "scripted", script: ["From the spare."] }],
    });
    const { started } = await service.ask("go");
    const question = await openQuestion(service, started);
    const choose = (text?: string) =>
      service.approvals.decide(service.caller, started.runId, {
        questionId: question.id,
        input: { decision: "model", ...(text === undefined ? {} : { text }) },
      });
    await assert.rejects(choose("spar"), { status: 422, code: "model_not_found", message: /Did you mean spare\?/ });
    await assert.rejects(choose(), { status: 400 });
    await choose("spare");
    const events = await endOf(service, started);
    assert.equal(textIn(events), "From the spare.");
  });

  test("End stops it, with what was the matter", async () => {
    const service = await suite.start({ script: () => away, outages: never });
    const { started } = await service.ask("go");
    const question = await openQuestion(service, started);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question.id,
      input: { decision: "stop" },
    });
    const end = (await endOf(service, started)).at(-1);
    assert.deepEqual(end?.type === "run-end" && [end.status, end.error?.code], ["cancelled", "model_unreachable"]);
  });

  test("a decision while it is being asked again takes the run back", async () => {
    let hangs = false;
    const script = () => (hangs ? [{ hang: true as const }] : away);
    const models = [{ id: "spare", provider: "scripted" as const, script: ["From the spare."] }];
    const service = await suite.start({ script, models });
    const { started } = await service.ask("go");
    const question = await openQuestion(service, started);
    hangs = true;
    const hanging = async () => (await rowOf(suite.database(), started.runId)).status === "running";
    await until(hanging, "a try that hangs");
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question.id,
      input: { decision: "model", text: "spare" },
    });
    assert.equal(textIn(await endOf(service, started)), "From the spare.");
  });

  test("a wait has an end", async () => {
    const service = await suite.start({ script: () => away, outages: { waitMs: 150 } });
    const { started } = await service.ask("go");
    const end = (await endOf(service, started)).at(-1);
    assert.deepEqual(end?.type === "run-end" && [end.status, end.error?.code], ["failed", "model_unreachable"]);
  });

  test("what repeating can't mend ends a run that has written nothing, at once", async () => {
    for (const error of ["auth", "refused"] as const) {
      const service = await suite.start({ script: () => [{ error, message: "no such key" }] });
      const { events } = await service.ask("go");
      const end = events.at(-1);
      assert.deepEqual(end?.type === "run-end" && end.error, { code: `model_${error}`, message: "no such key" });
      assert.equal(service.model.requests.length, 1);
      await service.stop(0);
    }
  });

  test("one that has written waits for a person then, and is not asked again by itself", async () => {
    const { done, tool, call } = note();
    let isMended = false;
    const script = (_: unknown, count: number): ScriptAnswer =>
      count === 0 ? call(1) : isMended ? "Noted." : [{ error: "auth", message: "no such key" }];
    const service = await suite.start({ script, tools: [tool] });
    const { started } = await service.ask("go");
    const question = await openQuestion(service, started);
    assert.equal(question.body.outage?.repeats, false);
    assert.equal((await service.runs.get(service.caller, started.runId)).retryAt, null);
    isMended = true;
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question.id,
      input: { decision: "retry" },
    });
    assert.equal(textIn(await endOf(service, started)), "Noted.");
    assert.deepEqual(done, [1]);
  });

  test("who holds the connection gets the error: what is not there at once, the rest after short retries", async () => {
    const cases = [
      ["unreachable", 1],
      ["timeout", 1],
      ["auth", 1],
    ] as const;
    for (const [error, asked] of cases) {
      const service = await suite.start({ script: () => [{ error }] });
      const end = (await endOf(service, await start(service, { held: true }))).at(-1);
      assert.equal(end?.type === "run-end" && end.error?.code, `model_${error}`);
      assert.equal(service.model.requests.length, asked);
      await service.stop(0);
    }
    const busy = await suite.start({ script: () => [{ error: "overloaded" as const }] });
    const end = (await endOf(busy, await start(busy, { held: true }))).at(-1);
    assert.equal(end?.type === "run-end" && end.error?.code, "model_overloaded");
    assert.ok(busy.model.requests.length > 2, String(busy.model.requests.length));
  });

  test("its run waits all the same once it has written, was asked to, or has a key", async () => {
    const { done, tool, call } = note();
    const script = (_: unknown, count: number): ScriptAnswer => (count === 0 ? call(1) : away);
    const service = await suite.start({ script, tools: [tool], outages: never });
    const waits = async (input: Parameters<typeof start>[1]) =>
      typesOf(await service.events(await start(service, input))).at(-1);
    assert.equal(await waits({ held: true }), "run-wait");
    assert.deepEqual(done, [1]);
    assert.equal(await waits({ held: true }), "run-end");
    assert.equal(await waits({ held: true, options: { onOutage: "wait" } }), "run-wait");
    assert.equal(await waits({ held: true, ...key }), "run-wait");
    assert.equal(await waits({ options: { onOutage: "fail" } }), "run-end");
    await service.stop(0);
    const patient = await suite.start({ script: () => away, agent: { onOutage: "wait" }, outages: never });
    assert.equal(typesOf(await patient.events(await start(patient, { held: true }))).at(-1), "run-wait");
  });

  test("what failed attempts used is counted once, with what they were reserved", async () => {
    const usage = (n: number) => ({ finish: "stop" as const, usage: { inputTokens: n, outputTokens: n } });
    const script = [
      [{ text: "x".repeat(400) }, { error: "cut" as const }],
      [{ text: "ok" }, usage(7)],
    ];
    const service = await suite.start({ script, limits: { tokens: 1_000_000 } });
    const { started } = await service.ask("go");
    const [logged] = await suite
      .database()
      .query<{ tokens: number }>(
        "select sum(input_tokens + output_tokens)::integer as tokens from model_calls where run_id = $1",
        [started.runId],
      );
    const [budget] = await suite
      .database()
      .query<{ tokens: number; steps: number }>(
        "select tokens::integer as tokens, steps from budgets where root_run = $1",
        [started.runId],
      );
    assert.ok(logged!.tokens > 114);
    assert.deepEqual(budget, { tokens: logged!.tokens, steps: 1 });
  });

  test("a delegated run's outage is a wait of both, and both go on by themselves", async () => {
    let isAway = true;
    const service = await suite.start({
      script: (request, count) => {
        if (count === 0) return [{ call: "delegate", arguments: { agent: "helper", task: "Help." } }];
        if (request.messages.at(-1)?.content === "Help.") return isAway ? away : "Helped.";
        return "All done.";
      },
      agent: { agents: ["helper"] },
      agents: [{ id: "helper" }],
    });
    const { started, events } = await service.ask("go");
    const wait = events.at(-1);
    assert.equal(wait?.type === "run-wait" && wait.reason, "provider");
    await until(() => service.model.requests.length > 8, "further tries");
    isAway = false;
    assert.equal(textIn(await endOf(service, started)), "All done.");
    const waits = await suite
      .database()
      .query("select 1 from items where kind = 'state' and body ->> 'type' = 'run-wait'");
    assert.equal(waits.length, 2);
  });
});
