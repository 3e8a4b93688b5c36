import assert from "node:assert/strict";
import type { Script } from "../src/models/demo/scripted.ts";
import type { Database } from "../src/store/driver/database.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { z } from "zod";
import { rowOf } from "./run-suite.ts";
import type { TestRuns, TestRunsOptions } from "./runs.ts";

/** Two nodes on one PostgreSQL: what A says goes through somebody who can swallow it all. */
export type Stage = {
  readonly database: Database;
  /** Started at the first call; whoever is there first takes what is queued. */
  readonly a: (options?: Partial<TestRunsOptions>) => Promise<TestRuns>;
  readonly b: (options?: Partial<TestRunsOptions>) => Promise<TestRuns>;
  /** A vanishes in place of the first COMMIT after a statement with this in it. Resolves then. */
  readonly vanish: (inside: string) => Promise<void>;
  /** Waits for a condition, half a minute at most. */
  readonly eventually: (condition: () => Promise<boolean>, what: string) => Promise<void>;
};

const message = { agent: "assistant", message: { content: "go" } };

/** A tool of the caller's own world that a person must allow. */
const asked = defineTool({
  name: "delete_it",
  description: "Deletes it.",
  input: z.object({}),
  effect: "write",
  destructive: true,
  execute: async () => ({ content: "gone" }),
});

/** A model that waits until it is let go, but answers `hi` at once. */
export function gate(): { readonly script: Script; readonly open: () => void; readonly reached: Promise<void> } {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const wait = async (): Promise<void> => {
    reached.resolve();
    await opened.promise;
  };
  return {
    script: ({ messages }) => (messages.at(-1)!.content === "hi" ? "ok" : [{ gate: wait }, { text: "done" }]),
    open: opened.resolve,
    reached: reached.promise,
  };
}

/** What has nothing to do with the harm goes on at once. */
async function othersGoOn(b: TestRuns): Promise<void> {
  const since = performance.now();
  assert.equal((await b.ask("hi")).text, "ok");
  const ms = performance.now() - since;
  assert.ok(ms < 8000, `another run of the same user took ${Math.round(ms)} ms`);
}

/** B works on a run whose rows A locks as it vanishes: the same owner ends it, and nothing was done twice. */
async function holdWhileAtWork(
  { database, a, b, vanish, eventually }: Stage,
  act: (a: TestRuns, started: { readonly runId: string; readonly threadId: string }) => Promise<unknown>,
  inside: string,
): Promise<void> {
  const { script, open, reached } = gate();
  const worker = await b({ script });
  const started = await worker.runs.start(worker.caller, message);
  await reached;
  const rude = await a({ script: () => "not here" });
  const gone = vanish(inside);
  void act(rude, started).catch(() => {});
  await gone;
  await othersGoOn(worker);
  open();
  await eventually(async () => (await rowOf(database, started.runId)).status === "done", "the run's end");
  assert.equal((await rowOf(database, started.runId)).epoch, 1, "it stayed with its owner");
}

/** A works on a run and vanishes; B takes it up. */
async function vanishAtWork(
  { database, a, b, vanish }: Stage,
  { script, options = {}, inside }: { script: Script; options?: Partial<TestRunsOptions>; inside: string },
  then?: (a: TestRuns, runId: string) => Promise<unknown>,
): Promise<{ readonly runId: string; readonly worker: TestRuns }> {
  const rude = await a({ script, ...options });
  const gone = vanish(inside);
  const { runId } = await rude.runs.start(rude.caller, message);
  void then?.(rude, runId).catch(() => {});
  await gone;
  const worker = await b({ script: () => "ok", ...options });
  await othersGoOn(worker);
  assert.ok((await rowOf(database, runId)).status !== "done");
  return { runId, worker };
}

