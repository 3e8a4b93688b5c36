import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { itemSchema } from "../../../protocol/threads/item-schema.ts";
import type { ListedRunView } from "../../../protocol/threads/run-trace.ts";
import { type StartedRun, runSchema } from "../../../protocol/threads/run-shapes.ts";
import { threadSchema } from "../../../protocol/threads/threads.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { type Client, createClient } from "../../../client/client.ts";
import type { EventWithCursor } from "../../../client/events.ts";
import { createSseParser } from "../../../client/sse.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { newId } from "../../../protocol/base/ids.ts";
import { serve } from "../../../../test/serve.ts";

let gate = Promise.withResolvers<void>();

function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  if (last.content === "weather?") return [{ call: "weather", arguments: { city: "Oslo" } }];
  if (last.role === "tool") return [{ text: "Added." }, { finish: "stop", opaque: { signature: "SECRET-OPAQUE" } }];
  if (last.content === "hang") return [{ text: "begun" }, { hang: true }];
  if (last.content === "slow") return [{ text: "one" }, { gate: () => gate.promise }, { text: " two" }];
  return [
    { reasoning: "hm" },
    { text: "Let me " },
    { text: "see." },
    { call: "add_task", arguments: { title: "x" } },
    { finish: "calls" },
  ];
}

let server: AgentServing;
let client: Client;
before(async () => {
  server = await serveAgents(script);
  client = createClient({ url: server.url });
});
after(() => server.close());

async function start(content: string): Promise<StartedRun> {
  const thread = await client.createThread({ title: "test" });
  return client.startRun(thread.id, { agent: "assistant", content });
}

async function all(following: AsyncIterable<EventWithCursor>): Promise<EventWithCursor[]> {
  const seen: EventWithCursor[] = [];
  for await (const followed of following) seen.push(followed);
  return seen;
}

const textIn = (followed: readonly EventWithCursor[]) =>
  followed.map(({ event }) => (event.type === "text-delta" ? event.text : "")).join("");

test("threads are made, listed, read and deleted", async () => {
  const id = newId();
  const thread = await client.createThread({ id, title: "Shopping" });
  assert.equal(thread.id, id);
  assert.equal(thread.title, "Shopping");
  assert.deepEqual(await client.thread(id), thread);
  assert.ok((await client.threads({ limit: 5 })).some((listed) => listed.id === id));
  assert.deepEqual(await client.items(id), []);
  await client.deleteThread(id);
  await assert.rejects(client.thread(id), { status: 404 });
});

test("a run is accepted, followed to its end, and its items are there", async () => {
  const started = await start("go");
  const seen = await all(client.follow(started.id, { cursor: started.cursor }));
  assert.equal(textIn(seen), "Let me see.Added.");
  const types = new Set(seen.map(({ event }) => event.type));
  for (const type of ["reasoning-delta", "message", "call-start", "call-end", "run-end"])
    assert.ok(types.has(type as never), type);
  assert.equal(seen.at(-1)?.event.type, "run-end");

  const { questions, ...run } = await client.run(started.id);
  assert.equal(run.status, "done");
  assert.deepEqual(questions, []);
  const [listed, ...others] = await client.runs({ thread: started.threadId, status: "done" });
  const { text, used, place, ...same } = listed as ListedRunView;
  assert.deepEqual([same, others], [run, []]);
  assert.deepEqual([text, used!.steps, used!.toolCalls], ["go", 2, 1]);
  assert.equal(place?.kind, "conversation");
  const items = await client.items(started.threadId);
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ["message", "message", "call", "result", "message", "state"],
  );
  assert.deepEqual(
    (await client.items(started.threadId, { order: "desc", limit: 1 })).map(({ seq }) => seq),
    [items.length],
  );
  assert.deepEqual(
    (await client.items(started.threadId, { after: 1, before: 4 })).map(({ seq }) => seq),
    [2, 3],
  );
  const stored = await server.threads.listItems(server.caller, started.threadId, {});
  assert.match(JSON.stringify(stored), /SECRET-OPAQUE/);
  assert.doesNotMatch(JSON.stringify([seen, items]), /SECRET/);
});

test("a message without a word, a picture or a file is refused", async () => {
  const { id } = await client.createThread();
  for (const content of ["", " \n", [{ type: "text" as const, text: "" }]])
    await assert.rejects(client.startRun(id, { agent: "assistant", content }), {
      status: 400,
      message: /The message is empty: write something, or send files with it/,
    });
});

