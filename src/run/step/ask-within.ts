import { ModelError } from "../../protocol/base/errors.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Model } from "../../protocol/agents/models.ts";
import type { PricedCall } from "../../store/metering/model-calls.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { windowOf } from "../log/estimate-tokens.ts";
import type { ReservedStep } from "../contract/reserved-step.ts";
import { askModel, reserveFor, settledStep, type ModelQuery } from "./ask-model.ts";
import { requestOf, type RequestOptions } from "./step-request.ts";
import type { RunWork } from "./work.ts";
import { commit, mergeSteeredMessages } from "./commit.ts";

/** How often a step is asked again with less, after a provider said that it was too much. */
const maxTries = 6;
/** Share of a model's context window to try next after the provider refused a prompt as too long: it counts tokens differently. */
const nextWindow = 0.75;

export type FittedReply = {
  readonly answer: ModelAnswer;
  readonly notices: readonly NewItem[];
  /** The last item that the model saw. */
  readonly seen: number | undefined;
  readonly reserved: ReservedStep;
};

/**
 * Reserves a step and asks for its answer. A provider that says that the prompt is too long for it is asked again with a
 * shorter one: the model knows its window from then on.
 */
export async function askWithinWindow(
  work: RunWork,
  key: string,
  {
    model,
    options,
    ...asking
  }: Omit<ModelQuery, "request" | "reserved" | "after"> & { readonly model: Model; readonly options: RequestOptions },
): Promise<FittedReply> {
  const refused = work.current;
  if (refused) {
    // Its strategy goes on without it; what it came to is counted all the same.
    await commit(work, [], settledStep(work, refused.key, refused));
    work.current = undefined;
  }
  let requested = requestOf(work, model, options);
  const reserved = await reserveFor(work, model, requested.request);
  // Messages that arrived meanwhile belong into this prompt.
  if (await mergeSteeredMessages(work, reserved.steered)) requested = requestOf(work, model, options);
  const seen = work.branch.at(-1)?.seq;
  const tooLong: PricedCall[] = [];
  const agent = options.as ?? work.taken.definition.agent;
  let window = windowOf(model, agent);
  let after: number | undefined;
  for (let tries = 1; ; tries++) {
    try {
      const answer = await askModel(work, key, { ...asking, model, request: requested.request, reserved, after });
      answer.records.unshift(...tooLong);
      return { answer, notices: requested.notices, seen, reserved };
    } catch (error) {
      const broken = work.current?.answer;
      const isUnheard = broken !== undefined && broken.text === "" && broken.reasoning === "";
      if (!isUnheard || !isTooLong(error) || tries === maxTries || options.messages) {
        broken?.records.unshift(...tooLong);
        throw error;
      }
      tooLong.push(...broken.records);
      after = broken.attempt;
      window = Math.min(windowOf(model, agent), Math.floor(window * nextWindow));
      requested = requestOf(work, model, { ...options, window });
    }
  }
}

function isTooLong(error: unknown): boolean {
  return error instanceof ModelError && error.kind === "context";
}
