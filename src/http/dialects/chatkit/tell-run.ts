import type { RunEvent } from "../../../protocol/events.ts";
import { type Item, type ItemOf, textOf } from "../../../protocol/items.ts";
import { callKey, isNested } from "../../../run/fold.ts";
import type { Ending, Seen } from "../../watch-run.ts";
import { shownItemId, shownStepId } from "./ids.ts";
import { type ItemUpdate, type StreamEvent, streamOptions } from "./stream-events.ts";
import {
  baseOf,
  outputText,
  reasoning,
  shownAnswer,
  shownCall,
  shownCalls,
  shownClientCall,
  shownEnd,
  shownQuestion,
  shownUserMessage,
  thoughtOf,
} from "./thread-items.ts";

type Call = ItemOf<"call">;
type Question = ItemOf<"question">;

export type TellerOptions = {
  readonly runId: string;
  readonly threadId: string;
  /** Tell the message that began the run, and the stream's options after it. */
  readonly beginning: boolean;
  /** What the client has seen of the run. */
  readonly known?: readonly Item[];
};

export type Told = { readonly events: readonly StreamEvent[]; readonly ended: boolean };

/** The server's calls of one step: a workflow that is open until each has its result, or the stream ends. */
type Work = { readonly calls: [Call, ...Call[]]; open: boolean };

/**
 * Tells a run as events of this dialect: text as it comes, thoughts whole, calls of the server as tasks of a workflow, a
 * person's questions as structured inputs. What a crash cut off is removed and told anew.
 */
