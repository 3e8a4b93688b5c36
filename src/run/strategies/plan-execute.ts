import { fillPrompt } from "../../agents/prompt-placeholders.ts";
import { ModelError } from "../../protocol/base/errors.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import type { ModelMessage } from "../../protocol/agents/models.ts";
import { describeTools } from "../prompt/describe-tools.ts";
import { estimate, tokensOfMessages } from "../log/estimate-tokens.ts";
import { protocolText } from "../log/fold.ts";
import { messagesOfSteps } from "../prompt/messages-of-steps.ts";
import { currentTimeText } from "../prompt/current-time.ts";
import { shortened } from "../text/shorten.ts";
import type { StepOptions, Turn } from "../contract/turn.ts";
import { parsePlan, planFormat } from "./plan-execute-parse.ts";
import {
  isOfTask,
  outcomeOf,
  progressOf,
  resultsText,
  stepsOfTask,
  type PlanProgress,
} from "./plan-execute-progress.ts";
import {
  asSteps,
  failuresIn,
  planText,
  roomIn,
  withNewSteps,
  withNextRunning,
  withoutOpen,
  type Steps,
} from "./plan-execute-steps.ts";

/** Makes a plan, works through it step by step, revises it if a step fails, and finally answers. */
export async function planExecute(turn: Turn): Promise<void> {
  for (;;) {
    const { openCalls, answer } = turn.fold;
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) return;
    else await doNext(turn);
  }
}
planExecute.prompts = ["plan_create", "plan_step", "plan_revise", "plan_answer"];

/** Options for a text that is not the answer. */
const unspoken = { read: () => ({}) } satisfies StepOptions;

async function doNext(turn: Turn): Promise<void> {
  const progress = progressOf(turn.fold.items);
  if (!progress.steps) return makePlan(turn);
  const running = progress.steps.findIndex(({ state }) => state === "running");
  if (running !== -1) return workOn(turn, progress, running);
  const reason = reasonToRevise(turn, progress, progress.steps);
  if (reason !== undefined || progress.isThoughtOver) return revise(turn, progress, reason);
  await giveAnswer(turn, progress.steps);
}

async function makePlan(turn: Turn): Promise<void> {
  const { run } = turn;
  const instructions = promptText(turn, "plan_create", { values: { instructions: run.agent.instructions } });
  await stepForPlan(turn, "plan", { instructions, then: [] });
  const planned = parsePlan(textOfStep(turn, "plan")) ?? [shortened(run.input, 500)];
  await recordPlan(turn, progressOf(turn.fold.items), {
    revision: 1,
    change: 1,
    steps: asSteps(planned, run.settings.plan.maxSteps),
  });
}

/** Asks with the schema, and without it if the provider rejects it: the prompt says the same in words. */
async function stepForPlan(turn: Turn, key: string, options: StepOptions): Promise<void> {
  const plain = { ...options, ...unspoken, withoutTools: true };
  try {
    await turn.step(key, { ...plain, format: planFormat });
  } catch (error) {
    if (!(error instanceof ModelError) || error.kind !== "refused") throw error;
    await turn.step(key, plain);
  }
}

/** Share of a step's context for the plan and the outcomes of other steps. */
const ofOthers = 0.5;

/** Works on one step: it sees the conversation, the plan, earlier outcomes and its own calls, but not the calls of other steps. */
async function workOn(turn: Turn, progress: PlanProgress, task: number): Promise<void> {
  const { items } = turn.fold;
  const steps = progress.steps ?? [];
  const answers = stepsOfTask(items, task);
  const last = answers.at(-1);
  if (!last || items.some((item) => item.kind === "call" && item.step === last.step)) {
    const then = (room: number) => {
      const values = { step: `${task + 1}. ${steps[task]!.text}` };
      const prompt = asUser(promptText(turn, "plan_step", { room: room * ofOthers, values }));
      const tokens = room - tokensOfMessages([prompt]);
      return [prompt, ...messagesOfSteps(items, { tokens, isWanted: (step) => isOfTask(step, task) })];
    };
    return turn.step(`task:${task + 1}:${answers.length + 1}`, { ...unspoken, then });
  }
  const state = outcomeOf(items, task).failed ? "failed" : "done";
  await recordPlan(turn, progress, {
    revision: progress.revision,
    change: progress.changes + 1,
    steps: steps.map((step, at) => (at === task ? { ...step, state } : step)),
  });
}

