import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { textOf, type MessageBody, type NewItem } from "../../protocol/threads/items.ts";
import type { Model, ResponseFormat, ToolSchema } from "../../protocol/agents/models.ts";
import { formatInvalid, parseFormatted, repairMessages, type FormattedAnswer } from "../prompt/answer-format.ts";
import type { AppendExtras } from "../log/append.ts";
import { attemptOf } from "../log/standing.ts";
import { modelFor, settledStep, stepIn } from "./ask-model.ts";
import { withCitations } from "../log/citations.ts";
import { endItem } from "../lifecycle/end-run.ts";
import { runNestedStep } from "./nested-step.ts";
import { noAnswer } from "../log/account.ts";
import { hasCallMark, spokenText } from "../text/heard-text.ts";
import { writtenCalls } from "../text/written-calls.ts";
import { withRoomVoice } from "../log/room-voice.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { answerItems, type AnswerPlace } from "./read-answer.ts";
import { roomFor, windowOf } from "../log/estimate-tokens.ts";
import { askWithinWindow } from "./ask-within.ts";
import {
  repairCalls,
  contentFiltered,
  hasWorked,
  emptyAnswerReminder,
  wasEmptyAnswer,
  emptyAnswerNotice,
} from "./faulty-answers.ts";
import { promptOf, type RequestOptions } from "./step-request.ts";
import { summarisePast } from "./summarise.ts";
import type { Note, ParsedAnswer, SayOptions, StepOptions } from "../contract/turn.ts";
import type { RunWork } from "./work.ts";
import { commit, mergeSteeredMessages } from "./commit.ts";
import { basisIn } from "./run-basis.ts";

/** One model call of a strategy: reserved before, told while it comes, committed whole. */
export async function runStep(work: RunWork, key: string, options: StepOptions = {}): Promise<void> {
  if (stepIn(work, key)) return;
  work.signal.throwIfAborted();
  const { definition } = work.taken;
  const agent = options.as ?? definition.agent;
  const format = options.final ? definition.options.format : undefined;
  // A protocol that the instructions may ask for is none of the answer's.
  const repair = format && { format, as: agent, ...(options.read ? { instructions: "" } : {}) };
  if (repair && stepIn(work, draftOf(key))) return repairAnswer(work, key, repair);
  const asked = modelFor(work, agent.model);
  await asked.ready?.();
  const listened = options.voice && withRoomVoice(asked, options.voice);
  const model = listened?.model ?? asked;
  if (!options.messages && !options.withoutSummary) await makeRoom(work, asked, options);
  const isAgain = asksAgain(work, options);
  const { answer, notices, seen, reserved } = await askWithinWindow(work, key, {
    model,
    options: requestOptions(work, options),
    asProtocol: options.read !== undefined,
    // A client can't unsee text, so an answer that must have a format is told when it has it.
    ...(format ? { tells: "thoughts", keptIn: draftOf(key) } : {}),
  });
  const { tools } = basisIn(work);
  answer.calls = repairCalls(answer.calls, tools);
  const reading = options.read && readProtocol(answer, options.read, tools);
  const extras = settledStep(work, key, { answer, reserved });
  const place = { step: key, author: agent.id };
  if (listened?.passed()) return commitPass(work, { ...answer, text: options.voice!.pass }, { place, extras });
  const isLast = options.final && answer.calls.length === 0 && (!reading || reading.answer !== undefined);
  if (isLast && repair) {
    const formatted = parseFormatted(repair.format, answer.text, answer.finish);
    if ("problems" in formatted) {
      const draft = answerItems(answer, { ...place, step: draftOf(key) }, { isClient: () => false });
      await commit(work, [...notices, ...draft], extras);
      return repairAnswer(work, key, repair);
    }
    answer.text = formatted.text;
  }
  const clients = new Set(definition.options.clientTools?.map((tool) => tool.name));
  const said = answerItems(answer, place, {
    isClient: (name) => clients.has(name),
    ...(seen === undefined ? {} : { seen }),
  });
  const items = [...notices, ...said];
  if (!isLast) return commit(work, items, { ...extras, ...countableCalls(work, key, said) });
  // In a room an empty answer is a pass; a delegating run is told what was done instead.
  const mayBeSilent = options.voice !== undefined || !work.isRoot;
  const isFiltered = answer.finish === "filter";
  // Why there are no words is told by each protocol in its own way, beside what was done.
  if (answer.text.trim() !== "" || (isFiltered ? hasWorked(work.items) : mayBeSilent))
    return commitLast(work, items, extras);
  // It ends nothing: the strategy asks once more, unless that would bring the same.
  await commit(work, items, extras);
  if (isFiltered) throw contentFiltered(answer);
  if (isAgain) await say(work, `${key}:end`, emptyAnswerNotice(answer, work.items), { final: true, as: agent });
}

