import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestRuns } from "../../../test/runs.ts";
import { anyRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { ModelMessage, ModelRequest } from "../../protocol/agents/models.ts";
import type { Turn } from "../contract/turn.ts";

/** Whose prompt it is, by its instructions, and what was said last. */
type PromptSender = { readonly who: string; readonly last: string; readonly fromTool: boolean };
function readRequest({ messages }: ModelRequest): PromptSender {
  const text = (message: ModelMessage | undefined) => String(message?.content ?? "");
  const last = messages.at(-1);
  return { who: text(messages[0]), last: text(last), fromTool: last?.role === "tool" };
}
const by = (answer: (asked: PromptSender) => ScriptAnswer) => (request: ModelRequest) => answer(readRequest(request));
const hand = (agent: string, task: string) => ({ call: "delegate", arguments: { agent, task } });

function lastOf(events: readonly RunEvent[]): string {
  const last = events.at(-1)!;
  return last.type === "run-end"
    ? `run-end ${last.status}`
    : last.type === "run-wait"
      ? `run-wait ${last.reason}`
      : last.type;
}

const boss = { id: "assistant", instructions: "boss", tools: ["now"], agents: ["worker", "clerk"] };
const worker = { id: "worker", instructions: "worker", tools: ["*_task"], agents: ["clerk"] };
const clerk = { id: "clerk", instructions: "clerk", tools: ["*_task"] };
const team = { agent: boss, agents: [worker, clerk] };

anyRunDatabase(({ database, start }) => {
  const childrenOf = (runId: string) =>
    database().query<{ id: string; agent: string; status: string; thread_id: string }>(
      "select id, agent, status, thread_id from runs where root_run = $1 and parent_run is not null order by id",
      [runId],
    );
  const titles = async () =>
    (await database().query<{ title: string }>("select title from tasks order by id")).map(({ title }) => title);
  const budget = async (runId: string) =>
    (await database().query<{ steps: number }>("select steps from budgets where root_run = $1", [runId]))[0]!;
  const addMilk = [{ call: "add_task", arguments: { title: "Milk" } }];

  test("a task is done by another agent, in a run of its own within the job of the first", async () => {
    const service = await start({
      ...team,
      perUser: 1,
      script: by(({ who, last, fromTool }) => {
        if (who === "worker") return `I did: ${last}`;
        return fromTool ? `They say: ${last}` : [hand("worker", "Count the beans.")];
      }),
    });
    const { started, events, text } = await service.ask("beans?");
    assert.equal(text, "They say: I did: Count the beans.");
    const [child, ...others] = await childrenOf(started.runId);
    assert.equal(others.length, 0);
    assert.deepEqual({ ...child, id: "", thread_id: "" }, { id: "", thread_id: "", agent: "worker", status: "done" });
    const result = events.find((event) => event.type === "call-end")!;
    assert.deepEqual(result.item.body.data, {
      ...{ run: child!.id, thread: child!.thread_id },
      ...{ status: "done", model: "script" },
    });
    // The child knows the task and nothing else.
    assert.deepEqual(
      service.model.requests[1]!.messages.map(({ role, content }) => [role, content]),
      [
        ["system", "worker"],
        ["user", "Count the beans."],
      ],
    );
    assert.equal((await budget(started.runId)).steps, 3);
    const offered = service.model.requests[0]!.tools!.find(({ name }) => name === "delegate")!;
    assert.match(offered.description, /- worker/);
    // Its thread is nobody's to write in, and goes with its parent's.
    await assert.rejects(
      service.runs.start(service.caller, { agent: "worker", threadId: child!.thread_id, message: { content: "hi" } }),
      { status: 404 },
    );
    await service.threads.deleteThread(service.caller, started.threadId);
    assert.equal((await database().query("select 1 from threads where id = $1", [child!.thread_id])).length, 0);
  });

  test("three levels, with room for one run of a user", async () => {
    const service = await start({
      ...team,
      perUser: 1,
      script: by(({ who, last, fromTool }) => {
        if (fromTool) return `${who}(${last})`;
        if (who === "boss") return [hand("worker", "deep")];
        return who === "worker" ? [hand("clerk", "deeper")] : "ground";
      }),
    });
    assert.equal((await service.ask("go")).text, "boss(worker(ground))");
  });

  test("several at the same time", async () => {
    const both = Promise.withResolvers<void>();
    let working = 0;
    const meet = async () => {
      if (++working === 2) both.resolve();
      await both.promise;
    };
    const service = await start({
      ...team,
      perUser: 1,
      script: by(({ who, fromTool }) => {
        if (who !== "boss") return [{ gate: meet }, { text: who }];
        return fromTool ? "both" : [hand("worker", "one"), hand("clerk", "two")];
      }),
    });
    const { events } = await service.ask("go");
    assert.deepEqual(
      events.flatMap((event) => (event.type === "call-end" ? [event.item.body.content] : [])),
      ["worker", "clerk"],
    );
  });

  /** The boss asks the worker, who adds a task and must be allowed to. */
  const asking = {
    ...team,
    perUser: 1,
    approval: { ask: ["add_task"] },
    script: by(({ who, last, fromTool }) => {
      if (fromTool) return `${who}: ${last}`;
      return who === "boss" ? [hand("worker", "add milk")] : addMilk;
    }),
  };

  async function decideFirst(service: TestRuns, runId: string, decision: "allow" | "deny" | "continue" | "stop") {
    const [question] = await service.approvals.questions(service.caller, runId);
    await service.approvals.decide(service.caller, runId, { questionId: question!.id, input: { decision } });
  }

  test("what a delegated run asks makes the whole wait, and its answer brings it on", async () => {
    const service = await start(asking);
    const { started, events } = await service.ask("go");
    const waiting = events.at(-1)!;
    assert.equal(waiting.type === "run-wait" && waiting.reason, "approval");
    assert.equal((await rowOf(database(), started.runId)).status, "waiting");
    assert.deepEqual(
      (await childrenOf(started.runId)).map(({ status }) => status),
      ["waiting"],
    );
    assert.deepEqual(await titles(), []);
    await decideFirst(service, started.runId, "allow");
    await until(async () => (await rowOf(database(), started.runId)).status === "done");
    assert.equal((await childrenOf(started.runId))[0]!.status, "done");
    assert.deepEqual(await titles(), ["Milk"]);
    await database().query("delete from tasks");
  });

  test("a question two levels below, and another beside it that still works", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({
      ...team,
      approval: { ask: ["add_task"] },
      script: by(({ who, last, fromTool }) => {
        if (who === "boss") return fromTool ? "done" : [hand("worker", "deep"), hand("clerk", "slow")];
        if (who === "worker") return fromTool ? `worker: ${last}` : [hand("clerk", "add milk")];
        if (last === "slow") return [{ gate: () => gate.promise }, { text: "slow is done" }];
        return fromTool ? "added" : addMilk;
      }),
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(async () => (await service.approvals.questions(service.caller, started.runId)).length === 1);
    await until(
      async () => (await childrenOf(started.runId)).filter(({ status }) => status === "waiting").length === 2,
    );
    assert.equal((await rowOf(database(), started.runId)).status, "running", "the other one still works");
    await decideFirst(service, started.runId, "allow");
    gate.resolve();
    const events = await service.events(started);
    assert.equal(events.at(-1)!.type, "run-end", "it never waited: the answer was there first");
    // Which of them is first is a race.
    assert.deepEqual(events.flatMap((event) => (event.type === "call-end" ? [event.item.body.content] : [])).sort(), [
      "slow is done",
      "worker: added",
    ]);
    assert.deepEqual(await titles(), ["Milk"]);
    await database().query("delete from tasks");
  });

  test("stop reaches those below", async () => {
    const begun = Promise.withResolvers<void>();
    const service = await start({
      ...team,
      script: by(({ who }) =>
        who === "boss"
          ? [hand("worker", "hang")]
          : [{ text: "I" }, { gate: async () => begun.resolve() }, { hang: true }],
      ),
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await begun.promise;
    await service.runs.cancel(service.caller, started.runId);
    const events = await service.events(started);
    assert.equal(lastOf(events), "run-end cancelled");
    await until(() => service.model.stopped() === 1);
    assert.deepEqual(
      (await childrenOf(started.runId)).map(({ status }) => status),
      ["cancelled"],
    );
  });

  test("a delegated run can be stopped by itself, at work or while it waits; its parent is told", async () => {
    const begun = Promise.withResolvers<void>();
    const service = await start({
      ...team,
      approval: { ask: ["add_task"] },
      script: by(({ who, last, fromTool }) => {
        if (who === "boss") return fromTool ? `boss: ${last}` : [hand(last === "hang" ? "clerk" : "worker", last)];
        return last === "hang" ? [{ gate: async () => begun.resolve() }, { hang: true }] : addMilk;
      }),
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "hang" } });
    await begun.promise;
    await service.runs.cancel(service.caller, (await childrenOf(started.runId))[0]!.id);
    const events = await service.events(started);
    const result = events.find((event) => event.type === "call-end")!;
    assert.match(result.item.body.content, /cancelled/);
    assert.equal(lastOf(events), "run-end done");

    const second = await service.ask("milk");
    assert.equal(second.events.at(-1)!.type, "run-wait");
    await service.runs.cancel(service.caller, (await childrenOf(second.started.runId))[0]!.id);
    await until(async () => (await rowOf(database(), second.started.runId)).status === "done");
  });

  test("a limit is the whole tree's: those below pause, and one answer lets all go on or ends all", async () => {
    const script = by(({ who, fromTool }) => {
      if (who === "boss") return fromTool ? "done" : [hand("worker", "look twice")];
      return fromTool ? "looked" : [{ call: "list_tasks", arguments: {} }];
    });
    const service = await start({ ...team, script, limits: { steps: 2, onLimit: "pause" } });
    const { started, events } = await service.ask("go");
    assert.equal(lastOf(events), "run-wait limit");
    await service.runs.continue(service.caller, started.runId);
    await until(async () => (await rowOf(database(), started.runId)).status === "done");

    const second = await service.ask("go");
    await decideFirst(service, second.started.runId, "stop");
    const row = await rowOf(database(), second.started.runId);
    assert.deepEqual([row.status, row.error?.code], ["cancelled", "limit_steps"]);
    assert.deepEqual(
      (await childrenOf(second.started.runId)).map(({ status }) => status),
      ["cancelled"],
    );
  });

  test("an agent's own limit ends its run only", async () => {
    const service = await start({
      ...team,
      agents: [
        { ...worker, limits: { steps: 1 } },
        { ...clerk, agents: ["clerk", "worker", "assistant"] },
      ],
      agent: { ...boss, agents: ["worker", "clerk"] },
      script: by(({ who, last, fromTool }) => {
        if (who === "boss") return fromTool ? `boss: ${last}` : [hand(last === "circle" ? "clerk" : "worker", last)];
        if (who === "clerk")
          return fromTool ? `clerk: ${last}` : [hand("worker", last === "circle" ? "again" : "circle")];
        return last === "again" ? [hand("clerk", "circle")] : [{ call: "list_tasks", arguments: {} }];
      }),
    });
    assert.match((await service.ask("long")).text, /own|by itself: 1 steps/);
  });

  test("what would go in circles is refused", async () => {
    const service = await start({
      agent: { ...boss, agents: ["worker"] },
      agents: [
        { ...worker, agents: ["clerk"] },
        { ...clerk, agents: ["worker"] },
      ],
      script: by(({ who, last, fromTool }) => {
        if (fromTool) return `${who}: ${last}`;
        return who === "worker" ? [hand("clerk", "same")] : [hand("worker", "same")];
      }),
    });
    assert.match((await service.ask("go")).text, /worker is already working on this task/);
  });

  test("depth has an end", async () => {
    let count = 0;
    const service = await start({
      agent: { ...boss, agents: ["worker"] },
      agents: [
        { ...worker, agents: ["clerk"] },
        { ...clerk, agents: ["worker"] },
      ],
      script: by(({ who, last, fromTool }) => {
        if (fromTool) return last;
        return [hand(who === "worker" ? "clerk" : "worker", `task ${++count}`)];
      }),
    });
    assert.match((await service.ask("go")).text, /5 runs below one another are enough/);
  });

  test("a deploy in the middle: the next process goes on with the child, and repeats nothing", async () => {
    const begun = Promise.withResolvers<void>();
    const first = await start({
      ...team,
      script: by(({ who, fromTool }) => {
        if (who === "boss") return [hand("worker", "add milk")];
        return fromTool ? [{ gate: async () => begun.resolve() }, { hang: true }] : addMilk;
      }),
    });
    const started = await first.runs.start(first.caller, { agent: "assistant", message: { content: "go" } });
    await begun.promise;
    await first.stop(0);
    const second = await start({
      ...team,
      script: by(({ who, last }) => (who === "boss" ? `boss: ${last}` : "the milk is on the list")),
    });
    const events = await second.events(started);
    assert.equal(lastOf(events), "run-end done");
    assert.deepEqual(await titles(), ["Milk"]);
    assert.equal(second.model.requests.length, 2, "the child's last step and the parent's");
    const rows = await database().query<{ takeovers: number }>("select takeovers from runs where root_run = $1", [
      started.runId,
    ]);
    assert.deepEqual(
      rows.map(({ takeovers }) => takeovers),
      [0, 0],
      "a hand-over is no crash",
    );
    await database().query("delete from tasks");
  });

  test("a strategy delegates by itself", async () => {
    const service = await start({
      agent: { ...boss, strategy: "boss" },
      agents: [worker, clerk],
      strategies: {
        async boss(turn: Turn) {
          const { content } = await turn.delegate("errand", { agent: "worker", task: "dig" });
          await turn.say("answer", `They ${content}`, { final: true });
        },
      },
      script: ["dug"],
    });
    assert.equal((await service.ask("go")).text, "They dug");
  });

  test("a conversation handed over is answered by the other agent, who knows what was said", async () => {
    const service = await start({
      ...team,
      script: by(({ who, last }) => {
        if (who === "boss")
          return last === "hi"
            ? "hello"
            : [{ call: "delegate", arguments: { agent: "clerk", task: "Go on.", final: true } }];
        return "clerk here";
      }),
    });
    const { started } = await service.ask("hi");
    const { text, events } = await service.ask("a clerk, please", { threadId: started.threadId });
    assert.equal(text, "clerk here");
    const answer = events.findLast((event) => event.type === "message")!;
    assert.equal(answer.item.author, "clerk");
    assert.equal(answer.item.kind === "message" && answer.item.body.model, "script", "the model that wrote it");
    assert.deepEqual(
      service.model.requests.at(-1)!.messages.map(({ content }) => content),
      ["clerk", "hi", "hello", "a clerk, please\n\nGo on."],
    );
    assert.equal(service.model.requests.length, 3, "the first agent is not asked again");
  });

  test("followers of a delegated run see it live", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await start({
      ...team,
      script: by(({ who, fromTool }) => {
        if (who === "boss") return fromTool ? "done" : [hand("worker", "write")];
        return [{ text: "half" }, { gate: () => gate.promise }, { text: " whole" }];
      }),
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    const parent = watch(service, started);
    await until(() => parent.seen.some((event) => event.type === "progress"));
    const [child] = await childrenOf(started.runId);
    const live = watch(service, { threadId: child!.thread_id, runId: child!.id, cursor: { seq: 0, live: [] } });
    await until(() => live.seen.some((event) => event.type === "text-delta" && event.text === "half"));
    gate.resolve();
    await service.events(started);
    await until(() => live.seen.some((event) => event.type === "run-end"));
    parent.close();
    live.close();
  });
});
