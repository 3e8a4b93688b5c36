import { fillPrompt } from "../../agents/prompt-placeholders.ts";
import { ModelError, messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem, SummaryBody } from "../../protocol/threads/items.ts";
import type { Model, ModelMessage } from "../../protocol/agents/models.ts";
import { isPersons, tokensOfBlocks, type MessageBlock } from "../log/message-blocks.ts";
import { summaryFault } from "../prompt/check-summary.ts";
import { estimate } from "../log/estimate-tokens.ts";
import { limitOf } from "../limits/limits.ts";
import { fitBlocks } from "../prompt/fit-blocks.ts";
import { callersSystem, conversationOf, lastSummary, type PromptOptions } from "../prompt/build-prompt.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { emptyAnswer } from "./read-answer.ts";
import { transcriptOf } from "../prompt/transcript.ts";
import { visibleText } from "../text/visible-text.ts";
import type { RunWork } from "./work.ts";
import { commit } from "./commit.ts";

/** Share of the room that instructions and input leave: a longer past is summarised, */
const full = 0.7;
/** and its newest part stays as it was said, as far as it takes no more than this. */
const kept = 0.3;
/** For a summary. */
const told = 0.2;
/** Below this a summary would say nothing. */
const leastTokens = 100;
/** A past that is longer than what the model holds is taken in parts, each together with the summary before. */
const maxParts = 8;
/** Failed tries since the last summary, after which a thread is left alone. */
const maxFailures = 3;
const failureCode = "not_summarised";
const wordsPerToken = 0.5;
/** A summary that is not clearly shorter is none. */
const maxOfSource = 0.6;

export type SummariseOptions = {
  readonly model: Model;
  /** Tokens of prompt and answer together. */
  readonly window: number;
  /** Room for its answer, in tokens. */
  readonly answer: number;
  readonly prompt: PromptOptions;
  /** Asks the model by a nested step; commits what `outcome` makes of its answer together with it. */
  readonly ask: (key: string, request: SummaryRequest) => Promise<unknown>;
};

export type SummaryRequest = {
  readonly messages: readonly ModelMessage[];
  readonly settings: { readonly maxTokens: number };
  readonly model: Model;
  readonly answer: ModelAnswer;
  readonly outcome: () => readonly NewItem[];
};

/**
 * Makes room in a prompt: while the conversation before this run is too long for the model, its older part is summarised,
 * into an item that stands for it from then on. What can't be summarised is cut, as ever; a notice says so.
 */
export async function summarisePast(work: RunWork, options: SummariseOptions): Promise<void> {
  if (options.model.demo) return;
  for (let part = 1; part <= maxParts && !isGivenUp(work); part++) {
    const plan = planSummary(work, options);
    if (!plan) return;
    work.signal.throwIfAborted();
    await summarise(work, plan, options);
  }
}

/** Once in a run, and some times in a thread: what failed costs a model call each time. */
function isGivenUp(work: RunWork): boolean {
  const isFailure = (item: Item) => item.kind === "notice" && item.body.code === failureCode;
  const since = lastSummary(work.branch)?.seq ?? 0;
  const failures = work.branch.filter((item) => item.seq > since && isFailure(item));
  return failures.length >= maxFailures || work.items.some(isFailure);
}

type SummaryPlan = {
  /** The conversation that is to be replaced, as text. */
  readonly source: string;
  readonly upToSeq: number;
  readonly system: Pick<SummaryBody, "said" | "system">;
  /** Tokens that the summary may take. */
  readonly most: number;
};

