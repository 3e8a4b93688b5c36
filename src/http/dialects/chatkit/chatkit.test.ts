import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { z } from "zod";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/scripted.ts";
import { agentSchema } from "../../../protocol/agents.ts";
import { itemIdOfCall } from "../../../protocol/items.ts";
import type { ModelRequest } from "../../../protocol/models.ts";
import { defineTool } from "../../../tools/define-tool.ts";
import type { StreamEvent } from "./stream-events.ts";
import { createTeller } from "./tell-run.ts";
import type { ItemOfType, Page, Thread, ThreadItem } from "./thread-items.ts";

let gate = Promise.withResolvers<void>();
let failures = 0;

/** Answers by what the last message says. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : "parts";
  if (last.role === "tool") return [{ text: `Result: ${said.slice(0, 80)}` }];
  if (said.startsWith("task "))
    return [{ text: "One moment." }, { call: "add_task", arguments: { title: said.slice(5) } }];
  if (said === "both")
    return [
      { call: "now", arguments: {} },
      { call: "beep", arguments: { n: 1 } },
    ];
  if (said === "twice")
    return [
      { call: "beep", arguments: { n: 1 } },
      { call: "beep", arguments: { n: 2 } },
    ];
  if (said === "wipe") return [{ call: "wipe", arguments: { disk: "a" } }];
  if (said === "think") return [{ reasoning: "Hm, " }, { reasoning: "well." }, { text: "I " }, { text: "thought." }];
  if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
  if (said === "fail once" && failures++ === 0) return [{ error: "refused", message: "I won't" }];
  if (said === "history")
    return JSON.stringify(messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])));
  return [{ text: "You " }, { text: `said ${said}` }];
}

const wipe = defineTool({
  name: "wipe",
  description: "Wipes a disk.",
  input: z.object({ disk: z.string() }),
  effect: "write",
  destructive: true,
  idempotent: true,
  execute: ({ disk }) => `wiped ${disk}`,
});

let server: AgentServing;
before(async () => {
  const agents = [agentSchema.parse({ id: "todo", tools: ["*"] }), agentSchema.parse({ id: "other", tools: [] })];
  server = await serveAgents(script, {}, { tools: [wipe], agents });
});
after(() => server.close());
beforeEach(() => {
  gate = Promise.withResolvers();
});

function post(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(server.url + "/chatkit", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function ask<Answer>(type: string, params: object): Promise<Answer> {
  const response = await post({ type, params });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as Answer;
}

async function refused(body: object): Promise<string> {
  const response = await post(body);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return `${response.status} ${error.code} ${error.message}`;
}

const input = (text: string, more: object = {}) => ({
  content: [{ type: "input_text", text }],
  attachments: [],
  inference_options: {},
  ...more,
});

function eventsIn(text: string): StreamEvent[] {
  const lines = text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
  return lines.map((line) => JSON.parse(line.replace(/^data: /, "")) as StreamEvent);
}

async function stream(body: object, headers: Record<string, string> = {}) {
  const response = await post(body, headers);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { response, text, events: eventsIn(text) };
}

/** A new thread with its first message. */
async function create(text: string, metadata: object = {}, headers: Record<string, string> = {}) {
  const told = await stream({ type: "threads.create", params: { input: input(text) }, metadata }, headers);
  const [first] = told.events;
  assert.ok(first?.type === "thread.created");
  return { ...told, thread: first.thread };
}

const say = (thread_id: string, text: string) =>
  stream({ type: "threads.add_user_message", params: { thread_id, input: input(text) } });

async function items(thread_id: string, page: object = { order: "asc" }): Promise<readonly ThreadItem[]> {
  return (await ask<Page<ThreadItem>>("items.list", { thread_id, ...page })).data;
}

/** What a client has that follows the events of one stream or several. */
function followed(events: readonly StreamEvent[], known: readonly ThreadItem[] = []): ThreadItem[] {
  const held = new Map(known.map((item) => [item.id, item]));
  for (const event of events) {
    if (event.type === "thread.item.done" || event.type === "thread.item.replaced") held.set(event.item.id, event.item);
    else if (event.type === "thread.item.removed") held.delete(event.item_id);
  }
  return [...held.values()];
}

const withoutTime = (list: readonly ThreadItem[]) => list.map(({ created_at: _, ...item }) => item);
const kinds = (events: readonly StreamEvent[]) =>
  events.map((event) => {
    if (event.type === "thread.item.updated") return event.update.type;
    return "item" in event ? `${event.type} ${event.item.type}` : event.type;
  });
