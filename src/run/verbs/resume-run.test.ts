import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { letterTool } from "../../../test/letters.ts";
import { eachRunDatabase, until, watch } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { RunStart } from "../runs.ts";

/** A write that is counted outside, by what it was given and with which key. */
function payTool(paid: string[], before: () => Promise<void> = async () => {}, options: Partial<Tool> = {}): Tool {
  return {
    ...defineTool({
      name: "pay",
      description: "Pays somebody.",
      input: z.object({ whom: z.string() }),
      effect: "write",
      timeoutMs: 1500,
      async execute({ whom }, { idempotencyKey }) {
        paid.push(`${whom} ${idempotencyKey}`);
        await before();
        return `paid ${whom}`;
      },
    }),
    ...options,
  };
}

const pay = (whom: string) => [{ call: "pay", arguments: { whom } }] as const;
const refusal = [{ error: "auth", message: "the key is wrong" }] as const;
const rolesOf = ({ messages }: ModelRequest) => messages.map(({ role }) => role).join(" ");
const begin = (service: TestRuns, threadId?: string) =>
  service.runs.start(service.caller, {
    agent: "assistant",
    message: { content: "go" },
    ...(threadId === undefined ? {} : { threadId }),
  });
const statusOf = async (service: TestRuns, runId: string) => (await service.runs.get(service.caller, runId)).status;
const resume = async (service: TestRuns, started: Pick<RunStart, "runId">) => {
  const resumed = await service.runs.resume(service.caller, started.runId);
  return { resumed, events: await service.events(resumed) };
};
const lastOf = (events: readonly RunEvent[]) => {
  const last = events.at(-1)!;
  assert.equal(last.type, "run-end");
  return last.type === "run-end" ? last.status : "";
};

/** What has written waits for its model, until somebody ends it. */
async function giveUp(service: TestRuns, started: RunStart): Promise<void> {
  assert.equal((await service.events(started)).at(-1)!.type, "run-wait");
  const [question] = await service.approvals.questions(service.caller, started.runId);
  await service.approvals.decide(service.caller, started.runId, {
    questionId: question!.id,
    input: { decision: "stop" },
  });
}

