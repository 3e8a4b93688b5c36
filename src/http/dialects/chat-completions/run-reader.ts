import type { ColloquyError } from "../../../protocol/base/errors.ts";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import { callIdOf, type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import type { FinishReason, Usage } from "../../../protocol/agents/models.ts";
import { isNested } from "../../../run/log/fold.ts";
import type { AnswerImages } from "../../requests/answer-images.ts";
import { createWaitWatcher, runOf } from "../../stream/watch-waits.ts";
import { runCancelled, runFailed, textWithdrawn } from "../../stream/run-errors.ts";
import { createTextSender } from "../../stream/text-sender.ts";
import { annotationOf } from "./annotations.ts";
import type { AnswerPart } from "./encode.ts";

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

/** Characters of a tool's result that the trace shows. */
const traceLimit = 2000;

export type ReaderOptions = {
  readonly pending?: boolean;
  readonly finalOnly?: boolean;
  /** The answer is sent in one piece, so what is withdrawn was never told. */
  readonly isWhole?: boolean;
  /** Those that its calls made are shown below the answer. */
  readonly images?: AnswerImages | undefined;
};

/**
 * Tells a run's events as the parts of one model answer: what agents say is text, their thoughts and the
 * server's tools are reasoning (a client must never try to run those), the caller's own tools are calls.
 * A run that waits for a person ends the answer with a text that says so; so does one that a `pending` run is behind.
 * `finalOnly`: the caller reads the answer by program, so what was said on the way to it is reasoning too.
 */
export function createRunReader(
  run: string,
  { pending = false, finalOnly = false, isWhole = false, images }: ReaderOptions = {},
): (events: readonly RunEvent[]) => ReadProgress {
  let parts: AnswerPart[] = [];
  let outcome: RunOutcome | undefined;
  const text = createTextSender();
  let thoughts = "";
  let finish: FinishReason = "stop";
  let model: string | undefined;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  /** Calls without a result yet, by step and index. */
  const open = new Map<string, ItemOf<"call">>();
  let lastTraced = "";
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
  /** Adds the citations of a message that is complete. */
  const cite = ({ content, citations = [] }: ItemOf<"message">["body"]) => {
    const offset = said - textOf(content).length;
    if (citations.length === 0) return;
    parts.push({ type: "annotations", annotations: citations.map((citation) => annotationOf(citation, offset)) });
  };
  const think = (piece: string) => {
    thoughts = piece;
    parts.push({ type: "reasoning", text: piece });
  };
  const trace = (line: string) => think((thoughts === "" || thoughts.endsWith("\n") ? "" : "\n") + line + "\n");
  const fail = (status: RunOutcome["status"], error: ColloquyError) => {
    outcome = { status, error };
  };
  const end = (status: "done" | "waiting", reason: FinishReason) => {
    parts.push({ type: "finish", reason, usage });
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
        return isWhole ? undefined : think(event.text);
      case "message": {
        const { item } = event;
        if (item.body.role !== "assistant") return;
        if (isNested(item)) {
          usage = addUsage(usage, item.body.usage);
          return;
        }
        if (isWhole && item.body.reasoning) think(item.body.reasoning);
        if (finalOnly) {
          if (last) trace(last);
          last = textOf(item.body.content);
        } else {
          const rest = text.whole(item.step ?? item.id, textOf(item.body.content));
          if (rest === undefined) return fail("running", textWithdrawn(run));
          say(rest);
          cite(item.body);
        }
        finish = item.body.finish === "length" || item.body.finish === "filter" ? item.body.finish : "stop";
        usage = addUsage(usage, item.body.usage);
        model = item.body.model ?? model;
        return;
      }
      case "call-start": {
        open.set(stepKey(event.item), event.item);
        if (event.item.body.target === "client") return;
        lastTraced = stepKey(event.item);
        return trace(`${event.item.body.name} ${event.item.body.arguments}`);
      }
      case "call-end": {
        images?.see(event.item.body.data);
        const place = stepKey(event.item);
        const call = open.get(place);
        open.delete(place);
        if (call?.body.target === "client") return;
        // results of parallel calls come after all of the calls: they say whose they are
        const whose = place === lastTraced || !call ? "" : call.body.name + " ";
        return trace(`${whose}→ ${shorten(event.item.body.content)}`);
      }
      case "run-wait": {
        if (event.reason !== "client") return;
        parts.push(...clientCalls([...open.values()].filter((call) => call.body.target === "client")));
        return end("waiting", "calls");
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
    if (outage && !outcome) fail("waiting", outage);
    const waiting = wait.text();
    if (waiting !== undefined && !outcome) {
      say(text.apart(behind ? `Your message is queued, as run ${run}, behind another one.\n${waiting}` : waiting));
      end("waiting", "stop");
    }
    return { parts, outcome, model };
  };
}

function stepKey({ step, index }: { readonly step: string | null; readonly index: number | null }): string {
  return `${step}/${index}`;
}

function shorten(content: string): string {
  return content.length > traceLimit ? content.slice(0, traceLimit) + " …" : content;
}

function addUsage(
  sum: Usage,
  more: { readonly inputTokens: number; readonly outputTokens: number } | undefined,
): Usage {
  if (!more) return sum;
  return { inputTokens: sum.inputTokens + more.inputTokens, outputTokens: sum.outputTokens + more.outputTokens };
}

function clientCalls(calls: readonly ItemOf<"call">[]): AnswerPart[] {
  return calls.flatMap((call, index): AnswerPart[] => [
    { type: "call-start", index, id: callIdOf(call.id), name: call.body.name },
    { type: "call-delta", index, arguments: call.body.arguments },
  ]);
}
