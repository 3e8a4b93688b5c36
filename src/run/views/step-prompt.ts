import { describeMoment } from "../../tools/basic/now.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { ColloquyError, NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { Model, ModelMessage, ModelRequest } from "../../protocol/agents/models.ts";
import type { PromptMessage, StepPrompt } from "../../protocol/threads/step-prompt.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { StepOptions } from "../contract/turn.ts";
import { noRun } from "../lifecycle/locked-run.ts";
import { isErased } from "../log/fold.ts";
import { readHistory } from "../log/history.ts";
import { definitionSql } from "../log/run-definitions.ts";
import { modelFor } from "../step/ask-model.ts";
import { requestOptions } from "../step/run-step.ts";
import { requestOf } from "../step/step-request.ts";
import { createWork, type RunWork } from "../step/work.ts";
import { replayStep } from "../turn/replay-step.ts";

export type PromptQuery = {
  readonly runId: string;
  readonly step: string;
  /** Only of this user's runs, in threads that they may still read; absent: of anybody's. */
  readonly userId?: string;
  /** Texts are not cut. */
  readonly isWhole?: boolean;
};

/** Characters shown of each text at first: of the newest messages and the first ones, and of those between. */
const maxText = 2000;
const maxBetween = 200;
const newest = 40;

/**
 * What a step asked its model. Prompts are kept nowhere, since each repeats the one before: it is built again from the log, by what
 * built it then, from the definition that the run keeps from its start. Throws NotFound.
 */
export async function readStepPrompt(runtime: Runtime, asked: PromptQuery): Promise<StepPrompt> {
  const work = await workBefore(runtime, asked);
  const { definition } = work.run.taken;
  const { options } = await replayStep(work.run, asked.step);
  const found = options && requestIn(work.run, options);
  const unsure: StepPrompt["unsure"] = [
    ...(found ? [] : (["step"] as const)),
    ...(found && found.isModelGone ? (["model"] as const) : []),
    ...(work.wasRefused ? (["window"] as const) : []),
    ...(found && namesTime(found.request) ? (["time"] as const) : []),
    ...(work.run.branch.some(isErased) ? (["erased"] as const) : []),
  ];
  if (!found) return { messages: [], tools: [], toolChoice: null, format: null, settings: {}, unsure };
  const { messages, tools = [], toolChoice, format, settings = {} } = found.request;
  const hides = asked.userId === undefined ? () => false : operatorsWords(definition, options!);
  return {
    messages: messages.map((message, at) => {
      const isNear = at < 2 || at >= messages.length - newest;
      const most = asked.isWhole ? Infinity : isNear ? maxText : maxBetween;
      return shownMessage(message, { most, isHidden: hides(message) });
    }),
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    toolChoice: typeof toolChoice === "object" ? toolChoice.name : (toolChoice ?? null),
    format: format ?? null,
    settings,
    unsure,
  };
}

/** What an admin wrote for the model is told to admins alone: instructions, and the words that strategies put around a conversation. */
function operatorsWords({ agent }: RunDefinition, options: StepOptions): (message: ModelMessage) => boolean {
  if (options.messages !== undefined || options.then !== undefined) return () => true;
  const { instructions } = options.as ?? agent;
  const hasWords = (options.instructions ?? instructions).trim() !== "";
  return ({ role }) => role === "system" && hasWords;
}

type RequestFound = { readonly request: ModelRequest; readonly isModelGone: boolean };

/** Undefined: not even the instructions would fit. */
function requestIn(work: RunWork, options: StepOptions): RequestFound | undefined {
  const { agent } = work.taken.definition;
  const model = modelNow(work, (options.as ?? agent).model);
  try {
    const { request } = requestOf(work, model ?? ofUnknownSize, requestOptions(work, options));
    return { request, isModelGone: model === undefined };
  } catch (error) {
    if (error instanceof ColloquyError) return undefined;
    throw error;
  }
}

/** In place of a model that is gone: nothing is cut for it. */
const ofUnknownSize: Model = {
  id: "",
  provider: "",
  name: "",
  contextTokens: 100_000_000,
  stream: () => {
    throw new Error("Only a prompt is built for it.");
  },
};

function modelNow(work: RunWork, name: string): Model | undefined {
  try {
    return modelFor(work, name);
  } catch (error) {
    if (error instanceof ColloquyError) return undefined;
    throw error;
  }
}

type WorkBefore = { readonly run: RunWork; readonly wasRefused: boolean };

