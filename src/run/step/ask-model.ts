import type { ItemOf } from "../../protocol/threads/items.ts";
import type { CallOrigin, Model, ModelRequest } from "../../protocol/agents/models.ts";
import { warningText } from "../../store/metering/spending.ts";
import type { AppendExtras } from "../log/append.ts";
import { withImages } from "../log/attached-files.ts";
import { estimate, roomFor, schemaTokens } from "../log/estimate-tokens.ts";
import { highestCost, expectedOf, actualSpending } from "../limits/reservation.ts";
import type { ReservedStep } from "../contract/reserved-step.ts";
import { checkOwnLimits, reserve } from "../limits/limits.ts";
import { ownHeader } from "./request-origin.ts";
import { retryAnswer } from "./attempts.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { createAnswerTextReader } from "../text/heard-text.ts";
import { emptyAnswer, readAnswer } from "./read-answer.ts";
import type { RunWork } from "./work.ts";
import { basisIn } from "./run-basis.ts";

export function stepIn(work: RunWork, key: string): ItemOf<"message"> | undefined {
  return work.items.find((item): item is ItemOf<"message"> => item.kind === "message" && item.step === key);
}

export type ModelQuery = {
  readonly model: Model;
  readonly request: ModelRequest;
  /** The text is not an answer but the strategy's own protocol. */
  readonly asProtocol?: boolean;
  /** Which parts followers see while the answer arrives; default: all. */
  readonly tells?: "all" | "thoughts" | "nothing";
  /** The step in which a partial answer is kept if the run ends meanwhile; default: its own. */
  readonly keptIn?: string;
  readonly reserved: ReservedStep;
  /** The last attempt at this step, which was asked for with another prompt. */
  readonly after?: number | undefined;
};

/** Asks for a step's answer. Leaves `work.current` set if it is interrupted, so that the partial answer can be kept. */
export async function askModel(
  work: RunWork,
  key: string,
  { model, request, asProtocol = false, tells = "all", keptIn = key, reserved, after }: ModelQuery,
): Promise<ModelAnswer> {
  const answer = emptyAnswer();
  work.current = { key: keptIn, answer, reserved };
  const messages = await withImages(request.messages, (id) => work.runtime.imageUrl(id, work.taken.caller.userId));
  await retryAnswer(work, { step: key, answer, isTold: tells !== "nothing", after }, (of) =>
    readAnswer(
      model,
      { ...request, messages, origin: originOf(work, of) },
      {
        signal: work.signal,
        answer,
        asProtocol,
        textReader: asProtocol || request.format ? undefined : createAnswerTextReader(basisIn(work).tools),
        costOf: work.runtime.costOf,
        tell(kind, offset, text) {
          if (tells === "nothing" || (tells === "thoughts" && kind === "text")) return;
          const delta = { of, kind, offset, text, whole: answer[kind] };
          work.runtime.feeds.delta(delta);
          work.runtime.deltas.add(delta);
        },
      },
    ),
  );
  work.current = undefined;
  return answer;
}

export function originOf(
  { taken, owner, runtime }: RunWork,
  { step, attempt }: { readonly step: string; readonly attempt: number },
): CallOrigin {
  return {
    parent: () => ownHeader(runtime.secret, { ...owner, step }),
    userId: taken.caller.userId,
    runId: owner.runId,
    step,
    attempt,
  };
}

export async function reserveFor(
  work: RunWork,
  model: Model,
  request: Pick<ModelRequest, "messages" | "settings" | "tools">,
): Promise<ReservedStep> {
  const { limits, agent } = work.taken.definition;
  if (!work.isRoot) checkOwnLimits(work.items, agent.limits, { steps: 1 });
  const input =
    request.messages.reduce((sum, message) => sum + estimate(message.content), 0) + schemaTokens(request.tools ?? []);
  const isLimited = limits.tokens !== undefined || limits.cost !== undefined;
  const output = request.settings?.maxTokens ?? (isLimited ? roomFor(model.contextTokens) : 0);
  const { costOf, database, log } = work.runtime;
  const cost = highestCost(model, { inputTokens: input, outputTokens: output }, costOf);
  const expected = expectedOf(model, { input, maxTokens: request.settings?.maxTokens }, costOf);
  const { ahead } = work;
  work.ahead = undefined;
  if (ahead)
    return {
      steered: ahead.steered,
      isHeld: false,
      expected: { ...expected, id: ahead.reservation },
      input,
      model: model.id,
    };
  const { steered, held } = await reserve(database.query, work.owner, {
    steps: 1,
    tokens: input + output,
    cost,
    expected,
  });
  if (held?.warning?.first) log.warn({ userId: work.taken.caller.userId }, warningText(held.warning));
  return { steered, isHeld: held !== null, expected, input, model: model.id };
}

type ModelReply = { readonly answer: ModelAnswer; readonly reserved: ReservedStep };

/** Changes to commit with an answer, also an interrupted one: the call log, and actual usage instead of the reservation. */
export function settlement(work: RunWork, { answer, reserved }: ModelReply): AppendExtras {
  const spent = actualSpending(answer, reserved, work.runtime.costOf);
  return {
    modelCalls: answer.records,
    settles: { reservation: reserved.expected.id, tokens: spent.tokens, cost: spent.cost },
    ...(reserved.isHeld ? { spent } : {}),
  };
}

/** Like `settlement`, and also deletes the step's live text, which an item replaces. */
export function settledStep(work: RunWork, key: string, asked: ModelReply): AppendExtras {
  const isLive = work.runtime.deltas.settle(work.owner.runId, key);
  return { ...settlement(work, asked), ...(isLive ? { deltasOf: key } : {}) };
}

/** The model of this name, or the one that a person chose in its place when it could not be had. Throws NotFound, Unavailable. */
export function modelFor(work: RunWork, name: string): Model {
  const chosen = chosenInstead(work, name);
  work.asked = chosen;
  return work.runtime.models.get(chosen);
}

function chosenInstead(work: RunWork, name: string): string {
  const items = work.items;
  let chosen = name;
  for (const { kind, body } of items) {
    if (kind !== "decision" || body.decision !== "model" || body.text === undefined) continue;
    const question = items.find((item) => item.kind === "question" && item.id === body.question);
    if (question?.kind === "question" && question.body.outage?.model === chosen) chosen = body.text;
  }
  return chosen;
}
