import type { ItemOf } from "../protocol/items.ts";
import type { CallOrigin, Model, ModelRequest } from "../protocol/models.ts";
import { warningText } from "../store/spending.ts";
import type { AppendExtras } from "./append.ts";
import { liveStep } from "./deltas.ts";
import { withImages } from "./attached-files.ts";
import { estimate, roomFor, schemaTokens } from "./estimate.ts";
import { dearest, expectedOf, type Held, spentBy } from "./held.ts";
import { checkOwnLimits, reserve } from "./limits.ts";
import { ownHeader } from "./own-requests.ts";
import { emptyAnswer, readAnswer, type Answer } from "./step.ts";
import type { Work } from "./work.ts";

export function stepIn(work: Work, key: string): ItemOf<"message"> | undefined {
  return work.items().find((item): item is ItemOf<"message"> => item.kind === "message" && item.step === key);
}

export type Asking = {
  readonly model: Model;
  readonly request: ModelRequest;
  /** Its text is no answer but its strategy's own protocol. */
  readonly asProtocol?: boolean;
  /** What is told while it comes; all when absent. */
  readonly tells?: "all" | "thoughts" | "nothing";
  /** Where what there is of it is kept if it breaks off; in its own step when absent. */
  readonly keptIn?: string;
  /** What is reserved for it. */
  readonly held?: Held | undefined;
};

/** Asks for a step's answer. Stays `current` if it breaks off, so that what there is of it can be kept. */
export async function askModel(
  work: Work,
  key: string,
  { model, request, asProtocol = false, tells = "all", keptIn = key, held }: Asking,
): Promise<Answer> {
  const { runId, threadId, epoch } = work.owner;
  const answer = emptyAnswer();
  const of = liveStep({ runId, threadId, step: key, attempt: epoch });
  work.current = { key: keptIn, answer, held };
  const messages = await withImages(request.messages, (id) => work.runtime.imageUrl(id, work.taken.caller.userId));
  await readAnswer(
    model,
    { ...request, messages, origin: originOf(work, key) },
    {
      signal: work.signal,
      answer,
      asProtocol,
      costOf: work.runtime.costOf,
      tell(kind, offset, text) {
        if (tells === "nothing" || (tells === "thoughts" && kind === "text")) return;
        const delta = { of, kind, offset, text, whole: answer[kind] };
        work.runtime.feeds.delta(delta);
        work.runtime.deltas.add(delta);
      },
    },
  );
  work.current = undefined;
  return answer;
}

export function originOf({ taken, owner, runtime }: Work, step: string): CallOrigin {
  return {
    parent: () => ownHeader(runtime.secret, { ...owner, step }),
    userId: taken.caller.userId,
    runId: owner.runId,
    step,
    attempt: owner.epoch,
  };
}

type ReservedStep = {
  readonly tokens: number;
  readonly cost: number;
  readonly steered: number;
  /** Of what the account may spend; undefined: nothing limits that. */
  readonly held: Held | undefined;
};

export async function reserveFor(
  work: Work,
  model: Model,
  request: Pick<ModelRequest, "messages" | "settings" | "tools">,
): Promise<ReservedStep> {
  const { limits, agent } = work.taken.definition;
  if (!work.job) checkOwnLimits(work.items(), agent.limits, { steps: 1 });
  const input =
    request.messages.reduce((sum, message) => sum + estimate(message.content), 0) + schemaTokens(request.tools ?? []);
  const isLimited = limits.tokens !== undefined || limits.cost !== undefined;
  const output = request.settings?.maxTokens ?? (isLimited ? roomFor(model) : 0);
  const { costOf, database, log } = work.runtime;
  const cost = dearest(model, { inputTokens: input, outputTokens: output }, costOf);
  const expected = expectedOf(model, { input, maxTokens: request.settings?.maxTokens }, costOf);
  const { steered, held } = await reserve(database.query, work.owner, {
    steps: 1,
    tokens: input + output,
    cost,
    expected,
  });
  if (held?.warning?.first) log.warn({ userId: work.taken.caller.userId }, warningText(held.warning));
  return { tokens: input + output, cost, steered, held: held ? { expected, input, model: model.id } : undefined };
}

/** What else the commit of an answer settles: the difference to what was reserved, the call log, the live text. */
export function settled(
  work: Work,
  key: string,
  { answer, reserved }: { answer: Answer; reserved: ReservedStep },
): AppendExtras {
  const { costOf, deltas } = work.runtime;
  const { usage, records } = answer;
  return {
    modelCalls: records,
    tokens: usage ? usage.inputTokens + usage.outputTokens - reserved.tokens : 0,
    cost: usage ? records.reduce((sum, { cost = 0 }) => sum + cost, 0) - reserved.cost : 0,
    ...(reserved.held ? { spent: spentBy(answer, reserved.held, costOf) } : {}),
    ...(deltas.settle(work.owner.runId, key) ? { deltasOf: key } : {}),
  };
}
