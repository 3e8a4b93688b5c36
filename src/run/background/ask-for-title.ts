import { setTimeout as delay } from "node:timers/promises";
import { fillPrompt } from "../../agents/prompt-placeholders.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Model, ModelCallRecord, ModelRequest } from "../../protocol/agents/models.ts";
import { titleStep } from "../../store/metering/model-calls.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { RequestReservations } from "../limits/reserve-spending.ts";
import { titleIn } from "../text/conversation-title.ts";
import { modelsOfLiveRuns } from "./title-rows.ts";

/** How a request for a title is paid for, and where it is recorded. */
export type TitleAccount = {
  /** Reserves what a request may cost, as of requests outside of runs. */
  readonly reserve?: RequestReservations["begin"] | undefined;
  /** Takes the record of each request; must not throw. */
  readonly record?: ((record: ModelCallRecord) => void) | undefined;
};

export type TitleRequest = TitleAccount & {
  readonly model: Model;
  readonly userId: string;
  /** Its beginning, as text. */
  readonly conversation: string;
  /** The process stops. */
  readonly stopping: AbortSignal;
};

/** A private server may have to load its model first. */
const [longestMs, longestPrivateMs] = [30_000, 120_000];
const lookEveryMs = 500;
/** Characters after which an answer can't be a title, and of thoughts. */
const [mostText, mostThoughts] = [4000, 40_000];
const answerTokens = 1000;

/** Asks once. Undefined: it makes no title. "later": a run needs the model, or this process stops. */
export async function askForTitle(runtime: Runtime, request: TitleRequest): Promise<string | "later" | undefined> {
  const { model, userId, conversation, stopping, reserve, record } = request;
  await runtime.prompts.refresh();
  const content = fillPrompt(runtime.prompts.get("title"), { conversation });
  const given: ModelRequest = {
    messages: [{ role: "user", content }],
    settings: { maxTokens: answerTokens },
    origin: { userId, step: titleStep },
    once: true,
  };
  const room = makeRoomForRuns(runtime, model);
  const tooLong = AbortSignal.timeout(isPrivate(model) ? longestPrivateMs : longestMs);
  try {
    const reserved = await reserve?.(userId, model, given);
    const onCall = (call: ModelCallRecord) => {
      record?.(call);
      reserved?.record(call);
    };
    try {
      const signal = AbortSignal.any([stopping, room.wanted, tooLong]);
      return titleIn(await readText(model, { ...given, onCall }, signal));
    } finally {
      reserved?.end();
    }
  } catch (error) {
    if (stopping.aborted || room.wanted.aborted) return "later";
    if (!(error instanceof ColloquyError)) throw error;
    runtime.log.info({ model: model.id, error: error.message }, "no title was made; the first words stay");
    return undefined;
  } finally {
    await room.close();
  }
}

/** Reads on only as long as it may be a title: then the connection is closed. */
async function readText(model: Model, request: ModelRequest, signal: AbortSignal): Promise<string> {
  let text = "";
  let thoughts = 0;
  for await (const parts of model.stream(request, signal)) {
    for (const part of parts) {
      if (part.type === "text") text += part.text;
      else if (part.type === "reasoning") thoughts += part.text.length;
      // It has no tools, so what it calls is made up, and so is the rest.
      else if (part.type === "call-start") return "";
    }
    if (text.length > mostText || thoughts > mostThoughts) return "";
  }
  return text;
}

function isPrivate({ servers = [] }: Model): boolean {
  return servers.length > 0;
}

/** `wanted` fires when a run needs the model's server. */
function makeRoomForRuns(runtime: Runtime, model: Model): { readonly wanted: AbortSignal; close(): Promise<void> } {
  const wanted = new AbortController();
  const done = new AbortController();
  async function watch(): Promise<void> {
    while (!done.signal.aborted) {
      await delay(lookEveryMs, undefined, { signal: done.signal }).catch(() => undefined);
      // A fault of the database is no reason to stop.
      if (!done.signal.aborted && !(await isFree(runtime, model).catch(() => true))) return wanted.abort();
    }
  }
  const watching = isPrivate(model) ? watch() : undefined;
  return {
    wanted: wanted.signal,
    async close() {
      done.abort();
      await watching;
    },
  };
}

/**
 * Whether no run works with a model of the same private server, which may answer one request at a time only, or waits for one. A
 * server of the public internet answers many.
 */
export async function isFree({ database, models }: Runtime, model: Model): Promise<boolean> {
  const { servers = [] } = model;
  if (!isPrivate(model)) return true;
  const used = await modelsOfLiveRuns(database.query);
  return !used.some((name) => models.has(name) && sharesServer(models.get(name), servers));
}

function sharesServer({ servers = [] }: Model, others: readonly string[]): boolean {
  return servers.some((server) => others.includes(server));
}
