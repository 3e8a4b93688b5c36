import type { CallItem } from "../../../run/log/call-items.ts";
import { isJsonObject, parseExactly } from "../../../protocol/base/exact-json.ts";
import { callIdOf, decisions, type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import { plainArguments } from "../../shapes/question-view.ts";
import { shownItemId, shownStepId, shownThreadId } from "./ids.ts";
import type { Citation } from "../../../protocol/knowledge/citations.ts";
import type {
  ChatKitAnnotation,
  ItemOfType,
  OutputText,
  ChatKitPage,
  ChatKitTask,
  Thread,
  ThreadItem,
} from "./thread-items.ts";

type Message = ItemOf<"message">;
type Result = ItemOf<"result">;

export function shownThread(
  { id, title, createdAt }: ThreadRecord,
  items: ChatKitPage<ThreadItem> = { data: [], has_more: false },
): Thread {
  return {
    id: shownThreadId(id),
    ...(title && { title }),
    created_at: createdAt,
    status: { type: "active" },
    metadata: {},
    items,
  };
}

export function shownUserMessage(
  message: Pick<Message, "id" | "threadId" | "createdAt">,
  { content, files = [] }: Pick<Message["body"], "content" | "files">,
): ThreadItem {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    id: shownItemId("msg", message.id),
    ...baseOf(message),
    type: "user_message",
    content: parts.map((part) => ({ type: "input_text", text: part.type === "text" ? part.text : "[image]" })),
    attachments: files.map(({ id, name, mediaType, isImage }) => ({
      id: shownItemId("atc", id),
      type: isImage ? "image" : "file",
      name,
      mime_type: mediaType,
    })),
    inference_options: {},
  };
}

export function outputText(text: string, citations: readonly Citation[] = []): OutputText {
  return { type: "output_text", text, annotations: citations.map(annotationOf) };
}

function annotationOf({ source: { title, url, page }, end: index, quote, found }: Citation): ChatKitAnnotation {
  if (url !== undefined) return { type: "annotation", source: { type: "url", title, url }, index };
  const description = [
    ...(page === undefined ? [] : [`page ${page}`]),
    ...(quote === undefined ? [] : [found ? `“${quote}”` : `“${quote}” does not stand there`]),
  ].join(": ");
  const about = description === "" ? {} : { description };
  return { type: "annotation", source: { type: "file", title, filename: title, ...about }, index };
}

/** Undefined: nothing was said aloud. */
export function shownAnswer(message: Message): ItemOfType<"assistant_message"> | undefined {
  const text = textOf(message.body.content);
  if (text === "") return undefined;
  return {
    id: partId("msg", message),
    ...baseOf(message),
    type: "assistant_message",
    content: [outputText(text, message.body.citations)],
  };
}

/** What was thought before it was said; what a model wrote in its strategy's protocol is not for people. */
export function thoughtOf({ body }: Message): string {
  return (body.reasoning ?? "").slice(0, body.protocolAt).trim();
}

export function shownThought(message: Message): ThreadItem | undefined {
  const thought = thoughtOf(message);
  if (thought === "") return undefined;
  return { id: partId("wf", message), ...baseOf(message), ...reasoning(thought) };
}

export function reasoning(thought: string) {
  const tasks: ChatKitTask[] = [{ type: "thought", content: thought, status_indicator: "complete" }];
  return { type: "workflow", workflow: { type: "reasoning", tasks, expanded: false } } as const;
}

/** The server's own calls of one step. */
export function shownCalls(
  calls: readonly [CallItem, ...CallItem[]],
  resultOf: (call: CallItem) => Result | undefined,
): ItemOfType<"workflow"> {
  const tasks = calls.map((call) => shownCall(call, resultOf(call)));
  return {
    id: shownItemId("wf", calls[0].id),
    ...baseOf(calls[0]),
    type: "workflow",
    workflow: { type: "custom", tasks, expanded: false },
  };
}

export function shownCall({ body }: CallItem, result: Result | undefined): ChatKitTask {
  const asked = plainArguments(body.arguments);
  return {
    type: "custom",
    title: result?.body.isError ? `${body.name} failed` : body.name,
    content: result ? `${asked}\n\n${result.body.content}` : asked,
    status_indicator: result ? "complete" : "loading",
  };
}

export function shownClientCall(call: CallItem, result: Result | undefined): ItemOfType<"client_tool_call"> {
  const asked = valueOf(call.body.arguments);
  return {
    id: shownItemId("tc", call.id),
    ...baseOf(call),
    type: "client_tool_call",
    status: result ? "completed" : "pending",
    call_id: callIdOf(call.id),
    name: call.body.name,
    arguments: isJsonObject(asked) ? asked : {},
    ...(result && { output: valueOf(result.body.content) }),
  };
}

/** A question that nobody answered before its run ended counts as skipped. */
export function shownQuestion(
  question: ItemOf<"question">,
  decision: ItemOf<"decision"> | undefined,
  ended = false,
): ItemOfType<"structured_input"> {
  const { reason, text, tool, arguments: asked } = question.body;
  const about = tool === undefined ? "" : `\n${tool} ${plainArguments(asked ?? "")}`;
  return {
    id: shownItemId("sti", question.id),
    ...baseOf(question),
    type: "structured_input",
    status: decision ? "answered" : ended ? "skipped" : "pending",
    inputs: [
      {
        type: "multiple_choice",
        id: shownItemId("sti", question.id),
        question: text + about,
        // There is no field for the name of another model.
        options: decisions[reason].filter((value) => value !== "model").map((value) => ({ value })),
        multiple: false,
        ...(decision && { answer: { values: [decision.body.decision], skipped: false } }),
      },
    ],
  };
}

/** How a run came out that has no answer. */
export function shownEnd(
  end: { readonly runId: string; readonly threadId: string; readonly createdAt: string },
  { status, message }: { readonly status: "failed" | "cancelled"; readonly message: string },
): ThreadItem {
  const title = status === "failed" ? "The run failed" : "The run was stopped";
  return {
    id: shownItemId("tsk", end.runId),
    ...baseOf(end),
    type: "task",
    task: { type: "custom", title, content: message, status_indicator: "none" },
  };
}

export function baseOf({ threadId, createdAt }: { readonly threadId: string; readonly createdAt: string }) {
  return { thread_id: shownThreadId(threadId), created_at: createdAt };
}

function partId(prefix: "msg" | "wf", { id, runId, step }: Message): string {
  return runId !== null && step !== null ? shownStepId(prefix, { run: runId, step }) : shownItemId(prefix, id);
}

/** Of text that need not be JSON. */
function valueOf(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}
