import { parseExactly } from "../../../protocol/base/exact-json.ts";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import { callIdOf, type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import type { Source } from "../../../protocol/knowledge/sources.ts";
import { protocolText } from "../../../run/log/fold.ts";
import { actionTrace } from "../../../run/strategies/json-actions-trace.ts";
import type { AnswerImages } from "../../requests/answer-images.ts";
import { createPartialAnswer, type PartialAnswer } from "./partial-answer.ts";
import { createChunkWriter, doneEvent } from "./ui-chunks.ts";
import type { RunEnding, RunBatch } from "../../stream/watch-run.ts";

type UiMessage = {
  start(): string;
  tell(seen: RunBatch): string;
  /** The end of a stream whose run could not be told to its end. */
  fail(errorText: string): string;
};

/**
 * Tells a run as one message of the AI SDK's UI message stream: what agents say is text, what they think is reasoning, the
 * server's tools are dynamic tools that ask nothing of the page, each action is a `data-event`. What was told of a step that
 * a crash cut off is taken back.
 */
export function createUiMessage(
  { runId, threadId }: { readonly runId: string; readonly threadId: string },
  known: Parameters<typeof actionTrace>[1],
  images?: AnswerImages,
): UiMessage {
  const writer = createChunkWriter();
  const metadata = { run: runId, thread: threadId };
  /** Reasoning that may turn out to be a strategy's protocol, by step. */
  const held = new Map<string, string>();
  /** The answer in it, if it is an action. */
  const partial = new Map<string, PartialAnswer>();
  /** Ids of the calls that were told, by place. */
  const calls = new Map<string, string>();

  const thinkHeld = (step: string) => {
    writer.think(step, held.get(step) ?? "");
    held.delete(step);
  };

  /** Text that can only be an answer is told while the action is being written. */
  const hold = (step: string, text: string) => {
    const all = (held.get(step) ?? "") + text;
    held.set(step, all);
    const answer = partial.get(step) ?? createPartialAnswer();
    partial.set(step, answer);
    const piece = answer.feed(text);
    if (piece !== "" && writer.told(step) === 0) {
      const before = all.slice(0, all.indexOf("{")).replace(/```\w*\s*$/, "");
      writer.think(step, paragraphs(before, answer.thought()));
    }
    writer.say(step, piece);
  };

  const finishStep = (step: string, item: ItemOf<"message">) => {
    const content = textOf(item.body.content);
    const isProtocol = protocolText(item) !== undefined;
    const [event] = isProtocol ? actionTrace([item], known) : [];
    if (!isProtocol) {
      thinkHeld(step);
    } else if (writer.told(step) === 0 || !content.startsWith(partial.get(step)?.answer() ?? "")) {
      // Not told yet, or it was read otherwise than it looked.
      if (writer.told(step) > 0) writer.reset(step);
      const { reasoning = "", protocolAt } = item.body;
      writer.think(step, paragraphs(reasoning.slice(0, protocolAt), event?.thought ?? ""));
    }
    writer.say(step, content.slice(writer.told(step)));
    held.delete(step);
    partial.delete(step);
    if (!event) return;
    writer.enter(step);
    writer.put("data-event", { id: `event-${event.step}`, data: event });
  };

  const read = (event: RunEvent, batch: readonly RunEvent[]): void => {
    switch (event.type) {
      case "reasoning-delta":
        return hold(event.step, event.text);
      case "text-delta":
        // The text of a step in a protocol is what was read of it, and comes with its message.
        if (batch.some((other) => other.type === "message" && other.item.step === event.step)) return;
        thinkHeld(event.step);
        return writer.say(event.step, event.text);
      case "step-retry":
        held.delete(event.step);
        partial.delete(event.step);
        return writer.reset(event.step);
      case "message":
        if (event.item.body.role === "assistant") finishStep(event.item.step ?? event.item.id, event.item);
        return;
      case "call-start": {
        const { item } = event;
        const toolCallId = callIdOf(item.id);
        calls.set(stepKey(item), toolCallId);
        writer.enter(item.step ?? item.id);
        const input = valueOf(item.body.arguments);
        return writer.put("tool-input-available", { toolCallId, toolName: item.body.name, input, ...byServer });
      }
      case "call-end": {
        images?.see(event.item.body.data);
        const toolCallId = calls.get(stepKey(event.item));
        if (toolCallId === undefined) return;
        const { content, isError, sources = [] } = event.item.body;
        if (isError) return writer.put("tool-output-error", { toolCallId, errorText: content, ...byServer });
        writer.put("tool-output-available", { toolCallId, output: content, ...byServer });
        for (const [at, source] of sources.entries()) putSource(writer, `${toolCallId}-${at + 1}`, source);
        return;
      }
    }
  };

  const end = (ending: RunEnding) => {
    const outage = ending.status === "waiting" ? ending.outage : undefined;
    if (ending.status === "waiting" && !outage) writer.say("waiting", ending.text);
    if (ending.status === "done")
      for (const { url, mediaType } of images?.list() ?? []) writer.put("file", { url, mediaType });
    writer.leave();
    if (outage) writer.put("error", { errorText: outage.message });
    else if (ending.status === "failed") writer.put("error", { errorText: ending.error.message });
    else if (ending.status === "cancelled") writer.put("abort", { reason: ending.error.message });
    else writer.put("finish", { finishReason: "stop", messageMetadata: { ...metadata, status: ending.status } });
  };

  return {
    start() {
      writer.put("start", { messageId: runId, messageMetadata: metadata });
      return writer.take();
    },
    tell({ own, ending }) {
      for (const event of own) if (!isNested(event)) read(event, own);
      if (!ending) return writer.take();
      end(ending);
      return writer.take() + doneEvent;
    },
    fail(errorText) {
      writer.put("error", { errorText });
      return writer.take() + doneEvent;
    },
  };
}

function putSource(writer: ReturnType<typeof createChunkWriter>, sourceId: string, { url, title }: Source): void {
  if (url !== undefined) writer.put("source-url", { sourceId, url, title });
  else writer.put("source-document", { sourceId, mediaType: "text/plain", title });
}

/** The page has no such tool, and nothing to answer. */
const byServer = { dynamic: true, providerExecuted: true };

/** Whether the event belongs to a tool's own question to a model, which is not part of the conversation. */
function isNested(event: RunEvent): boolean {
  const step = "item" in event ? event.item.step : "step" in event ? event.step : null;
  return step !== null && step.includes("/");
}

function paragraphs(...texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter(Boolean)
    .join("\n\n");
}

function stepKey({ step, index }: { readonly step: string | null; readonly index: number | null }): string {
  return `${step}/${index}`;
}

/** Arguments as the model wrote them need not be JSON. */
function valueOf(written: string): unknown {
  try {
    return parseExactly(written);
  } catch {
    return written;
  }
}
