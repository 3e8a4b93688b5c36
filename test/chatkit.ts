import assert from "node:assert/strict";
import type { StreamEvent } from "../src/http/dialects/chatkit/stream-events.ts";
import type { ChatKitPage, Thread, ThreadItem } from "../src/http/dialects/chatkit/thread-items.ts";

export type Streamed = { readonly response: Response; readonly text: string; readonly events: readonly StreamEvent[] };

export type ChatKit = {
  post(body: object, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** An operation that is answered at once. */
  ask<Answer>(type: string, params: object): Promise<Answer>;
  stream(body: object, headers?: Record<string, string>): Promise<Streamed>;
  /** `<status> <code> <message>` of what must be refused. */
  refused(body: object): Promise<string>;
  /** A new thread with its first message. */
  create(
    text: string,
    metadata?: object,
    headers?: Record<string, string>,
  ): Promise<Streamed & { readonly thread: Thread }>;
  say(threadId: string, text: string): Promise<Streamed>;
  items(threadId: string, page?: object): Promise<readonly ThreadItem[]>;
};

/** Speaks ChatKit's protocol with a server, and checks that answers are as they should be. */
export function createChatKit(url: () => string): ChatKit {
  const chatkit: ChatKit = {
    post: (body, headers = {}, signal) =>
      fetch(url() + "/chatkit", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    async ask<Answer>(type: string, params: object) {
      const response = await chatkit.post({ type, params });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as Answer;
    },
    async stream(body, headers) {
      const response = await chatkit.post(body, headers);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return { response, text, events: eventsIn(text) };
    },
    async refused(body) {
      const response = await chatkit.post(body);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      return `${response.status} ${error.code} ${error.message}`;
    },
    async create(text, metadata = {}, headers) {
      const told = await chatkit.stream({ type: "threads.create", params: { input: input(text) }, metadata }, headers);
      const [first] = told.events;
      assert.ok(first?.type === "thread.created");
      return { ...told, thread: first.thread };
    },
    say: (threadId, text) =>
      chatkit.stream({ type: "threads.add_user_message", params: { thread_id: threadId, input: input(text) } }),
    items: async (threadId, page = { order: "asc" }) =>
      (await chatkit.ask<ChatKitPage<ThreadItem>>("items.list", { thread_id: threadId, ...page })).data,
  };
  return chatkit;
}

/** What a user writes. */
export function input(text: string, more: object = {}) {
  return { content: [{ type: "input_text", text }], attachments: [], inference_options: {}, ...more };
}

export function eventsIn(text: string): StreamEvent[] {
  const lines = text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
  return lines.map((line) => JSON.parse(line.replace(/^data: /, "")) as StreamEvent);
}

/** What a client has that follows the events of one stream or several. */
export function followed(events: readonly StreamEvent[], known: readonly ThreadItem[] = []): ThreadItem[] {
  const held = new Map(known.map((item) => [item.id, item]));
  for (const event of events) {
    if (event.type === "thread.item.done" || event.type === "thread.item.replaced") held.set(event.item.id, event.item);
    else if (event.type === "thread.item.removed") held.delete(event.item_id);
  }
  return [...held.values()];
}

/** By id, without the times, which a stream can't know before an item is stored. */
export function comparable(items: readonly ThreadItem[]) {
  return items.map(({ created_at: _, ...item }) => item).toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** What happens in a stream, without what it is about. */
/** Pieces of a text count as one: how many there are is a matter of time. */
export function kinds(events: readonly StreamEvent[]): string[] {
  const all = events.map((event) => {
    if (event.type === "thread.item.updated") return event.update.type;
    return "item" in event ? `${event.type} ${event.item.type}` : event.type;
  });
  return all.filter((kind, at) => !kind.endsWith("text_delta") || kind !== all[at - 1]);
}

/** What was said, by users and agents. */
export function textsOf(items: readonly ThreadItem[]): string[] {
  return items.flatMap((item) =>
    item.type === "user_message" || item.type === "assistant_message" ? item.content.map(({ text }) => text) : [],
  );
}