const texts = (list: readonly ThreadItem[]) =>
  list.flatMap((item) =>
    item.type === "user_message" || item.type === "assistant_message" ? item.content.map(({ text }) => text) : [],
  );

test("threads.create tells the thread, the message, the options, and the answer as it comes", async () => {
  const { response, events, thread, text } = await create("hi");
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(text, /^data: \{"type":"thread.created","thread":\{"id":"thr_[0-9a-f]{32}","title":"hi",/);
  assert.deepEqual(kinds(events), [
    "thread.created",
    "thread.item.done user_message",
    "stream_options",
    "thread.item.added assistant_message",
    "assistant_message.content_part.added",
    "assistant_message.content_part.text_delta",
    "assistant_message.content_part.text_delta",
    "assistant_message.content_part.done",
    "thread.item.done assistant_message",
  ]);
  assert.deepEqual(events[2], { type: "stream_options", stream_options: { allow_cancel: false } });
  assert.deepEqual(thread.status, { type: "active" });
  assert.deepEqual(texts(followed(events)), ["hi", "You said hi"]);
  assert.deepEqual(await items(thread.id), followed(events));
  assert.equal((await server.runs.get(server.caller, response.headers.get("x-colloquy-run")!)).agent, "todo");
});

test("the server's tools are tasks of a workflow, of which clients are never asked", async () => {
  const { events, thread } = await create("task Buy milk");
  assert.deepEqual(kinds(events).slice(8, 13), [
    "thread.item.added workflow",
    "workflow.task.updated",
    "thread.item.done workflow",
    "thread.item.added assistant_message",
    "assistant_message.content_part.added",
  ]);
  const all = await items(thread.id);
  assert.deepEqual(all, followed(events));
  const [task] = (all[2] as ItemOfType<"workflow">).workflow.tasks;
  assert.equal(task?.type === "custom" && task.title, "add_task");
  assert.match(task?.content ?? "", /^\{"title":"Buy milk"\}\n\n.*Buy milk/s);
  assert.equal(task?.status_indicator, "complete");
});

test("thoughts come whole, before what is said", async () => {
  const { events, thread } = await create("think");
  assert.deepEqual(kinds(events).slice(3, 6), [
    "progress_update",
    "thread.item.done workflow",
    "thread.item.added assistant_message",
  ]);
  const listed = await items(thread.id);
  assert.deepEqual(
    listed.map(({ type }) => type),
    ["user_message", "workflow", "assistant_message"],
  );
  assert.deepEqual(withoutTime(listed), withoutTime(followed(events)));
  assert.match(JSON.stringify(listed[1]), /"type":"reasoning","tasks":\[\{"type":"thought","content":"Hm, well\."/);
});

test("a message goes on with its thread, and the agent that began it", async () => {
  const { thread } = await create("one", { agent: "other" });
  const { events, response } = await say(thread.id, "history");
  assert.deepEqual(kinds(events).slice(0, 2), ["thread.item.done user_message", "stream_options"]);
  assert.deepEqual(texts(followed(events)), ["history", '["one","history"]']);
  assert.equal((await server.runs.get(server.caller, response.headers.get("x-colloquy-run")!)).agent, "other");
});

test("quotes, tags, a model by its agent's name", async () => {
  const quoting = input("", {
    content: [
      { type: "input_text", text: "tell " },
      { type: "input_tag", id: "t1", text: "@ann", data: {} },
    ],
    quoted_text: "a\nb",
    inference_options: { model: "other" },
  });
  const { events, response } = await stream({ type: "threads.create", params: { input: quoting } });
  assert.equal(texts(followed(events))[0], "> a\n> b\n\ntell @ann");
  assert.equal((await server.runs.get(server.caller, response.headers.get("x-colloquy-run")!)).agent, "other");
  assert.match(
    await refused({ type: "threads.create", params: { input: input("x", { inference_options: { model: "none" } }) } }),
    /^404 .*none/,
  );
  const choosing = input("x", { inference_options: { tool_choice: { id: "none" } } });
  assert.match(await refused({ type: "threads.create", params: { input: choosing } }), /^400 .*there is no tool none/);
  await (
    await post({
      type: "threads.create",
      params: { input: input("x", { inference_options: { tool_choice: { id: "now" } } }) },
    })
  ).text();
  assert.deepEqual(server.model.requests.at(-1)?.toolChoice, { name: "now" });
});

test("a client's tool: its call ends the stream, its output goes on with the run", async () => {
  const metadata = { client_tools: [{ name: "beep", parameters: { type: "object" } }] };
  const { thread, events, response } = await create("both", metadata);
  const asked = events.at(-1);
  assert.ok(asked?.type === "thread.item.done" && asked.item.type === "client_tool_call");
  const { status, name, arguments: given, call_id: callId } = asked.item;
  assert.deepEqual([status, name, given], ["pending", "beep", { n: 1 }]);
  assert.ok(itemIdOfCall(callId));
  assert.deepEqual((await items(thread.id)).at(-1), asked.item);

  const bring = { type: "threads.add_client_tool_output", params: { thread_id: thread.id, result: { ok: true } } };
  const next = await stream(bring);
  assert.equal(next.response.headers.get("x-colloquy-run"), response.headers.get("x-colloquy-run"));
  assert.equal(next.events[0]?.type, "stream_options");
  assert.deepEqual(texts(followed(next.events)), ['Result: {"ok":true}']);
  const call = (await items(thread.id)).find((item) => item.type === "client_tool_call");
  assert.deepEqual(call && [call.id, call.status, call.output], [asked.item.id, "completed", { ok: true }]);

  assert.deepEqual(texts(followed((await stream(bring)).events)), ['Result: {"ok":true}']);
  assert.match(await refused({ ...bring, params: { ...bring.params, result: "else" } }), /^409 no_pending_call/);
});

test("two client calls of one answer are asked for one after the other", async () => {
  const { thread, events } = await create("twice", { client_tools: [{ name: "beep" }] });
  const bring = (result: string) =>
    stream({ type: "threads.add_client_tool_output", params: { thread_id: thread.id, result } });
  const pending = (told: readonly StreamEvent[]) =>
    followed(told).flatMap((item) => (item.type === "client_tool_call" ? [item.arguments] : []));
  assert.deepEqual(pending(events), [{ n: 1 }]);
  const second = await bring("first");
  assert.deepEqual(pending(second.events), [{ n: 2 }]);
  assert.deepEqual(kinds(second.events), ["stream_options", "thread.item.done client_tool_call"]);
  assert.match(texts(followed((await bring("second")).events))[0]!, /^Result: /);
  const listed = (await items(thread.id)).filter((item) => item.type === "client_tool_call");
  assert.deepEqual(
    listed.map(({ output }) => output),
    ["first", "second"],
  );
});

test("a new message gives up a client's call that nobody answers", async () => {
  const { thread } = await create("both", { client_tools: [{ name: "beep" }] });
  const { events } = await say(thread.id, "never mind");
  assert.equal(texts(followed(events)).at(-1), "You said never mind");
});

test("a question is a structured input; its answer goes on with the run", async () => {
  const { thread, events } = await create("wipe");
  assert.deepEqual(kinds(events).slice(3), [
    "thread.item.added workflow",
    "thread.item.done structured_input",
    "thread.item.done workflow",
    "notice",
  ]);
  const notice = events.at(-1);
  assert.match(notice?.type === "notice" ? notice.message : "", /colloquy answer/);
  const asked = (await items(thread.id)).find((item) => item.type === "structured_input")!;
  assert.equal(asked.status, "pending");
  assert.match(asked.inputs[0]!.question, /wipe \{"disk":"a"\}/);
  assert.deepEqual(asked.inputs[0]!.options, [{ value: "allow" }, { value: "deny" }]);

  const answer = (value: string) => ({
    type: "threads.add_structured_input",
    params: {
      thread_id: thread.id,
      item_id: asked.id,
      input: { status: "answered", answers: { [asked.id]: { values: [value] } } },
    },
  });
  const next = await stream(answer("allow"));
  assert.deepEqual(kinds(next.events).slice(0, 3), [
    "stream_options",
    "thread.item.replaced structured_input",
    "thread.item.replaced workflow",
  ]);
  assert.deepEqual(texts(followed(next.events)), ["Result: wiped a"]);
  const listed = await items(thread.id);
  assert.deepEqual(
    withoutTime(followed(next.events, followed(events))).toSorted(byId),
    withoutTime(listed).toSorted(byId),
  );
  assert.equal(listed.find((item) => item.type === "structured_input")?.status, "answered");
  assert.deepEqual(texts(followed((await stream(answer("allow"))).events)), ["Result: wiped a"]);
  assert.match(await refused(answer("deny")), /^409 already_decided/);
});
const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

test("what is none of a question's options is the reason of a denial; a skipped one is denied", async () => {
  for (const [status, values, said] of [
    ["answered", ["not this one"], /Result: .*not this one/],
    ["skipped", [], /Result: .*skipped/],
  ] as const) {
    const { thread } = await create("wipe");
    const asked = (await items(thread.id)).find((item) => item.type === "structured_input")!;
    const params = { thread_id: thread.id, item_id: asked.id, input: { status, answers: { [asked.id]: { values } } } };
    const { events } = await stream({ type: "threads.add_structured_input", params });
    assert.match(texts(followed(events))[0] ?? JSON.stringify(events), said);
  }
});

test("a failed run is an error that may be retried; the retry leaves out what came after the message", async () => {
  const { thread, events } = await create("fail once");
  assert.deepEqual(kinds(events).slice(-2), ["thread.item.done task", "error"]);
  const error = events.at(-1);
  assert.match(error?.type === "error" ? error.message : "", /^Run [0-9a-f-]{36} failed: .*I won't/);
  assert.equal(error?.type === "error" && error.allow_retry, true);
  const listed = await items(thread.id);
  assert.deepEqual(withoutTime(listed), withoutTime(followed(events)));

  const retry = { type: "threads.retry_after_item", params: { thread_id: thread.id, item_id: listed[0]!.id } };
  const key = { "idempotency-key": `retry ${thread.id}` };
  const again = await stream(retry, key);
  assert.deepEqual(kinds(again.events).slice(0, 3), [
    "thread.item.removed",
    "thread.item.done user_message",
    "stream_options",
  ]);
  assert.deepEqual(texts(await items(thread.id)), ["fail once", "You said fail once"]);
  assert.equal(
    (await stream(retry, key)).response.headers.get("x-colloquy-run"),
    again.response.headers.get("x-colloquy-run"),
  );

  await say(thread.id, "history");
  const last = (await items(thread.id, { limit: 1 }))[0]!;
  assert.deepEqual(texts([last]), ['["fail once","history"]']);
  assert.match(await refused({ ...retry, params: { ...retry.params, item_id: last.id } }), /^404 item_not_found/);
});

test("lists: pages in both orders, with ids as cursors", async () => {
  const { thread } = await create("1");
  for (const text of ["2", "3"]) await say(thread.id, text);
  const all = await items(thread.id);
  assert.deepEqual(texts(all), ["1", "You said 1", "2", "You said 2", "3", "You said 3"]);
  for (const order of ["asc", "desc"]) {
    const seen: ThreadItem[] = [];
    for (let after: string | undefined, pages = 1; ; pages++) {
      const page = await ask<Page<ThreadItem>>("items.list", { thread_id: thread.id, order, after, limit: 4 });
      seen.push(...page.data);
      assert.equal(page.has_more, pages === 1);
      assert.equal(page.after, page.has_more ? page.data.at(-1)!.id : undefined);
      if (!page.has_more) break;
      after = page.after;
    }
    assert.deepEqual(seen, order === "asc" ? all : all.toReversed());
  }
  assert.deepEqual((await ask<Thread>("threads.get_by_id", { thread_id: thread.id })).items, {
    data: all,
    has_more: false,
  });
  assert.match(
    await refused({ type: "items.list", params: { thread_id: thread.id, after: "msg_none" } }),
    /^404 item_not_found/,
  );

  const first = await ask<Page<Thread>>("threads.list", { limit: 1 });
  assert.deepEqual([first.data[0]!.id, first.has_more, first.after], [thread.id, true, thread.id]);
  const rest = await ask<Page<Thread>>("threads.list", { after: first.after });
  const others = await ask<Page<Thread>>("threads.list", { order: "asc" });
  assert.deepEqual(rest.data.toReversed(), others.data.slice(0, rest.data.length));
});

test("threads are renamed and deleted, items rated", async () => {
  const { thread, events } = await create("hi");
  assert.equal((await ask<Thread>("threads.update", { thread_id: thread.id, title: "Greeting" })).title, "Greeting");
  const { id } = followed(events)[1]!;
  const rate = (kind: string, item_ids = [id]) => ask("items.feedback", { thread_id: thread.id, item_ids, kind });
  assert.deepEqual(await rate("positive"), {});
  await rate("negative", [id, id]);
  assert.deepEqual(
    await server.database.query("select f.kind, i.kind as of from feedback f join items i on i.id = f.item_id"),
    [{ kind: "negative", of: "message" }],
  );
  assert.match(
    await refused({ type: "items.feedback", params: { thread_id: thread.id, item_ids: ["msg_x"], kind: "positive" } }),
    /^404/,
  );
  assert.deepEqual(await ask("threads.delete", { thread_id: thread.id }), {});
  assert.match(await refused({ type: "threads.get_by_id", params: { thread_id: thread.id } }), /^404 thread_not_found/);
});

test("a closed stream stops nothing; the action colloquy.cancel does", async () => {
  const leaving = new AbortController();
  const body = { type: "threads.create", params: { input: input("slow") } };
  const response = await fetch(server.url + "/chatkit", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: leaving.signal,
  });
  const run = response.headers.get("x-colloquy-run")!;
  for await (const piece of response.body!) if (new TextDecoder().decode(piece).includes("begun")) break;
  leaving.abort();
  const thread_id = response.headers.get("x-colloquy-thread")!;
  assert.equal((await server.runs.get(server.caller, run)).status, "running");

  const action = { type: "colloquy.cancel" };
  assert.deepEqual(await ask("threads.sync_custom_action", { thread_id, action }), {});
  gate.resolve();
  while ((await server.runs.get(server.caller, run)).status !== "cancelled")
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await items(thread_id)).at(-1)?.type, "task");
  const { events } = await stream({ type: "threads.custom_action", params: { thread_id, action } });
  assert.deepEqual(kinds(events), ["stream_options", "notice"]);
  assert.match(
    await refused({ type: "threads.custom_action", params: { thread_id, action: { type: "x" } } }),
    /^400 unknown_action/,
  );
});

test("a message to a busy thread waits its turn", async () => {
  const first = post({ type: "threads.create", params: { input: input("slow") } });
  const response = await first;
  const thread_id = response.headers.get("x-colloquy-thread")!;
  const second = post({ type: "threads.add_user_message", params: { thread_id, input: input("next") } });
  const waiting = await second;
  gate.resolve();
  const events = eventsIn(await waiting.text());
  assert.deepEqual(kinds(events).slice(0, 3), ["thread.item.done user_message", "stream_options", "progress_update"]);
  assert.deepEqual(texts(followed(events)), ["next", "You said next"]);
  assert.deepEqual(texts(followed(eventsIn(await response.text()))), ["slow", "begun, done"]);
  assert.deepEqual(texts(await items(thread_id)), ["slow", "begun, done", "next", "You said next"]);
});

test("the same Idempotency-Key tells the same thread again, from its start", async () => {
  const headers = { "idempotency-key": "chatkit-1" };
  const one = await create("task once", {}, headers);
  const two = await create("task once", {}, headers);
  assert.equal(two.thread.id, one.thread.id);
  assert.deepEqual(followed(two.events), followed(one.events));
  assert.equal((await server.database.query("select 1 from tasks where title = 'once'")).length, 1);
  assert.equal((await post({ type: "threads.create", params: { input: input("else") } }, headers)).status, 422);
});

test("what a crash cut off is removed, and told anew", async () => {
  const place = { runId: "018f0000-0000-7000-8000-00000000000a", threadId: "018f0000-0000-7000-8000-00000000000b" };
  const tell = createTeller({ ...place, beginning: false });
  const delta = { type: "text-delta", run: place.runId, step: "1", attempt: 1, offset: 0, text: "lost" } as const;
  const begun = tell({ own: [delta] }).events;
  const again = tell({
    own: [
      { type: "step-retry", run: place.runId, step: "1", attempt: 1 },
      { ...delta, attempt: 2, text: "kept" },
    ],
  }).events;
  const id = "item" in begun[0]! ? begun[0].item.id : "";
  assert.deepEqual(again[0], { type: "thread.item.removed", item_id: id });
  assert.deepEqual(kinds(again).slice(1), kinds(begun));
});

test("what can't be right is refused, before anything is done", async () => {
  assert.match(await refused({ type: "threads.destroy", params: {} }), /^400 unknown_operation .*threads\.create/);
  assert.match(await refused({}), /^400 unknown_operation/);
  assert.match(await refused({ type: "threads.create", params: {} }), /^400 invalid_input params\.input: /);
  assert.match(await refused({ type: "threads.create", params: { input: input(" ") } }), /^400 .*has no text/);
  assert.match(
    await refused({ type: "threads.create", params: { input: input("x", { attachments: ["atc_1"] }) } }),
    /^400 attachments_not_supported/,
  );
  assert.match(
    await refused({ type: "attachments.create", params: { name: "a", size: 1, mime_type: "text/plain" } }),
    /^400 attachments_not_supported/,
  );
  assert.match(await refused({ type: "input.transcribe", params: {} }), /^400 transcription_not_supported/);
  assert.match(await refused({ type: "items.list", params: { thread_id: "thr_1" } }), /^404 thread_not_found/);
  assert.match(await refused({ type: "threads.list", params: { limit: 1000 } }), /^400 invalid_input params\.limit/);
});
