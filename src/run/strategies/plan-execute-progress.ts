import { textOf, type Item, type ItemOf } from "../../protocol/threads/items.ts";
import { estimate } from "../log/estimate-tokens.ts";
import { fitting, shortened } from "../text/shorten.ts";
import { isErased, isNested, protocolText } from "../log/fold.ts";

import { parseOutcome } from "./plan-execute-parse.ts";
import { failuresIn, type Steps } from "./plan-execute-steps.ts";

/** Room for one step's result in the prompts of the others. */
const longestResult = 4000;

/** Where a run stands, read from its items alone. */
export type PlanProgress = {
  /** The plan as it is now; undefined: there is none yet. */
  readonly steps: Steps | undefined;
  /** 1 for the first plan, one more for each that took its place; and how many items this one has. */
  readonly revision: number;
  readonly changes: number;
  /** The model has said how to go on, and the plan does not show it yet. */
  readonly isThoughtOver: boolean;
  /** Failures that the plan's last revision did not know of yet. */
  readonly newFailures: number;
  /** Messages of the user since the plan was last revised. */
  readonly unheard: readonly string[];
};

export function progressOf(items: readonly Item[]): PlanProgress {
  const plans = items.filter((item): item is ItemOf<"plan"> => item.kind === "plan" && !isErased(item));
  const steps = plans.at(-1)?.body.steps;
  const revision = Number(plans.at(-1)?.step?.split(":")[1] ?? 0);
  const ofRevision = plans.filter(({ step }) => step?.split(":")[1] === String(revision));
  const planner = items.findLast(
    (item): item is ItemOf<"message"> => item.kind === "message" && /^(?:plan|revise:\d+)$/.test(item.step ?? ""),
  );
  const seen = planner ? (planner.body.seen ?? planner.seq) : Infinity;
  return {
    steps,
    revision,
    changes: ofRevision.length,
    isThoughtOver: planner?.step === `revise:${revision}`,
    newFailures: failuresIn(steps) - failuresIn(ofRevision[0]?.body.steps),
    unheard: items.flatMap((item) =>
      item.kind === "message" && item.step === null && item.seq > seen && !isErased(item)
        ? textOf(item.body.content)
        : [],
    ),
  };
}

/** The answers of the plan's step, counted from 0. */
export function stepsOfTask(items: readonly Item[], task: number): ItemOf<"message">[] {
  return items.filter(
    (item): item is ItemOf<"message"> => item.kind === "message" && isOfTask(item.step, task) && !isNested(item),
  );
}

export function isOfTask(step: string | null, task: number): boolean {
  return step?.startsWith(`task:${task + 1}:`) ?? false;
}

/** Returns the outcome of a step of the plan: the model's text about it, else the results of its last calls. */
export function outcomeOf(items: readonly Item[], task: number): { readonly failed: boolean; readonly text: string } {
  const last = stepsOfTask(items, task).at(-1);
  const outcome = parseOutcome((last && protocolText(last)) ?? "");
  if (outcome.text !== "") return outcome;
  const results = items.filter(
    (item): item is ItemOf<"result"> => item.kind === "result" && isOfTask(item.step, task) && !isErased(item),
  );
  const returned = results.filter(({ step }) => step === results.at(-1)?.step);
  if (returned.length === 0) return { failed: true, text: "nothing was done or said" };
  const text = returned.map(({ author, body }) => `${author}: ${body.content}`).join("\n");
  return { failed: returned.every(({ body }) => body.isError), text };
}

/** `{results}` of the prompts, in no more than these tokens. */
export function resultsText(items: readonly Item[], steps: Steps, tokens: number): string {
  const ended = steps.flatMap(({ text, state }, at) =>
    state === "done" || state === "failed" ? { at, line: `${at + 1}. ${text} [${state}]` } : [],
  );
  const brought = ended.map(({ at, line }) => {
    const outcome = shortened(outcomeOf(items, at).text, longestResult);
    return `${line}\n${fitting(outcome, tokens / ended.length - estimate(line))}`;
  });
  const answers = items.flatMap((item) =>
    item.kind === "message" && /^answer:\d+$/.test(item.step ?? "") && !isErased(item)
      ? `You have already answered the user: ${textOf(item.body.content)}`
      : [],
  );
  return [...brought, ...answers].join("\n\n") || "(nothing yet)";
}
