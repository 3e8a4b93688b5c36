import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { createChatKit, comparable, followed, kinds, textsOf } from "../../../../test/chatkit.ts";
import { anyDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import { itemIdOfCall } from "../../../protocol/threads/items.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { defineTool } from "../../../tools/core/define-tool.ts";
import type { StreamEvent } from "./stream-events.ts";

/** Answers by what the last message says. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : "parts";
  if (last.role === "tool") return `Result: ${said.slice(0, 80)}`;
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
  return `You said ${said}`;
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

anyDatabase((databases) => {
  let server: AgentServing;
  const chatkit = createChatKit(() => server.url);
  before(async () => {
    server = await serveAgents(script, {}, { tools: [wipe], database: await databases.open() });
  });
  after(() => server.close());

  /** The question that a new thread waits for. */
  async function asked() {
    const { thread, events } = await chatkit.create("wipe");
    const question = (await chatkit.items(thread.id)).find((item) => item.type === "structured_input")!;
    const answer = (values: readonly string[], status = "answered") => ({
      type: "threads.add_structured_input",
      params: { thread_id: thread.id, item_id: question.id, input: { status, answers: { [question.id]: { values } } } },
    });
    return { thread, events, question, answer };
  }

  test("a client's tool: its call ends the stream, its output goes on with the run", async () => {
    const metadata = { client_tools: [{ name: "beep", parameters: { type: "object" } }] };
    const { thread, events, response } = await chatkit.create("both", metadata);
    const asked = events.at(-1);
    assert.ok(asked?.type === "thread.item.done" && asked.item.type === "client_tool_call");
    const { status, name, arguments: given, call_id: callId } = asked.item;
    assert.deepEqual([status, name, given], ["pending", "beep", { n: 1 }]);
    assert.ok(itemIdOfCall(callId));
    assert.deepEqual((await chatkit.items(thread.id)).at(-1), asked.item);

    const bring = { type: "threads.add_client_tool_output", params: { thread_id: thread.id, result: { ok: true } } };
    const next = await chatkit.stream(bring);
    assert.equal(next.response.headers.get("x-colloquy-run"), response.headers.get("x-colloquy-run"));
    assert.equal(next.events[0]?.type, "stream_options");
    assert.deepEqual(textsOf(followed(next.events)), ['Result: {"ok":true}']);
    const call = (await chatkit.items(thread.id)).find((item) => item.type === "client_tool_call");
    assert.deepEqual(call && [call.id, call.status, call.output], [asked.item.id, "completed", { ok: true }]);

    assert.deepEqual(textsOf(followed((await chatkit.stream(bring)).events)), ['Result: {"ok":true}']);
    assert.match(
      await chatkit.refused({ ...bring, params: { ...bring.params, result: "else" } }),
      /^409 no_pending_call/,
    );
  });

  test("two client calls of one answer are asked for one after the other", async () => {
    const { thread, events } = await chatkit.create("twice", { client_tools: [{ name: "beep" }] });
    const bring = (result: string) =>
      chatkit.stream({ type: "threads.add_client_tool_output", params: { thread_id: thread.id, result } });
    const pending = (told: readonly StreamEvent[]) =>
      followed(told).flatMap((item) => (item.type === "client_tool_call" ? [item.arguments] : []));
    assert.deepEqual(pending(events), [{ n: 1 }]);
    const second = await bring("first");
    assert.deepEqual(pending(second.events), [{ n: 2 }]);
    assert.deepEqual(kinds(second.events), ["stream_options", "thread.item.done client_tool_call"]);
    assert.match(textsOf(followed((await bring("second")).events))[0]!, /^Result: /);
    const listed = (await chatkit.items(thread.id)).filter((item) => item.type === "client_tool_call");
    assert.deepEqual(
      listed.map(({ output }) => output),
      ["first", "second"],
    );
  });

  test("a new message gives up a client's call that nobody answers", async () => {
    const { thread } = await chatkit.create("both", { client_tools: [{ name: "beep" }] });
    const { events } = await chatkit.say(thread.id, "never mind");
    assert.equal(textsOf(followed(events)).at(-1), "You said never mind");
  });

  test("a question is a structured input; its answer goes on with the run", async () => {
    const { thread, events } = await chatkit.create("wipe");
    assert.deepEqual(kinds(events).slice(3), [
      "thread.item.added workflow",
      "thread.item.done structured_input",
      "thread.item.done workflow",
      "notice",
    ]);
    const notice = events.at(-1);
    assert.match(notice?.type === "notice" ? notice.message : "", /colloquy answer/);
    const asked = (await chatkit.items(thread.id)).find((item) => item.type === "structured_input")!;
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
    const next = await chatkit.stream(answer("allow"));
    assert.deepEqual(kinds(next.events).slice(0, 3), [
      "stream_options",
      "thread.item.replaced structured_input",
      "thread.item.replaced workflow",
    ]);
    assert.deepEqual(textsOf(followed(next.events)), ["Result: wiped a"]);
    const listed = await chatkit.items(thread.id);
    assert.deepEqual(comparable(followed(next.events, followed(events))), comparable(listed));
    assert.equal(listed.find((item) => item.type === "structured_input")?.status, "answered");
    assert.deepEqual(textsOf(followed((await chatkit.stream(answer("allow"))).events)), ["Result: wiped a"]);
    assert.match(await chatkit.refused(answer("deny")), /^409 already_decided/);
  });

  test("what is none of a question's options is the reason of a denial; a skipped one is denied", async () => {
    for (const [status, values, said] of [
      ["answered", ["not this one"], /Result: .*not this one/],
      ["skipped", [], /Result: .*skipped/],
    ] as const) {
      const { thread } = await chatkit.create("wipe");
      const asked = (await chatkit.items(thread.id)).find((item) => item.type === "structured_input")!;
      const params = {
        thread_id: thread.id,
        item_id: asked.id,
        input: { status, answers: { [asked.id]: { values } } },
      };
      const { events } = await chatkit.stream({ type: "threads.add_structured_input", params });
      assert.match(textsOf(followed(events))[0] ?? JSON.stringify(events), said);
    }
  });

  test("a message behind a run that waits for a person waits too, and its stream says for what", async () => {
    const { thread, answer } = await asked();
    const { events } = await chatkit.say(thread.id, "next");
    assert.deepEqual(kinds(events), ["thread.item.done user_message", "stream_options", "notice"]);
    const notice = events.at(-1);
    assert.match(notice?.type === "notice" ? notice.message : "", /queued, as run .*Answer \(allow, deny\)/s);
    await chatkit.stream(answer(["allow"]));
    const isAnswered = async () => textsOf(await chatkit.items(thread.id)).includes("You said next");
    while (!(await isAnswered())) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