/** By the names that `transactions.ts` gives them. */
export const vanishingCases: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  cancel: (stage) =>
    holdWhileAtWork(stage, (a, { runId }) => a.runs.cancel(a.caller, runId), "update runs set cancel_asked"),

  queue: (stage) =>
    holdWhileAtWork(
      stage,
      (a, { threadId }) => a.runs.start(a.caller, { ...message, threadId }),
      "from threads where id = $1 and user_id = $2 for update",
    ),

  steer: (stage) =>
    holdWhileAtWork(
      stage,
      (a, { runId }) => a.runs.steer(a.caller, runId, { content: "faster" }),
      "steered = steered + 1",
    ),

  async next({ database, a, b, vanish, eventually }) {
    const { script, open, reached } = gate();
    const rude = await a({ script });
    const first = await rude.runs.start(rude.caller, message);
    await reached;
    const second = await rude.runs.start(rude.caller, { ...message, threadId: first.threadId });
    assert.ok(second.pending);
    const gone = vanish("delete from pending");
    open();
    await gone;
    const worker = await b({ script: () => "ok" });
    await othersGoOn(worker);
    const left = "select from runs where id = $1 and status = 'done'";
    await eventually(async () => (await database.query(left, [second.runId])).length === 1, "the second message's run");
  },

  async end(stage) {
    const hang: Script = ({ messages }) => (messages.at(-1)!.content === "hi" ? "ok" : [{ hang: true }]);
    const { runId } = await vanishAtWork(
      stage,
      { script: hang, inside: "select cancel_asked from runs" },
      async (a, id) => {
        await stage.eventually(async () => (await rowOf(stage.database, id)).status === "running", "its begin");
        await a.runs.cancel(a.caller, id);
      },
    );
    const ended = async () => (await rowOf(stage.database, runId)).status === "cancelled";
    await stage.eventually(ended, "the end that a person asked for");
  },

  async wait(stage) {
    const script: Script = ({ messages }) => {
      const last = messages.at(-1)!;
      return last.content === "hi" || last.role === "tool" ? "ok" : [{ call: "delete_it", arguments: {} }];
    };
    const { runId, worker } = await vanishAtWork(stage, {
      ...{ script, options: { script, tools: [asked] } },
      inside: "select cancel_asked from runs",
    });
    await stage.eventually(async () => (await rowOf(stage.database, runId)).status === "waiting", "its wait");
    const questions = await worker.approvals.questions(worker.caller, runId);
    assert.equal(questions.length, 1, "it asks once");
    const decision = { questionId: questions[0]!.id, input: { decision: "allow" as const } };
    await worker.approvals.decide(worker.caller, runId, decision);
    await stage.eventually(async () => (await rowOf(stage.database, runId)).status === "done", "its end");
  },

  async decide({ database, a, b, vanish, eventually }) {
    let done = 0;
    const tool = {
      ...asked,
      execute: async () => {
        done++;
        return { content: "gone" };
      },
    };
    const script: Script = ({ messages }) => {
      const last = messages.at(-1)!;
      return last.content === "hi" || last.role === "tool" ? "ok" : [{ call: "delete_it", arguments: {} }];
    };
    const worker = await b({ script, tools: [tool] });
    const { runId } = await worker.runs.start(worker.caller, message);
    await eventually(async () => (await rowOf(database, runId)).status === "waiting", "its wait");
    const [question] = await worker.approvals.questions(worker.caller, runId);
    const decision = { questionId: question!.id, input: { decision: "allow" as const } };
    const rude = await a({ script: () => "not here", tools: [tool] });
    const gone = vanish("handed_over = true where id = $1");
    void rude.approvals.decide(rude.caller, runId, decision).catch(() => {});
    await gone;
    await othersGoOn(worker);
    await eventually(async () => {
      try {
        await worker.approvals.decide(worker.caller, runId, decision);
        return true;
      } catch (error) {
        assert.equal(error instanceof Error && "code" in error && error.code, "database_locked");
        return false;
      }
    }, "the same decision, brought to another node");
    await eventually(async () => (await rowOf(database, runId)).status === "done", "its end");
    assert.equal(done, 1);
  },

  async "local write"(stage) {
    const script: Script = ({ messages }) => {
      const last = messages.at(-1)!;
      if (last.content === "hi" || last.role === "tool") return "ok";
      return [{ call: "add_task", arguments: { title: "once" } }];
    };
    const { runId } = await vanishAtWork(stage, { script, options: { script }, inside: "insert into tasks" });
    await stage.eventually(async () => (await rowOf(stage.database, runId)).status === "done", "its end");
    assert.equal((await stage.database.query("select from tasks")).length, 1);
  },
};
