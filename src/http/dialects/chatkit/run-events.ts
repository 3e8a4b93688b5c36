import type { RunEvent } from "../../../protocol/threads/events.ts";
import type { Item, ItemOf } from "../../../protocol/threads/items.ts";
import { isNested } from "../../../run/log/fold.ts";
import type { RunEnding, RunBatch } from "../../stream/watch-run.ts";
import { type StreamEvent, streamOptions } from "./stream-events.ts";
import { createCallEncoder } from "./call-events.ts";
import { createMessageEncoder } from "./message-events.ts";
import { shownEnd, shownQuestion, shownUserMessage } from "./encode.ts";

export type TellerOptions = {
  readonly runId: string;
  readonly threadId: string;
  /** Tell the message that began the run, and the stream's options after it. */
  readonly beginning: boolean;
  /** What the client has seen of the run. */
  readonly known?: readonly Item[];
};

export type ChatKitBatch = { readonly events: readonly StreamEvent[]; readonly ended: boolean };

/** Tells a run as events of this dialect. What a crash cut off is removed and told anew. */
export function createRunEncoder({
  runId,
  threadId,
  beginning,
  known = [],
}: TellerOptions): (seen: RunBatch) => ChatKitBatch {
  let events: StreamEvent[] = [];
  let begins = beginning;
  const put = (event: StreamEvent) => {
    events.push(event);
  };
  const messages = createMessageEncoder({ runId, threadId }, put);
  const calls = createCallEncoder(put);
  const questions = new Map<string, ItemOf<"question">>();

  for (const item of known) {
    if (isNested(item)) continue;
    if (item.kind === "call") calls.begin(item);
    else if (item.kind === "result") calls.end(item);
    else if (item.kind === "question") questions.set(item.id, item);
  }
  calls.close();

  const hearUser = (item: ItemOf<"message">) => {
    // What was said to the run at work is told; the message that began it only where the client has not got it yet.
    if (begins || item.body.to === undefined)
      put({ type: "thread.item.done", item: shownUserMessage(item, item.body) });
    if (begins) put(streamOptions);
    begins = false;
  };

  const read = (event: RunEvent, batch: readonly RunEvent[]): void => {
    switch (event.type) {
      case "reasoning-delta":
        return messages.hear(event.step, event.text);
      case "text-delta":
        // The text of a step in a protocol is what was read of it, and comes with its message.
        if (!batch.some((other) => other.type === "message" && other.item.step === event.step))
          messages.say(event.step, event.text);
        return;
      case "step-retry":
        if (event.retry) put({ type: "progress_update", text: event.retry.text });
        return messages.withdraw(event.step);
      case "message":
        if (event.item.body.role === "assistant") messages.finish(event.item);
        else if (event.item.body.role === "user") hearUser(event.item);
        return;
      case "call-start":
        return calls.begin(event.item);
      case "call-end":
        return calls.end(event.item);
      case "question":
        questions.set(event.item.id, event.item);
        return put({ type: "thread.item.done", item: shownQuestion(event.item, undefined) });
      case "decision": {
        const question = questions.get(event.item.body.question);
        if (question) put({ type: "thread.item.replaced", item: shownQuestion(question, event.item) });
        return;
      }
      case "progress":
        return put({ type: "progress_update", text: event.text });
      case "plan": {
        const running = event.item.body.steps.find(({ state }) => state === "running");
        if (running) put({ type: "progress_update", text: running.text });
        return;
      }
      case "notice":
        return put({ type: "notice", level: "info", message: event.item.body.text });
    }
  };

  const end = (ending: RunEnding) => {
    calls.close();
    if (ending.status === "waiting")
      put({ type: "notice", level: "info", title: "The run waits", message: ending.text });
    if (ending.status !== "failed" && ending.status !== "cancelled") return;
    const { status, error } = ending;
    const place = { runId, threadId, createdAt: new Date().toISOString() };
    put({ type: "thread.item.done", item: shownEnd(place, { status, message: error.message }) });
    if (status === "cancelled") put({ type: "notice", level: "info", message: error.message });
    else put({ type: "error", code: "custom", message: error.message, allow_retry: true });
  };

  return ({ own, ending }) => {
    events = [];
    for (const event of own) {
      if (isBeside(event)) continue;
      read(event, own);
      if (event.type !== "run-wait" || event.reason !== "client") continue;
      calls.close();
      if (calls.askClient()) return { events, ended: true };
    }
    if (ending) end(ending);
    return { events, ended: ending !== undefined };
  };
}

/** Whether the event belongs to a tool's own question to a model, which is not part of the conversation. */
function isBeside(event: RunEvent): boolean {
  if ("item" in event) return isNested(event.item);
  return "step" in event && event.step.includes("/");
}