eachRunDatabase((runs) => {
  const sound = async () =>
    assert.deepEqual(
      (await checkInvariants(runs.database().query)).filter(({ broken }) => broken > 0),
      [],
    );

  test("after two writes and a model that failed for good: the same run is done, each write once, one stream sees it", async () => {
    const paid: string[] = [];
    let isWell = false;
    const service = await runs.start({
      tools: [payTool(paid)],
      script: (_request, count) => (count < 2 ? pay(["ann", "ben"][count]!) : isWell ? "both are paid" : refusal),
    });
    const started = await begin(service);
    const follower = watch(service, { threadId: started.threadId, cursor: started.cursor });
    await giveUp(service, started);
    assert.equal((await service.runs.get(service.caller, started.runId)).error!.code, "model_auth");
    isWell = true;
    const { resumed, events } = await resume(service, started);
    assert.deepEqual([resumed.runId, resumed.threadId], [started.runId, started.threadId]);
    assert.equal(lastOf(events), "done");
    assert.equal(events[0]!.type, "run-resume");
    assert.deepEqual(
      paid.map((one) => one.split(" ")[0]),
      ["ann", "ben"],
    );
    assert.equal(rolesOf(service.model.requests.at(-1)!), "system user assistant tool assistant tool");
    const run = await service.runs.get(service.caller, started.runId);
    assert.deepEqual([run.status, run.error, run.takeovers], ["done", null, 0]);

    await until(() => follower.seen.filter(({ type }) => type === "run-end").length === 2);
    follower.close();
    const seqs = follower.seen.flatMap((event) =>
      "item" in event ? [event.item.seq] : "seq" in event ? [event.seq] : [],
    );
    assert.deepEqual(
      seqs,
      Array.from(seqs, (_, at) => at + 1),
      "no gap and no repeat",
    );

    const whole = await service.events({ ...started, resumedAt: resumed.resumedAt! });
    assert.equal(lastOf(whole), "done", "who follows the run from its beginning hears of its last end only");
    const place = await service.runs.placeOf(service.caller, started.runId);
    assert.deepEqual([place.resumedAt, place.end], [resumed.resumedAt, seqs.at(-1)]);
    await sound();
  });

  test("what a model was told is not known, and went on from, is not done again", async () => {
    const paid: string[] = [];
    let breaks = true;
    let isWell = false;
    const service = await runs.start({
      agent: { onUnknown: "tell-model" },
      tools: [
        payTool(
          paid,
          async () => {
            if (breaks) throw new Error("socket hang up");
          },
          { idempotent: true },
        ),
      ],
      script({ messages }) {
        const results = messages.filter(({ role }) => role === "tool").length;
        if (results === 0) return pay("ann");
        breaks = false;
        // It looked, and pays by another call.
        if (results === 1) return pay("ann");
        return isWell ? "Paid." : refusal;
      },
    });
    const started = await begin(service);
    await giveUp(service, started);
    const before = paid.length;
    isWell = true;
    const { events } = await resume(service, started);
    assert.equal(lastOf(events), "done");
    assert.equal(paid.length, before);
    await sound();
  });

  test("cancelled in mid-stream: the half answer is none, its step is asked anew", async () => {
    const service = await runs.start({
      script: (_request, count) => (count === 0 ? [{ text: "Half an ans" }, { hang: true }] : "A whole answer."),
    });
    const started = await begin(service);
    const { seen, close } = watch(service, started);
    await until(() => seen.some(({ type }) => type === "text-delta"));
    await service.runs.cancel(service.caller, started.runId);
    await until(() => seen.some(({ type }) => type === "run-end"));
    close();
    const { events } = await resume(service, started);
    assert.equal(lastOf(events), "done");
    assert.deepEqual(
      events.filter(({ type }) => type === "withdrawal").map((event) => ({ ...event, seq: 0 })),
      [{ type: "withdrawal", seq: 0, run: started.runId, step: "1" }],
    );
    const { requests } = service.model;
    assert.deepEqual(requests[1]!.messages, requests[0]!.messages, "it reads nothing of the half answer");
    const next = await begin(service, started.threadId);
    await service.events(next);
    const said = service.model.requests.at(-1)!.messages.map(({ content }) => String(content));
    assert.ok(said.includes("A whole answer.") && !said.some((text) => text.startsWith("Half")));
    await sound();
  });

  test("cancelled while it waits for approval: the question is open again, and the call is done once", async () => {
    const paid: string[] = [];
    const service = await runs.start({
      tools: [payTool(paid)],
      approval: { ask: ["pay"] },
      script: [pay("ann"), "paid", pay("ben")],
    });
    const started = await begin(service);
    await service.events(started);
    const [asked] = await service.approvals.questions(service.caller, started.runId);
    await service.runs.cancel(service.caller, started.runId);
    const { resumed, events } = await resume(service, started);
    assert.equal(events.at(-1)!.type, "run-wait");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    assert.equal(question!.id, asked!.id);
    assert.deepEqual(paid, []);
    await service.approvals.decide(service.caller, started.runId, {
      questionId: question!.id,
      input: { decision: "allow" },
    });
    assert.equal(
      lastOf(await service.events({ ...resumed, cursor: { seq: (events.at(-1) as { seq: number }).seq, live: [] } })),
      "done",
    );
    assert.equal(paid.length, 1);
    assert.equal(rolesOf(service.model.requests.at(-1)!), "system user assistant tool");
    await sound();
  });

  test("cancelled again and again over the same call: each time it is open anew", async () => {
    const service = await runs.start({
      tools: [payTool([])],
      approval: { ask: ["pay"] },
      script: [pay("ann")],
    });
    const started = await begin(service);
    await service.events(started);
    for (let times = 0; times < 3; times++) {
      await service.runs.cancel(service.caller, started.runId);
      await sound();
      await resume(service, started);
      assert.equal(await statusOf(service, started.runId), "waiting");
      await sound();
    }
    const rows = await runs.database().query("select 1 from items where kind = 'result'");
    assert.equal(rows.length, 3);
  });

  for (const [name, options, calls] of [
    ["whose tool honours keys is called again with the old one", { idempotent: true }, 2],
    ["of which nobody knows waits for a person", {}, 1],
  ] as const)
    test(`a write that was under way when the run was cancelled ${name}`, async () => {
      const paid: string[] = [];
      const gate = Promise.withResolvers<void>();
      const service = await runs.start({
        tools: [payTool(paid, () => (paid.length === 1 ? gate.promise : Promise.resolve()), options)],
        script: [pay("ann"), "paid"],
      });
      const started = await begin(service);
      await until(() => paid.length === 1);
      await service.runs.cancel(service.caller, started.runId);
      await service.events(started);
      const [row] = await runs
        .database()
        .query<{ left: number }>(
          "select extract(epoch from until - now()) * 1000 as left from ledger where status = 'unknown'",
        );
      assert.ok(row!.left > 0, "its time is not forgotten");
      const { events } = await resume(service, started);
      const [{ late } = { late: false }] = await runs
        .database()
        .query<{ late: boolean }>(
          "select min(created_at) filter (where kind = 'question' or kind = 'result') > (select created_at + interval '1500 milliseconds' from ledger) as late from items where seq > $1",
          [(events[0] as { seq: number }).seq],
        );
      assert.ok(late, "nobody asked or repeated before its time was over");
      gate.resolve();
      assert.equal(paid.length, calls);
      assert.equal(new Set(paid).size, 1, "one key");
      if (calls === 2) assert.equal(lastOf(events), "done");
      else
        assert.deepEqual(
          [events.at(-1)!.type, (await service.approvals.questions(service.caller))[0]!.body.reason],
          ["run-wait", "unknown"],
        );
      await sound();
    });

  test("what a person found out meanwhile of such a write is its result", async () => {
    const paid: string[] = [];
    const service = await runs.start({
      tools: [payTool(paid), letterTool()],
      script: [[{ call: "send_letter", arguments: {} }], "fine"],
    });
    const started = await begin(service);
    await service.events(started);
    await service.runs.cancel(service.caller, started.runId);
    await service.adminRuns.resolve(service.caller, started.runId, {
      step: "1",
      index: 0,
      status: "done",
      text: "It is there.",
    });
    assert.equal(lastOf((await resume(service, started)).events), "done");
    assert.match(String(service.model.requests[1]!.messages.at(-1)!.content), /It is there\./);
    await sound();
  });

  test("a tree: the child that was stopped with its root goes on, its writes stay", async () => {
    const paid: string[] = [];
    let hold = true;
    const service = await runs.start({
      tools: [payTool(paid)],
      agent: { agents: ["helper"] },
      agents: [{ id: "helper", instructions: "HELPER", tools: ["pay"] }],
      script: ({ messages }) => {
        const last = messages.at(-1)!;
        if (String(messages[0]!.content).startsWith("HELPER"))
          return last.role !== "tool" ? pay("ann") : hold ? [{ text: "I have" }, { hang: true }] : "ann is paid";
        return last.role === "tool"
          ? `It says: ${String(last.content)}`
          : [{ call: "delegate", arguments: { agent: "helper", task: "pay ann" } }];
      },
    });
    const started = await begin(service);
    await until(() => paid.length === 1 && service.model.requests.length === 3);
    await service.runs.cancel(service.caller, started.runId);
    await service.events(started);
    const tree = () =>
      runs
        .database()
        .query<{ id: string; status: string }>("select id, status from runs where root_run = $1 order by id", [
          started.runId,
        ]);
    const before = await tree();
    assert.deepEqual(
      before.map(({ status }) => status),
      ["cancelled", "cancelled"],
    );
    await sound();
    hold = false;
    const { events } = await resume(service, started);
    assert.equal(lastOf(events), "done");
    const answer = events.findLast((event) => event.type === "message");
    assert.equal(answer?.type === "message" && answer.item.body.content, "It says: ann is paid");
    assert.deepEqual(
      await tree(),
      before.map((run) => ({ ...run, status: "done" })),
    );
    assert.equal(paid.length, 1);
    await assert.rejects(service.runs.resume(service.caller, before[1]!.id), { code: "run_done" });
    await sound();
  });

  test("a run that was ended by its limit gets as much again", async () => {
    const service = await runs.start({
      tools: [payTool([])],
      limits: { steps: 2 },
      script: [pay("ann"), pay("ben"), pay("carl"), "all paid"],
    });
    const started = await begin(service);
    await service.events(started);
    assert.equal((await service.runs.get(service.caller, started.runId)).error!.code, "limit_steps");
    assert.equal(lastOf((await resume(service, started)).events), "done");
    assert.equal((await service.adminRuns.get(started.runId)).budget!.steps.max, 4);
  });

  test("taken over too often: it is tried again from nothing", async () => {
    const service = await runs.start({ script: ["well"] });
    const started = await begin(service);
    await service.events(started);
    await runs
      .database()
      .query(
        `update runs set status = 'failed', takeovers = 5, error = '{"code": "taken_over_too_often", "message": "x"}' where id = $1`,
        [started.runId],
      );
    await resume(service, started);
    assert.equal((await service.runs.get(service.caller, started.runId)).takeovers, 0);
  });

  test("the conversation went on without it: it goes on where it was, on a branch of its own", async () => {
    const paid: string[] = [];
    const service = await runs.start({
      tools: [payTool(paid)],
      script: (_request, count) => [pay("ann"), refusal, "another answer", "ann is paid"][count]!,
    });
    const started = await begin(service);
    await giveUp(service, started);
    await service.events(await begin(service, started.threadId));
    assert.equal(lastOf((await resume(service, started)).events), "done");
    assert.equal(rolesOf(service.model.requests.at(-1)!), "system user assistant tool");
    assert.equal(paid.length, 1);
    const branch = await service.threads.listBranch(service.caller, started.threadId);
    assert.equal(branch.filter(({ kind, runId }) => kind === "message" && runId !== started.runId).length, 0);
    await sound();
  });

  test("whoever sent it with a key is answered with its last end", async () => {
    const service = await runs.start({ script: (_request, count) => (count === 0 ? refusal : "well") });
    const input = { agent: "assistant", message: { content: "go" }, idempotency: { key: newId(), bodyHash: "x" } };
    const started = await service.runs.start(service.caller, input);
    assert.equal(lastOf(await service.events(started)), "failed");
    await resume(service, started);
    const replayed = await service.runs.start(service.caller, input);
    assert.equal(replayed.runId, started.runId);
    assert.equal(lastOf(await service.events(replayed)), "done");
  });

  test("webhooks are told of each end", async () => {
    const service = await runs.start({
      script: (_request, count) => (count === 0 ? refusal : "well"),
      hooksFor: () => ["hook"],
    });
    const started = await begin(service);
    await service.events(started);
    await resume(service, started);
    const told = await runs
      .database()
      .query<{ type: string }>("select body ->> 'type' as type from deliveries order by id");
    assert.deepEqual(
      told.map(({ type }) => type),
      ["run.failed", "run.done"],
    );
    await runs.database().query("delete from deliveries");
  });
});