test("answers have the shape that the document tells", async () => {
  const started = await start("go");
  await all(client.follow(started.id));
  threadSchema.parse(await client.thread(started.threadId));
  runSchema.parse(await client.run(started.id));
  for (const item of await client.items(started.threadId)) itemSchema.parse(item);
});

test("every event's cursor continues exactly behind it", async () => {
  const started = await start("go");
  const whole = await all(client.follow(started.id, { cursor: started.cursor }));
  const tell = (followed: readonly EventWithCursor[]) =>
    followed.filter(({ event }) => "seq" in event).map(({ event }) => event);
  for (const [index, { cursor }] of whole.entries()) {
    const rest = await all(client.follow(started.id, { cursor }));
    assert.deepEqual(tell(rest), tell(whole.slice(index + 1)));
    assert.equal(textIn(rest), textIn(whole.slice(index + 1)));
  }
});

test("a run that has ended before the cursor is over: 204", async () => {
  const started = await start("go");
  const last = (await all(client.follow(started.id))).at(-1)!;
  const response = await fetch(`${server.url}/api/runs/${started.id}/events`, {
    headers: { "last-event-id": last.cursor },
  });
  assert.equal(response.status, 204);
  assert.deepEqual(await all(client.follow(started.id, { cursor: last.cursor })), []);
});

test("a stream that is taken up again has no gap and no repeat", async () => {
  gate = Promise.withResolvers();
  const started = await start("slow");
  let cursor = started.cursor;
  let text = "";
  const leaving = new AbortController();
  for await (const { event, cursor: place } of client.follow(started.id, { cursor, signal: leaving.signal })) {
    cursor = place;
    if (event.type === "text-delta") text += event.text;
    if (text === "one") leaving.abort();
  }
  gate.resolve();
  text += textIn(await all(client.follow(started.id, { cursor })));
  assert.equal(text, "one two");
});

test("the client goes on by itself when the server comes back", async () => {
  gate = Promise.withResolvers();
  const first = await serve(server.services);
  const port = Number(new URL(first.url).port);
  const following = createClient({ url: first.url });
  const started = await start("slow");
  let text = "";
  let again: typeof first | undefined;
  for await (const { event } of following.follow(started.id, { cursor: started.cursor })) {
    if (event.type === "text-delta") text += event.text;
    if (text === "one" && !again) {
      await first.close();
      again = await serve(server.services, port);
      gate.resolve();
    }
  }
  assert.equal(text, "one two");
  await again?.close();
});

test("a thread's stream tells of all its runs and stays open", async () => {
  const started = await start("go");
  const leaving = new AbortController();
  const ended: string[] = [];
  let second: StartedRun | undefined;
  for await (const { event } of client.followThread(started.threadId, { signal: leaving.signal })) {
    if (event.type !== "run-end") continue;
    ended.push(event.run);
    if (second) leaving.abort();
    else second = await client.startRun(started.threadId, { agent: "assistant", content: "again" });
  }
  assert.deepEqual(ended, [started.id, second!.id]);
});

test("cancel ends a run, and leaves an ended one as it is", async () => {
  const started = await start("hang");
  for await (const { event } of client.follow(started.id)) if (event.type === "text-delta") break;
  await client.cancel(started.id);
  const seen = await all(client.follow(started.id));
  const end = seen.at(-1)!.event;
  assert.ok(end.type === "run-end" && end.status === "cancelled");
  assert.equal((await client.cancel(started.id)).status, "cancelled");
});

test("the same message id or Idempotency-Key answers the first run", async () => {
  const thread = await client.createThread();
  const input = { agent: "assistant", content: "go", messageId: newId(), idempotencyKey: newId() };
  const first = await client.startRun(thread.id, input);
  const again = await client.startRun(thread.id, input);
  assert.equal(again.id, first.id);
  assert.equal(again.replayed, true);
  const { idempotencyKey: _key, ...byMessage } = input;
  assert.equal((await client.startRun(thread.id, byMessage)).id, first.id);
  await assert.rejects(client.startRun(thread.id, { ...input, content: "other" }), { status: 422 });
  await all(client.follow(first.id));
});

