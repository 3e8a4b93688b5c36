import { LostRun } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import type { ItemOf, NewItem } from "../protocol/items.ts";
import type { CallOrigin, Model, ModelRequest } from "../protocol/models.ts";
import type { AppendExtras } from "./append.ts";
import { endItem } from "./end-run.ts";
import { checkOwnLimits, reserve } from "./limits.ts";
import { parentHeader, signOrigin } from "./own-requests.ts";
import { buildPrompt, estimate, schemaTokens } from "./prompt.ts";
import { answerItems, emptyAnswer, readAnswer, type Answer } from "./step.ts";
import type { Note, Reading, SayOptions, StepOptions } from "./turn.ts";
import type { Work } from "./work.ts";

/** One model call of a strategy: reserved before, told while it comes, committed whole. */
export async function performStep(work: Work, key: string, options: StepOptions = {}): Promise<void> {
  if (stepIn(work, key)) return;
  work.signal.throwIfAborted();
  const { definition, epoch } = work.taken;
  const agent = options.as ?? definition.agent;
  const model = work.runtime.models.get(agent.model);
  let request = requestOf(work, model, options);
  const reserved = await reserveFor(work, model, request);
  // What a person said meanwhile belongs into this prompt.
  if (await work.takeIn(reserved.steered)) request = requestOf(work, model, options);

  const seen = work.branch().at(-1)?.seq;
  const answer = await attempt(work, key, { model, request, asProtocol: options.read !== undefined });
  const reading = options.read && readProtocol(answer, options.read);
  const clients = new Set(definition.options.clientTools?.map((tool) => tool.name));
  const items = answerItems(
    answer,
    { step: key, attempt: epoch, author: agent.id },
    {
      isClient: (name) => clients.has(name),
      ...(seen === undefined ? {} : { seen }),
    },
  );
  const extras = settled(work, key, { answer, model, reserved });
  const isLast = options.final && answer.calls.length === 0 && (!reading || reading.answer !== undefined);
  await (isLast ? commitLast(work, items, extras) : work.commit(items, extras));
}

/** A message without a model. */
export async function say(work: Work, key: string, text: string, { final, as }: SayOptions = {}): Promise<void> {
  if (stepIn(work, key)) return;
  work.signal.throwIfAborted();
  const { definition, epoch } = work.taken;
  const message: NewItem = {
    id: newId(),
    kind: "message",
    step: key,
    attempt: epoch,
    author: (as ?? definition.agent).id,
    body: { role: "assistant", content: text },
  };
  await (final ? commitLast(work, [message], {}) : work.commit([message]));
}

/** Once for this key. */
export async function record(work: Work, key: string, note: Note): Promise<void> {
  if (work.items().some((item) => item.kind === note.kind && item.step === key)) return;
  work.signal.throwIfAborted();
  await work.commit([{ id: newId(), ...note, step: key, author: work.taken.definition.agent.id }]);
}

/** With the end of the run, unless a person has said something that this does not answer. */
async function commitLast(work: Work, items: readonly NewItem[], extras: AppendExtras): Promise<void> {
  try {
    await work.commit([...items, endItem({ status: "done" })], {
      ...extras,
      end: { status: "done" },
      ifSteered: work.steered(),
    });
  } catch (error) {
    // Said while the last answer was being written: it stands, but the run goes on.
    if (!(error instanceof LostRun) || !(await work.takeIn())) throw error;
    await work.commit(items, extras);
  }
}

/** Calls that a model made by the provider's own means count before those of the text. */
function readProtocol(answer: Answer, read: (text: string) => Reading): Reading {
  answer.protocolAt ??= answer.reasoning.length;
  const reading = read(answer.reasoning.slice(answer.protocolAt));
  answer.text = reading.answer ?? "";
  if (answer.calls.length === 0) answer.calls = [...(reading.calls ?? [])];
  return reading;
}

/** A model call that a tool asks for: recorded under its own key, and no part of the conversation. */
export async function performNestedStep(
  work: Work,
  key: string,
  request: Pick<ModelRequest, "messages" | "format" | "settings">,
): Promise<string> {
  const known = stepIn(work, key);
  if (known) return String(known.body.content);
  const { definition, epoch } = work.taken;
  const model = work.runtime.models.get(definition.agent.model);
  const reserved = await reserveFor(work, model, request);
  const answer = emptyAnswer();
  await readAnswer(model, { ...request, origin: originOf(work, key) }, { signal: work.signal, answer, tell: () => {} });
  const place = { step: key, attempt: epoch, author: definition.agent.id };
  await work.commit(
    answerItems({ ...answer, calls: [] }, place, { isClient: () => false }),
    settled(work, key, { answer, model, reserved }),
  );
  return answer.text;
}