/** Whether this asks once more for an answer that had nothing in it. */
function asksAgain(work: RunWork, options: StepOptions): boolean {
  return options.final === true && wasEmptyAnswer(work.items);
}

/** What a step's request is made of: how its strategy asks, and what is said about an answer before that had nothing in it. */
export function requestOptions(work: RunWork, options: StepOptions): RequestOptions {
  return asksAgain(work, options) ? { ...options, after: emptyAnswerReminder } : options;
}

/** The calls of an answer, if it is known that each is made by the server and counts. */
function countableCalls(work: RunWork, step: string, said: readonly NewItem[]): Pick<AppendExtras, "countsCalls"> {
  const calls = said.filter((item) => item.kind === "call");
  const areCertain = calls.every(({ body }) => {
    const tool = body.target === "server" ? work.runtime.tools.get(body.name) : undefined;
    // The same call again may not count.
    return tool && !tool.sameIntent;
  });
  // A child run has limits of its own, which come first.
  const isCertain = calls.length > 0 && areCertain && work.isRoot;
  return isCertain ? { countsCalls: { step, calls: calls.length } } : {};
}

/** A message without a model, unless as the answer it must be brought into a format. */
export async function say(
  work: RunWork,
  key: string,
  text: string,
  { final, as, model }: SayOptions = {},
): Promise<void> {
  if (stepIn(work, key)) return;
  work.signal.throwIfAborted();
  const { definition, epoch } = work.taken;
  const agent = as ?? definition.agent;
  const format = final ? definition.options.format : undefined;
  const formatted: FormattedAnswer = format ? parseFormatted(format, text) : { text };
  const isAnswer = "text" in formatted;
  if (isAnswer || !stepIn(work, draftOf(key))) {
    const message: NewItem = {
      id: newId(),
      kind: "message",
      step: isAnswer ? key : draftOf(key),
      attempt: attemptOf(epoch),
      author: agent.id,
      body: { role: "assistant", content: isAnswer ? formatted.text : text, ...(model === undefined ? {} : { model }) },
    };
    await (final && isAnswer ? commitLast(work, [message], {}) : commit(work, [message]));
  }
  if (format && !isAnswer) await repairAnswer(work, key, { format, as: agent, instructions: "" });
}

/** Key of the nested step that keeps a model's text which does not have the requested format, hidden from prompts and clients. */
const draftOf = (key: string) => `${key}/draft`;
const repairOf = (key: string) => `${key}/repair`;

type Repair = {
  readonly format: ResponseFormat;
  readonly as: AgentDefinition;
  /** Instead of the agent's. */
  readonly instructions?: string;
};

