import { z } from "zod";
import { Conflict } from "../src/protocol/base/errors.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { Tool } from "../src/protocol/agents/tools.ts";
import type { RunStart } from "../src/run/runs.ts";
import type { Database } from "../src/store/driver/database.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { startTestRuns, type TestRuns } from "./runs.ts";

export const answerText = "All is done.";

/** How the run is brought to its end: from its beginning, or after it was stopped. */
export const stories = { begun: bringToEnd, resumed: resumeToEnd } as const;
export type Story = keyof typeof stories;

const messageId = "018f0000-0000-7000-8000-00000000f1ed";

function tools(outside: string): readonly Tool[] {
  return [
    defineTool({
      name: "look",
      description: "Changes nothing.",
      input: z.object({}),
      effect: "read",
      execute: () => "nothing new",
    }),
    defineTool({
      name: "send",
      description: "Has an effect outside, once for each key; a person must allow it.",
      input: z.object({}),
      effect: "write",
      idempotent: true,
      destructive: true,
      timeoutMs: 2000,
      async execute(_input, { idempotencyKey, signal }) {
        await fetch(outside, { method: "POST", headers: { "idempotency-key": idempotencyKey }, signal });
        return "sent";
      },
    }),
  ];
}

/** A node whose model asks for a read and a local write, then for a remote write that a person must allow, then answers. */
export function startFixedRuns(database: Database, outside: string): Promise<TestRuns> {
  return startTestRuns({
    database,
    tools: tools(outside),
    script({ messages }): ScriptAnswer {
      const answered = messages.filter(({ role }) => role === "assistant").length;
      if (answered === 0)
        return [{ text: "First" }, { call: "look", arguments: {} }, { call: "add_task", arguments: { title: "once" } }];
      return answered === 1 ? [{ text: "Then" }, { call: "send", arguments: {} }] : answerText;
    },
  });
}

const start = ({ runs, caller }: TestRuns) =>
  runs.start(caller, {
    agent: "assistant",
    message: { id: messageId, content: "go" },
    idempotency: { key: "the one", bodyHash: "the same" },
  });

/** What a client does that wants the one run done, however often it has to begin anew; resolves when nobody works on it any more. */
async function bringToEnd(service: TestRuns): Promise<string> {
  return followToEnd(service, await start(service));
}

/** The same of a run that was stopped. */
async function resumeToEnd(service: TestRuns): Promise<string> {
  const { runs, caller, database } = service;
  const [run] = await database.query<{ runId: string; status: string }>(`select id as "runId", status from runs`);
  const { runId, status } = run!;
  if (status === "cancelled") return followToEnd(service, await runs.resume(caller, runId));
  return followToEnd(service, { runId, ...(await runs.placeOf(caller, runId)) });
}

async function followToEnd(
  service: TestRuns,
  started: Pick<RunStart, "runId" | "threadId" | "resumedAt">,
): Promise<string> {
  const { runs } = service;
  const { runId } = started;
  await new Promise<void>((resolve, reject) => {
    const follower = runs.follow(
      started,
      { seq: 0, live: [] },
      {
        events(events) {
          if (events.some(({ type }) => type === "run-wait")) allowAll(service, runId).catch(reject);
          if (events.some(({ type }) => type === "run-end")) {
            // The follower is not there yet if all was told at once.
            queueMicrotask(() => follower.close());
            resolve();
          }
        },
        error: reject,
      },
    );
  });
  while (service.active() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  return runId;
}

/** Stops the run while what a person has allowed is under way, so that nobody knows whether it was done. */
export async function stopMidway(service: TestRuns, underWay: Promise<unknown>): Promise<void> {
  const { runs, caller, database } = service;
  const started = await start(service);
  const end = followToEnd(service, started);
  await underWay;
  await runs.cancel(caller, started.runId);
  await end;
  await database.query("update ledger set until = now()");
}

async function allowAll({ approvals, caller }: TestRuns, runId: string): Promise<void> {
  for (const question of await approvals.questions(caller, runId)) {
    await approvals
      .decide(caller, runId, { questionId: question.id, input: { decision: "allow" } })
      .catch((error: unknown) => {
        if (!(error instanceof Conflict)) throw error;
      });
  }
}