function stepIn(work: Work, key: string): ItemOf<"message"> | undefined {
  return work.items().find((item): item is ItemOf<"message"> => item.kind === "message" && item.step === key);
}

/** Stays `current` if it breaks off, so that what there is of it can be kept. */
async function attempt(
  work: Work,
  key: string,
  { model, request, asProtocol }: { model: Model; request: ModelRequest; asProtocol: boolean },
): Promise<Answer> {
  const { runId, threadId, epoch } = work.owner;
  const answer = emptyAnswer();
  work.current = { key, answer };
  await readAnswer(
    model,
    { ...request, origin: originOf(work, key) },
    {
      signal: work.signal,
      answer,
      asProtocol,
      tell(kind, offset, text) {
        const delta = { runId, threadId, step: key, attempt: epoch, kind, offset, text };
        work.runtime.feeds.delta(delta);
        work.runtime.deltas.add(delta);
      },
    },
  );
  work.current = undefined;
  return answer;
}

function originOf({ taken, owner, runtime }: Work, step: string): CallOrigin {
  return {
    parent: () => [parentHeader, signOrigin(runtime.secret, { ...owner, step })],
    userId: taken.caller.userId,
    runId: owner.runId,
    step,
    attempt: owner.epoch,
  };
}

type Reserved = { readonly tokens: number; readonly cost: number; readonly steered: number };

async function reserveFor(
  work: Work,
  model: Model,
  request: Pick<ModelRequest, "messages" | "settings" | "tools">,
): Promise<Reserved> {
  const { limits, agent } = work.taken.definition;
  if (!work.job) checkOwnLimits(work.items(), agent.limits, { steps: 1 });
  const input =
    request.messages.reduce((sum, message) => sum + estimate(message.content), 0) + schemaTokens(request.tools ?? []);
  const isLimited = limits.tokens !== undefined || limits.cost !== undefined;
  const output = request.settings?.maxTokens ?? (isLimited ? roomFor(model) : 0);
  const usage = { inputTokens: input, outputTokens: output };
  // Of a chain nobody knows yet who serves: the dearest.
  const cost = Math.max(0, ...[model.id, ...(model.members ?? [])].map((id) => work.runtime.costOf(id, usage) ?? 0));
  const { steered } = await reserve(work.runtime.database.query, work.owner, {
    steps: 1,
    tokens: input + output,
    cost,
  });
  return { tokens: input + output, cost, steered };
}

/** What else the commit of an answer settles: the difference to what was reserved, the call log, the live text. */
function settled(
  work: Work,
  key: string,
  { answer, model, reserved }: { answer: Answer; model: Model; reserved: Reserved },
): AppendExtras {
  const { costOf, deltas } = work.runtime;
  const modelCalls = answer.records.map((record) => {
    const usage = { inputTokens: record.inputTokens ?? 0, outputTokens: record.outputTokens ?? 0 };
    const cost = costOf(record.model, usage) ?? costOf(model.id, usage);
    return cost === undefined ? record : { ...record, cost };
  });
  const { usage } = answer;
  return {
    modelCalls,
    tokens: usage ? usage.inputTokens + usage.outputTokens - reserved.tokens : 0,
    cost: usage ? modelCalls.reduce((sum, record) => sum + ("cost" in record ? record.cost : 0), 0) - reserved.cost : 0,
    ...(deltas.settle(work.owner.runId, key) ? { deltasOf: key } : {}),
  };
}

/** Tokens that an answer may need if nobody says. */
function roomFor(model: Model): number {
  return Math.min(4096, Math.floor(model.contextTokens / 4));
}

function requestOf(work: Work, model: Model, options: StepOptions): ModelRequest {
  const { options: asked, tools, ...definition } = work.taken.definition;
  const agent = options.as ?? definition.agent;
  const settings = { ...agent.settings, ...asked.settings, ...options.settings };
  const offered = options.withoutTools ? [] : [...tools, ...(asked.clientTools ?? [])];
  const room = settings.maxTokens ?? roomFor(model);
  const format = options.format ?? asked.format;
  const first = !work.items().some((item) => item.kind === "message" && item.step !== null);
  // A forced choice is for the first step only: the model could never answer otherwise.
  const choice = offered.length > 0 && (first || asked.toolChoice === "none") ? asked.toolChoice : undefined;
  return {
    messages:
      options.messages ??
      buildPrompt(work.branch(), {
        runId: work.owner.runId,
        instructions: options.instructions ?? agent.instructions,
        tokens: model.contextTokens - room - schemaTokens(offered),
        ...(options.then ? { then: options.then } : {}),
      }),
    settings,
    ...(offered.length > 0 ? { tools: offered } : {}),
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(format === undefined ? {} : { format }),
  };
}
