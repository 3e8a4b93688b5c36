import type { ChatKitAnnotation, OutputText, ChatKitTask, Thread, ThreadItem } from "./thread-items.ts";
import type { Item } from "../../../protocol/threads/items.ts";
import type { RunStart } from "../../../run/runs.ts";

export type ItemUpdate =
  | {
      readonly type: "assistant_message.content_part.added" | "assistant_message.content_part.done";
      readonly content_index: 0;
      readonly content: OutputText;
    }
  | {
      readonly type: "assistant_message.content_part.text_delta";
      readonly content_index: 0;
      readonly delta: string;
    }
  | {
      readonly type: "assistant_message.content_part.annotation_added";
      readonly content_index: 0;
      readonly annotation_index: number;
      readonly annotation: ChatKitAnnotation;
    }
  | {
      readonly type: "workflow.task.added" | "workflow.task.updated";
      readonly task_index: number;
      readonly task: ChatKitTask;
    };

/** What a stream of this dialect tells. */
export type StreamEvent =
  | { readonly type: "thread.created" | "thread.updated"; readonly thread: Thread }
  | {
      readonly type: "thread.item.added" | "thread.item.done" | "thread.item.replaced";
      readonly item: ThreadItem;
    }
  | { readonly type: "thread.item.updated"; readonly item_id: string; readonly update: ItemUpdate }
  | { readonly type: "thread.item.removed"; readonly item_id: string }
  | { readonly type: "stream_options"; readonly stream_options: { readonly allow_cancel: boolean } }
  | { readonly type: "progress_update"; readonly text: string }
  | {
      readonly type: "notice";
      readonly level: "info" | "warning" | "danger";
      readonly message: string;
      readonly title?: string;
    }
  | { readonly type: "error"; readonly code: "custom"; readonly message: string; readonly allow_retry: boolean };

/**
 * A client that may cancel does it by closing the connection, which looks like a lost one, and a lost connection never stops a
 * run here. So none is offered; the action `colloquy.cancel` stops it.
 */
export const streamOptions: StreamEvent = { type: "stream_options", stream_options: { allow_cancel: false } };

export function sseOf(events: readonly StreamEvent[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** A stream: what it tells at once, and the run that it tells then; without one it ends there. */
export type ChatKitStream = {
  readonly first: readonly StreamEvent[];
  readonly run?: Pick<RunStart, "runId" | "threadId" | "cursor" | "pending"> & {
    /** Its message comes first. */
    readonly beginning: boolean;
    /** What the client has seen of it. */
    readonly known?: readonly Item[];
  };
};
