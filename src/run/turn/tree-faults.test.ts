import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { startTestRuns, type TestRuns } from "../../../test/runs.ts";
import { markCancelled } from "../../../test/cancel-asked.ts";
import { eachRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

const boss = { id: "assistant", instructions: "boss", tools: ["ask_server"], agents: ["worker"] };
const worker = { id: "worker", instructions: "worker", tools: ["mark"] };
const clerk = { id: "clerk", instructions: "clerk", tools: ["add_task"] };
const hand = (task: string) => ({ call: "delegate", arguments: { agent: "worker", task } });

function whoAsks({ messages }: ModelRequest): { readonly who: string; readonly results: number } {
  const results = messages.filter(({ role }) => role === "tool").length;
  return { who: String(messages[0]!.content), results };
}

eachRunDatabase(({ database, start, kind }) => {
  const below = (root: string) =>
    database().query<{ id: string; agent: string; status: string }>(
      "select id, agent, status from runs where root_run = $1 and parent_run is not null order by id",
      [root],
    );
  const statusOf = async (id: string) => (await rowOf(database(), id)).status;

  test("a delegated run that is cancelled from elsewhere as it reaches a limit ends, and its parent goes on", async () => {
    const service = await start({
      agent: boss,
      agents: [worker],
      tools: [markCancelled],
      limits: { steps: 2, onLimit: "pause" },
      script(request) {
        const { who, results } = whoAsks(request);
        if (who === "worker") return results > 0 ? "never said" : [{ call: "mark", arguments: {} }];
        return results > 0 ? "It was stopped." : [hand("mark it")];
      },
    });
    const { started, events } = await service.ask("go");
    const last = events.at(-1)!;
    assert.equal(last.type === "run-wait" && last.reason, "limit");
    assert.deepEqual(
      (await below(started.runId)).map(({ status }) => status),
      ["cancelled"],
    );
    await service.runs.continue(service.caller, started.runId);
    await until(async () => (await statusOf(started.runId)) === "done");
  });

  test("a run that our own server was asked for neither keeps its parent busy nor is forgotten after a decision", async () => {
    const gate = Promise.withResolvers<void>();
    const askServer = defineTool({
      name: "ask_server",
      description: "Asks this very server, and does not wait for the end.",
      input: z.object({}),
      effect: "read",
      async execute(_input, { ownHeaders }) {
        const { runs, caller } = service;
        const within = Object.values(ownHeaders())[0]!;
        const { runId } = await runs.start(caller, { agent: "clerk", message: { content: "add" }, within });
        await until(async () => (await statusOf(runId)) === "waiting");
        return "somebody must allow it";
      },
    });
    const service: TestRuns = await start({
      agent: boss,
      agents: [{ ...worker, tools: ["add_task"] }, clerk],
      tools: [askServer],
      approval: { ask: ["add_task"] },
      script(request) {
        const { who, results } = whoAsks(request);
        if (who === "clerk") return results > 0 ? "Added." : [{ call: "add_task", arguments: { title: "Milk" } }];
        if (who === "worker") return [{ gate: () => gate.promise }, { call: "add_task", arguments: { title: "Oil" } }];
        return results === 0 ? [{ call: "ask_server", arguments: {} }] : results === 1 ? [hand("wait")] : "Done.";
      },
    });
    const { runs, approvals, caller } = service;
    const { runId } = await runs.start(caller, { agent: "assistant", message: { content: "go" } });
    await until(async () => (await below(runId)).length === 2);
    const [question] = await approvals.questions(caller, runId);
    await approvals.decide(caller, runId, { questionId: question!.id, input: { decision: "allow" } });
    await until(async () => (await below(runId))[0]!.status === "done", "the decided run to go on");
    gate.resolve();
    await until(async () => (await statusOf(runId)) !== "running", "the root to wait or end");
  });

  if (kind === "pglite")
    test("a job that can't be given back while the database fails is given back when it works again", async () => {
      let fails = false;
      let hadFailed = false;
      const real = database();
      const service = await startTestRuns({
        script: ["Done."],
        log: {
          ...silentLog,
          warn(_fields: unknown, text?: string) {
            if (text === "could not hand the run back to the queue") fails = false;
          },
        },
        database: {
          ...real,
          query(text, values) {
            if (!hadFailed && text.includes("takeovers + 1")) fails = hadFailed = true;
            if (fails) return Promise.reject(Object.assign(new Error("disk full"), { code: "53100" }));
            return real.query(text, values);
          },
        },
      });
      try {
        const { text } = await service.ask("go");
        assert.equal(text, "Done.");
      } finally {
        await service.stop(0);
      }
    });
});
