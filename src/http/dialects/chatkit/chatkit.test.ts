import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createChatKit, comparable, eventsIn, followed, input, kinds, textsOf } from "../../../../test/chatkit.ts";
import { anyDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { createRunEncoder } from "./run-events.ts";
import type { ItemOfType } from "./thread-items.ts";

let gate = Promise.withResolvers<void>();
let failures = 0;

/** Answers by what the last message says. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : "parts";
  if (last.role === "tool") return "All is noted.";
  if (said.startsWith("task "))
    return [{ text: "One moment." }, { call: "add_task", arguments: { title: said.slice(5) } }];
  if (said === "think") return [{ reasoning: "Hm, " }, { reasoning: "well." }, { text: "I " }, { text: "thought." }];
  if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
  if (said === "fail once" && failures++ === 0) return [{ error: "refused", message: "I won't" }];
  if (said === "history")
    return JSON.stringify(messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])));
  return [{ text: "You " }, { text: `said ${said}` }];
}

anyDatabase((databases) => {
  let server: AgentServing;
  const chatkit = createChatKit(() => server.url);
  before(async () => {
    failures = 0;
    const agents = [agentSchema.parse({ id: "todo", tools: ["*"] }), agentSchema.parse({ id: "other", tools: [] })];
    server = await serveAgents(script, {}, { agents, database: await databases.open() });
  });
  after(() => server.close());
  beforeEach(() => {
    gate = Promise.withResolvers();
  });

  test("threads.create tells the thread, the message, the options, and the answer as it comes", async () => {
    const { response, events, thread, text } = await chatkit.create("hi");
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.match(text, /^data: \{"type":"thread.created","thread":\{"id":"thr_[0-9a-f]{32}","title":"hi",/);
    assert.deepEqual(kinds(events), [
      "thread.created",
      "thread.item.done user_message",
      "stream_options",
      "thread.item.added assistant_message",
      "assistant_message.content_part.added",
      "assistant_message.content_part.text_delta",
      "assistant_message.content_part.done",
      "thread.item.done assistant_message",
    ]);
    assert.deepEqual(events[2], { type: "stream_options", stream_options: { allow_cancel: false } });
    assert.deepEqual(thread.status, { type: "active" });
    assert.deepEqual(textsOf(followed(events)), ["hi", "You said hi"]);
    assert.deepEqual(await chatkit.items(thread.id), followed(events));
    assert.equal((await server.runs.get(server.caller, response.headers.get("x-colloquy-run")!)).agent, "todo");
  });

  test("the server's tools are tasks of a workflow, of which clients are never asked", async () => {
    const { events, thread } = await chatkit.create("task Buy milk");
    assert.deepEqual(kinds(events).slice(8, 13), [
      "thread.item.added workflow",
      "workflow.task.updated",
      "thread.item.done workflow",
      "thread.item.added assistant_message",
      "assistant_message.content_part.added",
    ]);
    const all = await chatkit.items(thread.id);
    assert.deepEqual(all, followed(events));
    const [task] = (all[2] as ItemOfType<"workflow">).workflow.tasks;
    assert.equal(task?.type === "custom" && task.title, "add_task");
    assert.match(task?.content ?? "", /^\{"title":"Buy milk"\}\n\n.*Buy milk/s);
    assert.equal(task?.status_indicator, "complete");
  });

  test("thoughts come whole, before what is said", async () => {
    const { events, thread } = await chatkit.create("think");
    assert.deepEqual(kinds(events).slice(3, 6), [
      "progress_update",
      "thread.item.done workflow",
      "thread.item.added assistant_message",
    ]);
    const listed = await chatkit.items(thread.id);
    assert.deepEqual(
      listed.map(({ type }) => type),
      ["user_message", "workflow", "assistant_message"],
    );
    assert.deepEqual(comparable(listed), comparable(followed(events)));
    assert.match(JSON.stringify(listed[1]), /"type":"reasoning","tasks":\[\{"type":"thought","content":"Hm, well\."/);
  });

  test("a message goes on with its thread, and the agent that began it", async () => {
    const { thread } = await chatkit.create("one", { agent: "other" });
    const { events, response } = await chatkit.say(thread.id, "history");
    assert.deepEqual(kinds(events).slice(0, 2), ["thread.item.done user_message", "stream_options"]);
    assert.deepEqual(textsOf(followed(events)), ["history", '["one","history"]']);
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
    const { events, response } = await chatkit.stream({ type: "threads.create", params: { input: quoting } });
    assert.equal(textsOf(followed(events))[0], "> a\n> b\n\ntell @ann");
    assert.equal((await server.runs.get(server.caller, response.headers.get("x-colloquy-run")!)).agent, "other");
    assert.match(
      await chatkit.refused({
        type: "threads.create",
        params: { input: input("x", { inference_options: { model: "none" } }) },
      }),
      /^404 .*none/,
    );
    const choosing = input("x", { inference_options: { tool_choice: { id: "none" } } });
    assert.match(
      await chatkit.refused({ type: "threads.create", params: { input: choosing } }),
      /^400 .*tool none not found/,
    );
    await (
      await chatkit.post({
        type: "threads.create",
        params: { input: input("x", { inference_options: { tool_choice: { id: "now" } } }) },
      })
    ).text();
    assert.deepEqual(server.model.requests.at(-1)?.toolChoice, { name: "now" });
  });

  test("a failed run is an error that may be retried; the retry leaves out what came after the message", async () => {
    const { thread, events } = await chatkit.create("fail once");
    assert.deepEqual(kinds(events).slice(-2), ["thread.item.done task", "error"]);
    const error = events.at(-1);
    assert.match(error?.type === "error" ? error.message : "", /^Run [0-9a-f-]{36} failed: .*I won't/);
    assert.equal(error?.type === "error" && error.allow_retry, true);
    const listed = await chatkit.items(thread.id);
    assert.deepEqual(comparable(listed), comparable(followed(events)));

    const retry = { type: "threads.retry_after_item", params: { thread_id: thread.id, item_id: listed[0]!.id } };
    const key = { "idempotency-key": `retry ${thread.id}` };
    const again = await chatkit.stream(retry, key);
    assert.deepEqual(kinds(again.events).slice(0, 3), [
      "thread.item.removed",
      "thread.item.done user_message",
      "stream_options",
    ]);
    assert.deepEqual(textsOf(await chatkit.items(thread.id)), ["fail once", "You said fail once"]);
    assert.equal(
      (await chatkit.stream(retry, key)).response.headers.get("x-colloquy-run"),
      again.response.headers.get("x-colloquy-run"),
    );

    await chatkit.say(thread.id, "history");
    const last = (await chatkit.items(thread.id, { limit: 1 }))[0]!;
    assert.deepEqual(textsOf([last]), ['["fail once","history"]']);
    assert.match(
      await chatkit.refused({ ...retry, params: { ...retry.params, item_id: last.id } }),
      /^404 item_not_found/,
    );
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
    assert.deepEqual(await chatkit.ask("threads.sync_custom_action", { thread_id, action }), {});
    gate.resolve();
    while ((await server.runs.get(server.caller, run)).status !== "cancelled")
      await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal((await chatkit.items(thread_id)).at(-1)?.type, "task");
    const { events } = await chatkit.stream({ type: "threads.custom_action", params: { thread_id, action } });
    assert.deepEqual(kinds(events), ["stream_options", "notice"]);
    assert.match(
      await chatkit.refused({ type: "threads.custom_action", params: { thread_id, action: { type: "x" } } }),
      /^400 unknown_action/,
    );
  });

  test("a message to a busy thread waits its turn", async () => {
    const first = chatkit.post({ type: "threads.create", params: { input: input("slow") } });
    const response = await first;
    const thread_id = response.headers.get("x-colloquy-thread")!;
    const second = chatkit.post({ type: "threads.add_user_message", params: { thread_id, input: input("next") } });
    const waiting = await second;
    gate.resolve();
    const events = eventsIn(await waiting.text());
    assert.deepEqual(kinds(events).slice(0, 3), ["thread.item.done user_message", "stream_options", "progress_update"]);
    assert.deepEqual(textsOf(followed(events)), ["next", "You said next"]);
    assert.deepEqual(textsOf(followed(eventsIn(await response.text()))), ["slow", "begun, done"]);
    assert.deepEqual(textsOf(await chatkit.items(thread_id)), ["slow", "begun, done", "next", "You said next"]);
  });

  test("the same Idempotency-Key tells the same thread again, from its start", async () => {
    const headers = { "idempotency-key": "chatkit-1" };
    const one = await chatkit.create("task once", {}, headers);
    const two = await chatkit.create("task once", {}, headers);
    assert.equal(two.thread.id, one.thread.id);
    assert.deepEqual(followed(two.events), followed(one.events));
    assert.equal((await server.database.query("select 1 from tasks where title = 'once'")).length, 1);
    assert.equal(
      (await chatkit.post({ type: "threads.create", params: { input: input("else") } }, headers)).status,
      422,
    );
  });

  test("what a crash cut off is removed, and told anew", async () => {
    const place = { runId: "018f0000-0000-7000-8000-00000000000a", threadId: "018f0000-0000-7000-8000-00000000000b" };
    const tell = createRunEncoder({ ...place, beginning: false });
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
});
