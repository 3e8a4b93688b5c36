import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createChatKit, followed, input, textsOf } from "../../../../test/chatkit.ts";
import { anyDatabase } from "../../../../test/databases.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { ChatKitPage, Thread, ThreadItem } from "./thread-items.ts";

const script = ({ messages }: ModelRequest): ScriptAnswer =>
  `You said ${String(messages.at(-1)!.content).split("\n").at(-1)}`;

anyDatabase((databases) => {
  let server: AgentServing;
  const chatkit = createChatKit(() => server.url);
  before(async () => {
    server = await serveAgents(script, {}, { database: await databases.open() });
  });
  after(() => server.close());

  test("lists: pages in both orders, with ids as cursors", async () => {
    await chatkit.create("before");
    const { thread } = await chatkit.create("1");
    for (const text of ["2", "3"]) await chatkit.say(thread.id, text);
    const all = await chatkit.items(thread.id);
    assert.deepEqual(textsOf(all), ["1", "You said 1", "2", "You said 2", "3", "You said 3"]);
    for (const order of ["asc", "desc"]) {
      const seen: ThreadItem[] = [];
      for (let after: string | undefined, pages = 1; ; pages++) {
        const page = await chatkit.ask<ChatKitPage<ThreadItem>>("items.list", {
          thread_id: thread.id,
          order,
          after,
          limit: 4,
        });
        seen.push(...page.data);
        assert.equal(page.has_more, pages === 1);
        assert.equal(page.after, page.has_more ? page.data.at(-1)!.id : undefined);
        if (!page.has_more) break;
        after = page.after;
      }
      assert.deepEqual(seen, order === "asc" ? all : all.toReversed());
    }
    assert.deepEqual((await chatkit.ask<Thread>("threads.get_by_id", { thread_id: thread.id })).items, {
      data: all,
      has_more: false,
    });
    assert.match(
      await chatkit.refused({ type: "items.list", params: { thread_id: thread.id, after: "msg_none" } }),
      /^404 item_not_found/,
    );

    const first = await chatkit.ask<ChatKitPage<Thread>>("threads.list", { limit: 1 });
    assert.deepEqual([first.data[0]!.id, first.has_more, first.after], [thread.id, true, thread.id]);
    const rest = await chatkit.ask<ChatKitPage<Thread>>("threads.list", { after: first.after });
    const others = await chatkit.ask<ChatKitPage<Thread>>("threads.list", { order: "asc" });
    assert.deepEqual(rest.data.toReversed(), others.data.slice(0, rest.data.length));
  });

  test("threads are renamed and deleted, items rated", async () => {
    const { thread, events } = await chatkit.create("hi");
    assert.equal(
      (await chatkit.ask<Thread>("threads.update", { thread_id: thread.id, title: "Greeting" })).title,
      "Greeting",
    );
    const { id } = followed(events)[1]!;
    const rate = (kind: string, item_ids = [id]) =>
      chatkit.ask("items.feedback", { thread_id: thread.id, item_ids, kind });
    assert.deepEqual(await rate("positive"), {});
    await rate("negative", [id, id]);
    assert.deepEqual(
      await server.database.query("select f.kind, i.kind as of from feedback f join items i on i.id = f.item_id"),
      [{ kind: "negative", of: "message" }],
    );
    assert.match(
      await chatkit.refused({
        type: "items.feedback",
        params: { thread_id: thread.id, item_ids: ["msg_x"], kind: "positive" },
      }),
      /^404/,
    );
    assert.deepEqual(await chatkit.ask("threads.delete", { thread_id: thread.id }), {});
    assert.match(
      await chatkit.refused({ type: "threads.get_by_id", params: { thread_id: thread.id } }),
      /^404 thread_not_found/,
    );
  });

  test("a file is attached in two steps: its place, then its bytes", async () => {
    type Made = { readonly id: string; readonly upload_descriptor: { readonly url: string; readonly method: string } };
    const text = '{"apples":3}';
    const made = await chatkit.ask<Made>("attachments.create", {
      name: "a.json",
      size: text.length,
      mime_type: "application/json",
    });
    const { url, method } = made.upload_descriptor;
    const attached = { type: "threads.create", params: { input: input("count", { attachments: [made.id] }) } };
    assert.match(await chatkit.refused(attached), /^409 file_incomplete/);
    assert.equal((await fetch(url, { method, body: text })).status, 200);
    const { events } = await chatkit.stream(attached);
    const thread = events.flatMap((event) => (event.type === "thread.created" ? [event.thread] : []))[0]!;
    const [message] = await chatkit.items(thread.id);
    assert.ok(message?.type === "user_message");
    assert.deepEqual(message.attachments, [
      { id: made.id, type: "file", name: "a.json", mime_type: "application/json" },
    ]);
    const asked = String(server.model.requests.at(-1)!.messages.at(-1)!.content);
    assert.match(asked, /^count\n[^]*keys: \["apples"\]/);
    assert.deepEqual(await chatkit.ask("attachments.delete", { attachment_id: made.id }), {});
    assert.match(await chatkit.refused(attached), /^404 file_not_found/);
  });

  test("what can't be right is refused, before anything is done", async () => {
    assert.match(
      await chatkit.refused({ type: "threads.destroy", params: {} }),
      /^400 unknown_operation .*threads\.create/,
    );
    assert.match(await chatkit.refused({}), /^400 unknown_operation/);
    assert.match(await chatkit.refused({ type: "threads.create", params: {} }), /^400 invalid_input params\.input: /);
    assert.match(
      await chatkit.refused({ type: "threads.create", params: { input: input(" ") } }),
      /^400 .*has no text/,
    );
    assert.match(
      await chatkit.refused({ type: "threads.create", params: { input: input("x", { attachments: ["atc_1"] }) } }),
      /^404 file_not_found/,
    );
    const large = { name: "a", size: 2 ** 30, mime_type: "text/plain" };
    assert.match(await chatkit.refused({ type: "attachments.create", params: large }), /^413 file_too_large/);
    assert.match(await chatkit.refused({ type: "input.transcribe", params: {} }), /^400 transcription_not_supported/);
    assert.match(
      await chatkit.refused({ type: "items.list", params: { thread_id: "thr_1" } }),
      /^404 thread_not_found/,
    );
    assert.match(
      await chatkit.refused({ type: "threads.list", params: { limit: 1000 } }),
      /^400 invalid_input params\.limit/,
    );
  });

  test("a long thread is read in pages, its later part by its cursor", async () => {
    const history = Array.from({ length: 450 }, (_, index) => ({
      id: newId(),
      kind: "message" as const,
      body: { role: "user" as const, content: `${index}` },
    }));
    const { runId, threadId } = await server.runs.start(server.caller, {
      agent: "assistant",
      history,
      message: { content: "450" },
    });
    await (await fetch(`${server.url}/api/runs/${runId}/events`)).text();
    const thread_id = "thr_" + threadId.replaceAll("-", "");
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await chatkit.ask<ChatKitPage<ThreadItem>>("items.list", {
        thread_id,
        order: "asc",
        after,
        limit: 100,
      });
      seen.push(...textsOf(page.data));
      if (!page.has_more) break;
      after = page.after;
    }
    assert.deepEqual(seen, [...Array.from({ length: 451 }, (_, index) => `${index}`), "You said 450"]);
    const newest = await chatkit.items(threadId, { limit: 2 });
    assert.deepEqual(textsOf(newest), ["You said 450", "450"]);
  });
});