/** Asks once more for the answer of which there is a draft, with the format enforced. Throws `format_invalid`. */
async function repairAnswer(work: RunWork, key: string, { format, ...answerer }: Repair): Promise<void> {
  const failed = stepIn(work, repairOf(key));
  if (failed) throw formatInvalid(problemsIn(format, failed.body));
  const draft = stepIn(work, draftOf(key))!.body;
  const { as } = answerer;
  const model = modelFor(work, as.model);
  const after = repairMessages(textOf(draft.content), problemsIn(format, draft));
  const options = { final: true, withoutTools: true, ...answerer, after };
  const { answer, seen, reserved } = await askWithinWindow(work, repairOf(key), { model, options, tells: "nothing" });
  const extras = settledStep(work, key, { answer, reserved });
  const place = { step: key, author: as.id };
  const whole = { ...answer, calls: [] };
  const formatted = parseFormatted(format, answer.text, answer.finish);
  if ("problems" in formatted) {
    await commit(work, answerItems(whole, { ...place, step: repairOf(key) }, { isClient: () => false }), extras);
    throw formatInvalid(formatted.problems);
  }
  // Only the thoughts that were streamed are kept.
  const { reasoning = "", protocolAt } = draft;
  const items = answerItems({ ...whole, text: formatted.text, reasoning, protocolAt }, place, {
    isClient: () => false,
    ...(seen === undefined ? {} : { seen }),
  });
  await commitLast(work, items, extras);
}

function problemsIn(format: ResponseFormat, { content, finish }: MessageBody): readonly string[] {
  const formatted = parseFormatted(format, textOf(content), finish);
  return "problems" in formatted ? formatted.problems : [];
}

function makeRoom(work: RunWork, model: Model, options: StepOptions): Promise<void> {
  const window = windowOf(model, options.as ?? work.taken.definition.agent);
  return summarisePast(work, {
    model,
    window,
    answer: roomFor(window),
    prompt: promptOf(work, model, options),
    ask: (key, request) => runNestedStep(work, key, request),
  });
}

/** Once for this key. */
export async function record(work: RunWork, key: string, note: Note): Promise<void> {
  if (work.items.some((item) => item.kind === note.kind && item.step === key)) return;
  work.signal.throwIfAborted();
  await commit(work, [{ id: newId(), ...note, step: key, author: work.taken.definition.agent.id }]);
}

type PassPlace = { readonly place: AnswerPlace; readonly extras: AppendExtras };

/** Records what the agent wrote before it passed, outside of the conversation. */
async function commitPass(work: RunWork, answer: ModelAnswer, { place, extras }: PassPlace): Promise<void> {
  const written = answerItems(answer, { ...place, step: draftOf(place.step) }, { isClient: () => false });
  const pass: NewItem = { id: newId(), kind: "state", author: place.author, body: { type: "pass" } };
  await commitLast(work, [...written, pass], extras);
}

/** With the end of the run, unless a person has said something that this does not answer. */
async function commitLast(work: RunWork, given: readonly NewItem[], extras: AppendExtras): Promise<void> {
  const { taken, runtime } = work;
  const items = await withCitations(given, work.items, (source) => runtime.sourceText(taken.caller, source));
  try {
    await commit(work, [...items, endItem({ status: "done" })], {
      ...extras,
      end: { status: "done" },
      expectedSteered: work.steered,
    });
  } catch (error) {
    // Said while the last answer was being written: it stands, but the run goes on.
    if (!(error instanceof LostRun) || !(await mergeSteeredMessages(work))) throw error;
    await commit(work, items, extras);
  }
}

/** Calls that a model made by the provider's own means count before those of the text. */
function readProtocol(
  answer: ModelAnswer,
  read: (text: string) => ParsedAnswer,
  tools: readonly ToolSchema[],
): ParsedAnswer {
  answer.protocolAt ??= answer.reasoning.length;
  const text = answer.reasoning.slice(answer.protocolAt);
  const reading = read(text);
  answer.text = reading.answer === undefined ? "" : spokenText(reading.answer) || noAnswer;
  if (answer.calls.length === 0) answer.calls = [...(reading.calls ?? [])];
  // It has not kept to the protocol, but to its own.
  if (answer.calls.length === 0 && hasCallMark(text)) {
    answer.calls = repairCalls([...writtenCalls(text, tools).calls], tools);
    if (answer.calls.length > 0) answer.text = "";
  }
  return reading;
}