test("large items are listed in several pages, each telling where the next begins", async () => {
  const thread = await client.createThread();
  for (let n = 0; n < 3; n++) {
    const content = `${n} ${"x".repeat(2_200_000)}`;
    await all(client.follow((await client.startRun(thread.id, { agent: "assistant", content })).id));
  }
  const { lastSeq } = await client.thread(thread.id);
  for (const [order, key] of [
    ["asc", "after"],
    ["desc", "before"],
  ] as const) {
    const seen: number[] = [];
    let pages = 0;
    for (let place = ""; ; pages++) {
      const answer = await fetch(`${server.url}/api/threads/${thread.id}/items?limit=500&order=${order}${place}`);
      const { data, next } = (await answer.json()) as { data: { seq: number }[]; next?: number };
      seen.push(...data.map(({ seq }) => seq));
      if (next === undefined) break;
      place = `&${key}=${next}`;
    }
    assert.equal(pages, 1);
    const expected = Array.from({ length: lastSeq }, (_, index) => index + 1);
    assert.deepEqual(seen, order === "asc" ? expected : expected.reverse());
  }
});

test("who follows a run without a cursor begins at its first item, however long its thread", async () => {
  const first = await start("go");
  await all(client.follow(first.id));
  const second = await client.startRun(first.threadId, { agent: "assistant", content: "go" });
  await all(client.follow(second.id));
  const from: number[] = [];
  const watched = await serve({
    ...server.services,
    runs: {
      ...server.runs,
      follow(target, cursor, sink) {
        from.push(cursor.seq);
        return server.runs.follow(target, cursor, sink);
      },
    },
    threads: { ...server.threads, listItems: () => assert.fail("the thread is read") },
  });
  const watching = createClient({ url: watched.url });
  const whole = await all(watching.follow(second.id));
  assert.equal(whole.at(0)?.event.type, "run-start");
  assert.equal(whole.at(-1)?.event.type, "run-end");
  assert.deepEqual(await all(watching.follow(second.id, { cursor: whole.at(-1)!.cursor })), []);
  assert.deepEqual(from, [Number(second.cursor)]);
  await watched.close();
});

test("bad cursors, agents and ids are refused", async () => {
  const thread = await client.createThread();
  for (const cursor of ["x", "1;y", "-1", `0;${newId()}/%E0/1:1`, "1"])
    await assert.rejects(all(client.followThread(thread.id, { cursor })), { status: 400, code: "invalid_cursor" });
  await assert.rejects(all(client.follow(newId())), { status: 404 });
  await assert.rejects(client.startRun(thread.id, { agent: "nobody", content: "x" }), { status: 404 });
  await assert.rejects(client.startRun(newId(), { agent: "assistant", content: "x" }), { status: 404 });
});

test("agents are listed without their instructions, tools by name", async () => {
  const agents = await client.agents();
  assert.deepEqual(
    agents.map(({ id }) => id),
    ["analysis", "assistant"],
  );
  assert.doesNotMatch(JSON.stringify(agents), /SECRET/);
  const tools = (await (await fetch(server.url + "/api/tools/list")).json()) as {
    data: { name: string; effect: string }[];
  };
  assert.ok(tools.data.some(({ name, effect }) => name === "add_task" && effect === "write"));
});

test("at stop, followers are told and their streams end", async () => {
  const leaving = await serve(server.services);
  const thread = await client.createThread();
  const response = await fetch(`${leaving.url}/api/threads/${thread.id}/events`);
  const reading = response.text();
  await leaving.close();
  const text = await reading;
  assert.match(text, /: the server stops/);
  assert.deepEqual(createSseParser()(text), []);
});

test("a run waits for the client's own tool, and its result goes on with it", async () => {
  const thread = await client.createThread({ title: "tools" });
  const clientTools = [{ name: "weather", description: "of a city", parameters: { type: "object" } }];
  const started = await client.startRun(thread.id, {
    agent: "assistant",
    content: "weather?",
    options: { clientTools },
  });
  let call = "";
  for await (const { event } of client.follow(started.id, { cursor: started.cursor })) {
    if (event.type === "call-start") call = event.item.id;
    if (event.type === "run-wait") break;
  }
  const bring = (run: string, content: string) =>
    fetch(`${server.url}/api/runs/${run}/results`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ results: [{ call, content }] }),
    });
  assert.equal((await bring((await start("x")).id, "rain")).status, 400);
  const brought = await bring(started.id, "rain");
  assert.equal(brought.status, 200);
  const { cursor } = (await brought.json()) as { cursor: string };
  const rest = await all(client.follow(started.id, { cursor }));
  assert.deepEqual(rest.at(-1)?.event.type, "run-end");
  assert.equal((await bring(started.id, "sun")).status, 200);
});