/** Undefined: the past fits, or nothing of it could be summarised. */
function planSummary(work: RunWork, { window, answer, prompt }: SummariseOptions): SummaryPlan | undefined {
  const branch = work.branch;
  const { system, summary, past, own } = conversationOf(branch, prompt);
  // The run's own work takes room in this run only, so it does not count.
  const room = prompt.tokens - estimate(system) - tokensOfBlocks(own.filter(isPersons));
  const before = summary ? [`Summary of what came before:\n${summary.body.content}`] : [];
  const left = full * room - before.reduce((sum, text) => sum + estimate(text), 0);
  // Old results are clipped before anything that was said gives way to a summary.
  const clipped = fitBlocks(past, { tokens: left, again: () => undefined, mustStay: () => false, onlyCalls: true });
  if (tokensOfBlocks(clipped.blocks) <= left || told * room < leastTokens) return undefined;

  // With calls and their results, even if this prompt would leave them out.
  const whole = prompt.then ? conversationOf(branch, { ...prompt, then: undefined }).past : past;
  const older = whole.slice(0, whole.length - newest(whole, kept * room));
  const space = window - answer - leastTokens - estimate(work.runtime.prompts.get("summarise"));
  const { lines, count } = fitting(older, space - before.reduce((sum, text) => sum + estimate(text), 0));
  if (count === 0) return undefined;
  const next = whole[count] ?? own[0];
  const upToSeq = next ? Math.ceil(next.at) - 1 : branch.at(-1)!.seq;
  const source = [...before, ...lines].join("\n\n");
  return {
    source,
    upToSeq,
    system: callersSystem(branch, upToSeq),
    most: Math.floor(Math.min(told * room, estimate(source) * maxOfSource)),
  };
}

/** How many of the last blocks, from a person's on, take no more than these tokens. */
function newest(blocks: readonly MessageBlock[], tokens: number): number {
  let sum = 0;
  let count = 0;
  for (const [index, block] of blocks.toReversed().entries()) {
    sum += block.tokens;
    if (sum > tokens) break;
    if (isPersons(block)) count = index + 1;
  }
  return count;
}

/** The oldest blocks as text, as many as there is space for, but one at least. */
function fitting(
  blocks: readonly MessageBlock[],
  space: number,
): { readonly lines: readonly string[]; readonly count: number } {
  const lines: string[] = [];
  if (space < leastTokens) return { lines, count: 0 };
  let sum = 0;
  for (const block of blocks) {
    const line = transcriptOf(block, space / 8);
    sum += estimate(line);
    if (sum > space && lines.length > 0) break;
    lines.push(line);
  }
  return { lines, count: lines.length };
}

async function summarise(
  work: RunWork,
  plan: SummaryPlan,
  { model, answer: maxTokens, ask }: SummariseOptions,
): Promise<void> {
  const key = `summary/${new Set(work.items.flatMap(({ step }) => (step?.startsWith("summary/") ? [step] : []))).size + 1}`;
  const { log, prompts } = work.runtime;
  // Read now, unlike a strategy's prompts, which are fixed at the start: it does not change how the run continues.
  const content = fillPrompt(prompts.get("summarise"), {
    conversation: plan.source,
    words: String(Math.floor(plan.most * wordsPerToken)),
  });
  const failed = (fault: string): NewItem => {
    log.warn({ runId: work.owner.runId, model: model.id, fault }, "a conversation could not be summarised");
    const text = `The older part of this conversation could not be summarised: ${fault}. The model does not see all of it.`;
    return { id: newId(), kind: "notice", step: key, body: { text, code: failureCode, values: { fault } } };
  };
  const answer = emptyAnswer();
  try {
    await ask(key, {
      messages: [{ role: "user", content }],
      settings: { maxTokens },
      model,
      answer,
      outcome() {
        const { text } = visibleText(answer.text);
        const { source, most, upToSeq, system } = plan;
        const fault = summaryFault(text, { finish: answer.finish, source, maxTokens: most });
        if (fault !== undefined) return [failed(`the model's text can't stand for it, since ${fault}`)];
        const body = { content: text, upToSeq, ...system };
        return [{ id: newId(), kind: "summary", step: key, body }];
      },
    });
  } catch (error) {
    const limit = limitOf(error);
    const isHarmless = error instanceof ModelError || (limit !== undefined && limit !== "deadline");
    if (work.signal.aborted || !isHarmless) throw error;
    await commit(work, [failed(messageOf(error))]);
  }
}
