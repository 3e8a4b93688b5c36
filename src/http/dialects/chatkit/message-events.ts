import { type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import { shownStepId } from "./ids.ts";
import type { ItemUpdate, StreamEvent } from "./stream-events.ts";
import { baseOf, outputText, reasoning, shownAnswer, thoughtOf } from "./encode.ts";

/** Tells what a run thinks and says: text as it comes, thoughts whole and before it. */
export type MessageEncoder = {
  hear(step: string, thought: string): void;
  say(step: string, text: string): void;
  finish(item: ItemOf<"message">): void;
  /** What was told of this step's attempt is not so. */
  withdraw(step: string): void;
};

export function createMessageEncoder(
  { runId: run, threadId }: { readonly runId: string; readonly threadId: string },
  put: (event: StreamEvent) => void,
): MessageEncoder {
  /** The message that is being told. */
  let open: { readonly id: string; readonly step: string; sent: string } | undefined;
  /** By step: what was heard of its thoughts, and what of them was told. */
  const heard = new Map<string, string>();
  const thoughts = new Map<string, string>();

  const update = (item_id: string, change: ItemUpdate) => put({ type: "thread.item.updated", item_id, update: change });
  const removeOpen = () => {
    if (open) put({ type: "thread.item.removed", item_id: open.id });
    open = undefined;
  };
  const think = (step: string, thought: string, createdAt: string) => {
    if (thought === "" || thoughts.get(step) === thought) return;
    const type = thoughts.has(step) ? "thread.item.replaced" : "thread.item.done";
    thoughts.set(step, thought);
    const id = shownStepId("wf", { run, step });
    put({ type, item: { id, ...baseOf({ threadId, createdAt }), ...reasoning(thought) } });
  };
  const extend = (step: string, text: string) => {
    if (text === "") return;
    if (open?.step !== step) {
      open = { id: shownStepId("msg", { run, step }), step, sent: "" };
      const base = baseOf({ threadId, createdAt: new Date().toISOString() });
      put({ type: "thread.item.added", item: { id: open.id, ...base, type: "assistant_message", content: [] } });
      update(open.id, { type: "assistant_message.content_part.added", content_index: 0, content: outputText("") });
    }
    open.sent += text;
    update(open.id, { type: "assistant_message.content_part.text_delta", content_index: 0, delta: text });
  };

  return {
    hear(step, thought) {
      if (!heard.has(step)) put({ type: "progress_update", text: "Thinking" });
      heard.set(step, (heard.get(step) ?? "") + thought);
    },
    say(step, text) {
      think(step, (heard.get(step) ?? "").trim(), new Date().toISOString());
      extend(step, text);
    },
    finish(item) {
      const step = item.step ?? item.id;
      think(step, thoughtOf(item), item.createdAt);
      const whole = textOf(item.body.content);
      if (open && (open.step !== step || whole === "" || !whole.startsWith(open.sent))) removeOpen();
      const shown = shownAnswer(item);
      if (!shown) return;
      extend(step, whole.slice(open?.sent.length ?? 0));
      const content = outputText(whole, item.body.citations);
      content.annotations.forEach((annotation, annotation_index) =>
        update(shown.id, {
          type: "assistant_message.content_part.annotation_added",
          content_index: 0,
          annotation_index,
          annotation,
        }),
      );
      update(shown.id, { type: "assistant_message.content_part.done", content_index: 0, content });
      put({ type: "thread.item.done", item: shown });
      open = undefined;
    },
    withdraw(step) {
      heard.delete(step);
      if (thoughts.delete(step)) put({ type: "thread.item.removed", item_id: shownStepId("wf", { run, step }) });
      if (open?.step === step) removeOpen();
    },
  };
}
