import { newId } from "../../protocol/base/ids.ts";
import { callIdOf, textOf, type MessageBody, type NewItem } from "../../protocol/threads/items.ts";
import type { FinishReason, Model } from "../../protocol/agents/models.ts";
import type { StepAnswer, StepRequest } from "../../protocol/agents/tools.ts";
import { retryAnswer } from "./attempts.ts";
import { modelFor, originOf, reserveFor, settlement, settledStep, stepIn } from "./ask-model.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { emptyAnswer, messageBody, readAnswer } from "./read-answer.ts";
import type { RunWork } from "./work.ts";
import { commit } from "./commit.ts";

export type NestedRequest = Omit<StepRequest, "model"> & {
  /** The agent's own when absent. */
  readonly model?: Model;
  /** Filled while it comes. */
  readonly answer?: ModelAnswer;
  /** Further items, committed together with the answer. */
  readonly outcome?: () => readonly NewItem[];
  /** Stops it before the run's own signal does. */
  readonly stop?: AbortSignal;
};

/** A model call beside a strategy's steps: recorded under its own key, and no part of the conversation. */
export async function runNestedStep(
  work: RunWork,
  key: string,
  { model: chosen, answer = emptyAnswer(), outcome, stop, ...request }: NestedRequest,
): Promise<StepAnswer> {
  const known = stepIn(work, key);
  if (known) return stepAnswer(known.body);
  const { definition } = work.taken;
  const model = chosen ?? modelFor(work, definition.agent.model);
  const signal = stop ? AbortSignal.any([work.signal, stop]) : work.signal;
  signal.throwIfAborted();
  const reserved = await reserveFor(work, model, request);
  try {
    await retryAnswer(work, { step: key, answer, isTold: false, isNested: true, signal }, (of) =>
      readAnswer(
        model,
        { ...request, origin: originOf(work, of) },
        { signal, answer, tell: () => {}, costOf: work.runtime.costOf },
      ),
    );
  } catch (error) {
    // With no item to commit it with; what was asked for and failed is in the log all the same.
    await commit(work, [], settlement(work, { answer, reserved }));
    throw error;
  }
  const calls = answer.calls.map(({ name, arguments: given }) => ({
    id: callIdOf(newId()),
    name,
    arguments: given,
  }));
  const body = { ...messageBody(answer), ...(calls.length > 0 ? { calls } : {}) };
  const message: NewItem = {
    id: newId(),
    kind: "message",
    step: key,
    attempt: answer.attempt,
    author: definition.agent.id,
    body,
  };
  await commit(work, [message, ...(outcome?.() ?? [])], settledStep(work, key, { answer, reserved }));
  return stepAnswer(body);
}

function stepAnswer({ content, calls = [], finish, usage, model = "" }: MessageBody): StepAnswer {
  return {
    text: textOf(content),
    calls,
    finish: finish as FinishReason,
    ...(usage ? { usage } : {}),
    model,
  };
}