async function revise(turn: Turn, progress: PlanProgress, reason = ""): Promise<void> {
  const key = `revise:${progress.revision}`;
  const then = (room: number) => [asUser(promptText(turn, "plan_revise", { room, values: { reason } }))];
  await stepForPlan(turn, key, { then });
  const planned = parsePlan(textOfStep(turn, key)) ?? [];
  await recordPlan(turn, progressOf(turn.fold.items), {
    revision: progress.revision + 1,
    change: 1,
    steps: withNewSteps(progress.steps ?? [], planned, turn.run.settings.plan.maxSteps),
  });
}

async function giveAnswer(turn: Turn, steps: Steps): Promise<void> {
  const earlier = turn.fold.items.filter((item) => item.kind === "message" && /^answer:\d+$/.test(item.step ?? ""));
  await turn.step(`answer:${earlier.length + 1}`, {
    // Without any step it is plain conversation.
    ...(steps.length > 0 ? { then: (room: number) => [asUser(promptText(turn, "plan_answer", { room }))] } : {}),
    withoutTools: true,
    final: true,
  });
}

type PlanChange = { readonly revision: number; readonly change: number; readonly steps: Steps };

/** Records a change of the plan, together with the start of the next step if there is one. */
async function recordPlan(turn: Turn, before: PlanProgress, { revision, change, steps }: PlanChange): Promise<void> {
  const key = change === 1 ? `plan:${revision}` : `plan:${revision}:${change}`;
  const newFailures = change === 1 ? 0 : before.newFailures + failuresIn(steps) - failuresIn(before.steps);
  const isHeldUp = reasonToRevise(turn, { ...before, newFailures }, steps) !== undefined;
  const begun = isHeldUp ? steps : newFailures > 0 ? withoutOpen(steps) : withNextRunning(steps);
  await turn.record(key, { kind: "plan", body: { steps: begun } });
}

/** Describes the failure for the model that revises the plan. */
function reasonToRevise(
  { run, fold }: Turn,
  { newFailures, unheard }: Pick<PlanProgress, "newFailures" | "unheard">,
  steps: Steps,
): string | undefined {
  if (roomIn(steps, run.settings.plan.maxSteps) <= 0) return undefined;
  const reasons = unheard.map((text) => `the user has written meanwhile: ${text}`);
  const failed = steps.findLastIndex(({ state }) => state === "failed");
  if (newFailures > 0 && failuresIn(steps) <= run.settings.plan.maxRevisions)
    reasons.push(`step ${failed + 1} failed: ${outcomeOf(fold.items, failed).text}`);
  return reasons.length > 0 ? reasons.join("\n") : undefined;
}

type PromptFilling = { readonly values?: Readonly<Record<string, string>>; readonly room?: number };

/** Renders the plan within `room` tokens; if space is short, outcomes are shortened. */
function promptText(turn: Turn, name: string, { values, room = Infinity }: PromptFilling): string {
  const { run, fold } = turn;
  const { steps = [] } = progressOf(fold.items);
  const fill = (results: string) =>
    fillPrompt(run.prompts[name] ?? "", {
      plan: planText(steps),
      results,
      tools: describeTools(run.tools),
      max_steps: String(roomIn(steps, run.settings.plan.maxSteps)),
      now: currentTimeText(new Date()),
      question: run.input,
      ...values,
    });
  return fill(resultsText(fold.items, steps, room - estimate(fill(""))));
}

function textOfStep({ fold }: Turn, key: string): string {
  const step = fold.items.find((item): item is ItemOf<"message"> => item.kind === "message" && item.step === key);
  return (step && protocolText(step)) ?? "";
}

function asUser(content: string): ModelMessage {
  return { role: "user", content };
}
