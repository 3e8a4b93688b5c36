import type { ColloquyError } from "../../protocol/base/errors.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import { callIdOf, type ItemOf, textOf } from "../../protocol/threads/items.ts";
import type { Usage } from "../../protocol/agents/models.ts";
import { isNested } from "../../run/log/fold.ts";
import type { AnswerImages } from "../requests/answer-images.ts";
import { createWaitWatcher, runOf } from "../stream/watch-waits.ts";
import { runCancelled, runFailed, textWithdrawn } from "../stream/run-errors.ts";
import { createTextSender } from "../stream/text-sender.ts";
import type { AnswerPart } from "./answer-parts.ts";

/** How a run came out, as far as one answer of this dialect goes. */
export type RunOutcome = {
  readonly status: "done" | "waiting" | "failed" | "cancelled" | "running";
  /** Instead of an answer; of a run that waits: it goes on without whoever holds the connection. */
  readonly error?: ColloquyError;
};

export type ReadProgress = {
  readonly parts: readonly AnswerPart[];
  readonly outcome?: RunOutcome;
  /** Which model served last, once that is known. */
  readonly model?: string;
};

export type ReaderOptions = {
  readonly pending?: boolean;
  readonly finalOnly?: boolean;
  /** The answer is sent in one piece, so what is withdrawn was never told. */
  readonly isWhole?: boolean;
  /**
   * What a step thinks behind its first words is not told: the log does not know where that was, so that an answer taken up from
   * it would be another one.
   */
  readonly inOrder?: boolean;
  /** An outage of the provider is waited for. */
  readonly isPatient?: boolean;
  /** Calls that were made before this answer began, and have no result yet. */
  readonly openCalls?: readonly ItemOf<"call">[];
  /** Those that its calls made are shown below the answer. */
  readonly images?: AnswerImages | undefined;
};

/**
 * Tells a run's events as the parts of one answer: what agents say is text, what they think reasoning, the caller's own tools
 * are calls. A run that waits for a person ends the answer, and says so; so does one that a `pending` run is behind.
 * `finalOnly`: the caller reads the answer by program, so what was said on the way to it is reasoning too.
 */
export function createRunReader(
  run: string,
  options: ReaderOptions = {},
): (events: readonly RunEvent[]) => ReadProgress {
  const { pending = false, finalOnly = false, isWhole = false, inOrder = false, isPatient = false, images } = options;
  let parts: AnswerPart[] = [];
  let outcome: RunOutcome | undefined;
  const text = createTextSender();
  let finish: AnswerEnd = { reason: "stop" };
  let model: string | undefined;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  const calls = createCallParts(options.openCalls);
  let behind = pending;
  const wait = createWaitWatcher();
  /** With `finalOnly`: what may be the answer, if nothing follows. */
  let last = "";

  /** Characters of the answer so far. */
  let said = 0;
  const say = (piece: string) => {
    if (piece === "") return;
    said += piece.length;
    parts.push({ type: "text", text: piece });
  };
  const think = (piece: string) => void parts.push({ type: "reasoning", text: piece });
  const fail = (status: RunOutcome["status"], error: ColloquyError) => void (outcome = { status, error });
  const end = (status: "done" | "waiting", how: AnswerEnd) => {
    parts.push({ type: "finish", ...how, usage });
    outcome = { status };
  };

  const read = (event: RunEvent): void => {
    switch (event.type) {
      case "text-delta": {
        if (finalOnly || isWhole) return;
        const piece = text.delta(event.step, event.offset, event.text);
        return piece === undefined ? fail("running", textWithdrawn(run)) : say(piece);
      }
      case "reasoning-delta":
        return isWhole || (inOrder && text.hasBegun(event.step)) ? undefined : think(event.text);
      case "message": {
        const { item } = event;
        if (item.body.role !== "assistant") return;
        if (isNested(item)) {
          usage = addUsage(usage, item.body.usage);
          return;
        }
        if (isWhole && item.body.reasoning) think(item.body.reasoning);
        if (finalOnly) {
          if (last) think(last);
          last = textOf(item.body.content);
        } else {
          const rest = text.whole(item.step ?? item.id, textOf(item.body.content));
          if (rest === undefined) return fail("running", textWithdrawn(run));
          say(rest);
          parts.push(...citationsIn(item.body, said));
        }
        finish = endOf(item.body);
        usage = addUsage(usage, item.body.usage);
        model = item.body.model ?? model;
        return;
      }
      case "call-start":
        return void parts.push(...calls.start(event.item));
      case "call-end":
        images?.see(event.item.body.data);
        return void parts.push(...calls.end(event.item));
      case "run-wait": {
        if (event.reason !== "client") return;
        parts.push(...calls.ofClient());
        return end("waiting", { reason: "calls" });
      }
      case "run-end":
        if (event.status === "done") {
          say(last);
          say(text.apart(images?.markdown() ?? ""));
          return end("done", finish);
        }
        return fail(
          event.status,
          event.status === "cancelled" ? runCancelled(run, event.error) : runFailed(run, event.error),
        );
    }
  };

  return (events) => {
    parts = [];
    for (const event of events) {
      if (outcome) break;
      const own = runOf(event) === run;
      if (own && behind) {
        behind = false;
        wait.over();
      }
      if (own || behind) wait.watch(event);
      if (own) read(event);
    }
    const outage = wait.outage();
    if (outage && !outcome && !isPatient) fail("waiting", outage);
    const waiting = outage ? undefined : wait.told();
    if (waiting !== undefined && !outcome) {
      const queued = behind
        ? `Your message is queued, as run ${run}, behind another one.
`
        : "";
      parts.push({
        type: "wait",
        run: waiting.run,
        text: text.apart(queued + waiting.text),
        questions: waiting.questions,
      });
      end("waiting", { reason: "stop" });
    }
    return { parts, outcome, model };
  };
}