/** The run as it stood when it asked: nobody works on it, and nothing is written by it. */
async function workBefore(runtime: Runtime, asked: PromptQuery): Promise<WorkBefore> {
  const { database } = runtime;
  const { query } = database.listing;
  const run = isId(asked.runId) ? await readRun(query, asked) : undefined;
  if (!run) throw noRun(asked.runId);
  const at = await placeOf(query, asked);
  const branch = await readHistory(query, {
    threadId: run.thread_id,
    runId: run.id,
    leaf: at.leaf,
    tokens: (await roomOf(runtime, run.definition.agent.model)) ?? ofUnknownSize.contextTokens,
  });
  const taken = {
    ...{ runId: run.id, threadId: run.thread_id, rootRun: run.root_run, rootThreadId: run.thread_id, epoch: run.epoch },
    ...{ caller: run.caller, definition: run.definition, leaf: at.leaf },
    ...{ disabled: false, takeovers: 0, cancelAsked: false, leftMs: 0, nextSeq: 0, steered: 0, retried: false },
  };
  const seen = branch.filter(({ seq }) => seq <= at.seen);
  const idle = { signal: new AbortController().signal, stop: () => undefined, workOnChild: () => Promise.reject() };
  const isRoot = run.parent_run === null;
  return { run: createWork({ runtime, taken, isRoot, ...idle }, seen), wasRefused: at.refused };
}

async function roomOf({ models }: Runtime, name: string): Promise<number | undefined> {
  try {
    const model = models.get(name);
    await model.ready?.();
    return model.contextTokens;
  } catch (error) {
    if (error instanceof ColloquyError) return undefined;
    throw error;
  }
}

type RunRow = {
  id: string;
  thread_id: string;
  root_run: string;
  parent_run: string | null;
  epoch: number;
  caller: Caller;
  definition: RunDefinition;
};

/** Who has left a room reads no more of it. */
async function readRun(query: Query, { runId, userId }: PromptQuery): Promise<RunRow | undefined> {
  const [row] = await query<RunRow>(
    `select r.id, r.thread_id, r.root_run, r.parent_run, r.epoch, r.caller, ${definitionSql("r")} as definition
     from runs r join threads t on t.id = r.thread_id
     where r.id = $1 and ($2::uuid is null or (r.user_id = $2 and (t.user_id = $2
       or exists (select from room_people p where p.thread_id = t.id and p.user_id = $2))))`,
    [runId, userId ?? null],
  );
  return row;
}

type StepPlace = { readonly leaf: string | null; readonly seen: number; readonly refused: boolean };

/** Where in its thread a step stood when it asked: before its message or, if it has none, at its last try. */
async function placeOf(query: Query, { runId, step }: PromptQuery): Promise<StepPlace> {
  const [message] = await query<{ parent_id: string | null; seq: number; seen: number | null }>(
    `select parent_id, seq, (body ->> 'seen')::bigint as seen from items
     where run_id = $1 and step = $2 and kind = 'message' and (body ->> 'role' = 'assistant' or body ? 'erased') order by seq desc limit 1`,
    [runId, step],
  );
  const tries = await query<{ started_at: Date; error: string | null }>(
    "select started_at, error from model_calls where run_id = $1 and step = $2 order by started_at",
    [runId, step],
  );
  const refused = tries.some(({ error }) => error?.startsWith("model_context") ?? false);
  if (message) return { leaf: message.parent_id, seen: message.seen ?? message.seq - 1, refused };
  const last = tries.at(-1);
  const [before] = last
    ? await query<{ id: string; seq: number }>(
        "select id, seq from items where run_id = $1 and created_at <= $2 order by seq desc limit 1",
        [runId, last.started_at],
      )
    : [];
  if (!before) throw new NotFound(`The run ${runId} has no step ${step}.`, { code: "step_not_found", param: "step" });
  return { leaf: before.id, seen: before.seq, refused };
}

function namesTime({ messages }: ModelRequest): boolean {
  const today = describeMoment(new Date()).iso.slice(0, 11);
  return messages.some(({ role, content }) => role !== "tool" && JSON.stringify(content).includes(today));
}

type ShownOptions = { readonly most: number; readonly isHidden: boolean };

function shownMessage(message: ModelMessage, { most, isHidden }: ShownOptions): PromptMessage {
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const pictures = parts.filter(({ type }) => type === "image").length;
  const cut = (whole: string) => ({ text: whole.slice(0, most).toWellFormed(), length: whole.length });
  return {
    role: message.role,
    ...(isHidden ? { text: null, length: text.length } : cut(text)),
    ...(pictures > 0 ? { pictures } : {}),
    ...(message.role === "user" && message.name !== undefined ? { name: message.name } : {}),
    ...(message.role === "tool"
      ? { name: message.name, callId: message.callId, isError: message.isError ?? false }
      : {}),
    ...(message.role === "assistant"
      ? {
          ...(message.reasoning ? { reasoning: cut(message.reasoning) } : {}),
          calls: (message.calls ?? []).map(({ id, name, arguments: given }) => ({ id, name, ...cut(given) })),
        }
      : {}),
  };
}