export function createTeller({ runId: run, threadId, beginning, known = [] }: TellerOptions): (seen: Seen) => Told {
  let events: StreamEvent[] = [];
  let begins = beginning;
  let text: { readonly id: string; readonly step: string; sent: string } | undefined;
  /** By step: what was heard of its thoughts, and what of them was told. */
  const heard = new Map<string, string>();
  const thoughts = new Map<string, string>();
  const works = new Map<string, Work>();
  const results = new Map<string, ItemOf<"result">>();
  const questions = new Map<string, Question>();
  const clientCalls: Call[] = [];

  const put = (event: StreamEvent) => events.push(event);
  const update = (item_id: string, change: ItemUpdate) => put({ type: "thread.item.updated", item_id, update: change });
  const remove = (item_id: string) => put({ type: "thread.item.removed", item_id });
  const resultOf = (call: Call) => results.get(callKey(call));

  const withdraw = () => {
    if (text) remove(text.id);
    text = undefined;
  };
  const say = (step: string, piece: string) => {
    if (piece === "") return;
    if (text?.step !== step) {
      text = { id: shownStepId("msg", { run, step }), step, sent: "" };
      const base = baseOf({ threadId, createdAt: new Date().toISOString() });
      put({ type: "thread.item.added", item: { id: text.id, ...base, type: "assistant_message", content: [] } });
      update(text.id, { type: "assistant_message.content_part.added", content_index: 0, content: outputText("") });
    }
    text.sent += piece;
    update(text.id, { type: "assistant_message.content_part.text_delta", content_index: 0, delta: piece });
  };
  const think = (step: string, thought: string, createdAt: string) => {
    if (thought === "" || thoughts.get(step) === thought) return;
    const type = thoughts.has(step) ? "thread.item.replaced" : "thread.item.done";
    thoughts.set(step, thought);
    const id = shownStepId("wf", { run, step });
    put({ type, item: { id, ...baseOf({ threadId, createdAt }), ...reasoning(thought) } });
  };

  const finishMessage = (item: ItemOf<"message">) => {
    const step = item.step ?? item.id;
    think(step, thoughtOf(item), item.createdAt);
    const whole = textOf(item.body.content);
    if (text && (text.step !== step || whole === "" || !whole.startsWith(text.sent))) withdraw();
    const shown = shownAnswer(item);
    if (!shown) return;
    say(step, whole.slice(text?.sent.length ?? 0));
    update(shown.id, {
      type: "assistant_message.content_part.done",
      content_index: 0,
      content: outputText(whole),
    });
    put({ type: "thread.item.done", item: shown });
    text = undefined;
  };

  const beginCall = (call: Call) => {
    if (call.body.target === "client") {
      clientCalls.push(call);
      return;
    }
    const work = works.get(call.step!);
    if (!work) {
      works.set(call.step!, { calls: [call], open: true });
      put({ type: "thread.item.added", item: shownCalls([call], resultOf) });
      return;
    }
    const task_index = work.calls.push(call) - 1;
    update(shownItemId("wf", work.calls[0].id), {
      type: "workflow.task.added",
      task_index,
      task: shownCall(call, undefined),
    });
  };
  const closeWork = (work: Work) => {
    work.open = false;
    put({ type: "thread.item.done", item: shownCalls(work.calls, resultOf) });
  };
  const endCall = (result: ItemOf<"result">) => {
    const key = callKey(result);
    results.set(key, result);
    const own = clientCalls.findIndex((call) => callKey(call) === key);
    if (own !== -1) clientCalls.splice(own, 1);
    const work = works.get(result.step!);
    const task_index = work?.calls.findIndex((call) => callKey(call) === key) ?? -1;
    if (!work || task_index === -1) return;
    if (!work.open) {
      put({ type: "thread.item.replaced", item: shownCalls(work.calls, resultOf) });
      return;
    }
    const task = shownCall(work.calls[task_index]!, result);
    update(shownItemId("wf", work.calls[0].id), { type: "workflow.task.updated", task_index, task });
    if (work.calls.every(resultOf)) closeWork(work);
  };
  const ask = (question: Question) => {
    questions.set(question.id, question);
    put({ type: "thread.item.done", item: shownQuestion(question, undefined) });
  };

  const read = (event: RunEvent, batch: readonly RunEvent[]): void => {
    switch (event.type) {
      case "reasoning-delta":
        if (!heard.has(event.step)) put({ type: "progress_update", text: "Thinking" });
        heard.set(event.step, (heard.get(event.step) ?? "") + event.text);
        return;
      case "text-delta":
        // The text of a step in a protocol is what was read of it, and comes with its message.
        if (batch.some((other) => other.type === "message" && other.item.step === event.step)) return;
        think(event.step, (heard.get(event.step) ?? "").trim(), new Date().toISOString());
        return say(event.step, event.text);
      case "step-retry":
        heard.delete(event.step);
        if (thoughts.delete(event.step)) remove(shownStepId("wf", { run, step: event.step }));
        return withdraw();
      case "message":
        if (event.item.body.role === "assistant") return finishMessage(event.item);
        if (event.item.body.role !== "user") return;
        if (begins || event.item.body.to === undefined)
          put({ type: "thread.item.done", item: shownUserMessage(event.item, event.item.body.content) });
        if (begins) put(streamOptions);
        begins = false;
        return;
      case "call-start":
        return beginCall(event.item);
      case "call-end":
        return endCall(event.item);
      case "question":
        return ask(event.item);
      case "decision": {
        const question = questions.get(event.item.body.question);
        if (question) put({ type: "thread.item.replaced", item: shownQuestion(question, event.item) });
        return;
      }
      case "progress":
        put({ type: "progress_update", text: event.text });
        return;
      case "plan": {
        const running = event.item.body.steps.find(({ state }) => state === "running");
        if (running) put({ type: "progress_update", text: running.text });
        return;
      }
      case "notice":
        put({ type: "notice", level: "info", message: event.item.body.text });
    }
  };

  const end = (ending: Ending) => {
    withdraw();
    for (const work of works.values()) if (work.open) closeWork(work);
    if (ending.status === "waiting")
      put({ type: "notice", level: "info", title: "The run waits", message: ending.text });
    if (ending.status !== "failed" && ending.status !== "cancelled") return;
    const { status, error } = ending;
    const place = { runId: run, threadId, createdAt: new Date().toISOString() };
    put({ type: "thread.item.done", item: shownEnd(place, { status, message: error.message }) });
    if (status === "cancelled") put({ type: "notice", level: "info", message: error.message });
    else put({ type: "error", code: "custom", message: error.message, allow_retry: true });
  };

  for (const item of known) {
    if (isNested(item)) continue;
    if (item.kind === "call") beginCall(item);
    else if (item.kind === "result") endCall(item);
    else if (item.kind === "question") questions.set(item.id, item);
  }
  for (const work of works.values()) work.open = false;

  return ({ own, ending }) => {
    events = [];
    let ended = ending !== undefined;
    for (const event of own) {
      if (isBeside(event)) continue;
      read(event, own);
      // Client tools are run one by one: the next is told once this one's result is there.
      if (event.type !== "run-wait" || event.reason !== "client" || !clientCalls[0]) continue;
      for (const work of works.values()) if (work.open) closeWork(work);
      put({ type: "thread.item.done", item: shownClientCall(clientCalls[0], undefined) });
      ended = true;
      break;
    }
    if (ending) end(ending);
    return { events, ended };
  };
}

/** What a tool asks of a model is no part of the conversation. */
function isBeside(event: RunEvent): boolean {
  if ("item" in event) return isNested(event.item);
  return "step" in event && event.step.includes("/");
}