type AnswerEnd = Pick<Extract<AnswerPart, { type: "finish" }>, "reason" | "stopSequence">;

/** How an answer ends whose last message is this one. */
function endOf({ finish, stopSequence }: ItemOf<"message">["body"]): AnswerEnd {
  if (finish === "length" || finish === "filter") return { reason: finish };
  return { reason: "stop", ...(stopSequence !== undefined && { stopSequence }) };
}

/** The citations of a message that is complete, with `said` characters of the answer. */
function citationsIn({ content, citations = [] }: ItemOf<"message">["body"], said: number): AnswerPart[] {
  if (citations.length === 0) return [];
  const offset = said - textOf(content).length;
  const placed = citations.map((each) => ({ ...each, start: offset + each.start, end: offset + each.end }));
  return [{ type: "citations", citations: placed }];
}

function stepKey({ step, index }: { readonly step: string | null; readonly index: number | null }): string {
  return `${step}/${index}`;
}

function addUsage(
  sum: Usage,
  more: { readonly inputTokens: number; readonly outputTokens: number } | undefined,
): Usage {
  if (!more) return sum;
  return { inputTokens: sum.inputTokens + more.inputTokens, outputTokens: sum.outputTokens + more.outputTokens };
}

/** Tells the calls of a run: those of the server's tools as they begin and end, the caller's own once the run waits for them. */
function createCallParts(before: readonly ItemOf<"call">[] = []) {
  /** Without a result yet, by step and index. */
  const open = new Map(before.map((call) => [stepKey(call), call]));
  const untold = new Set(before);
  const started = ({ id, body: { name, arguments: written } }: ItemOf<"call">): AnswerPart => ({
    type: "tool-start",
    id: callIdOf(id),
    name,
    arguments: written,
  });
  return {
    start(call: ItemOf<"call">): AnswerPart[] {
      open.set(stepKey(call), call);
      return call.body.target === "client" ? [] : [started(call)];
    },
    end(result: ItemOf<"result">): AnswerPart[] {
      const call = open.get(stepKey(result));
      open.delete(stepKey(result));
      if (!call || call.body.target === "client") return [];
      const { content, isError = false } = result.body;
      const end: AnswerPart = { type: "tool-end", id: callIdOf(call.id), name: call.body.name, content, isError };
      return untold.delete(call) ? [started(call), end] : [end];
    },
    ofClient: (): AnswerPart[] =>
      [...open.values()]
        .filter((call) => call.body.target === "client")
        .flatMap((call, index): AnswerPart[] => [
          { type: "call-start", index, id: callIdOf(call.id), name: call.body.name },
          { type: "call-delta", index, arguments: call.body.arguments },
        ]),
  };
}
