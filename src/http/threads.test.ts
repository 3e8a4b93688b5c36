import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../test/serve-agents.ts";
import type { Caller } from "../protocol/callers.ts";
import { newId } from "../protocol/ids.ts";
import { textOf } from "../protocol/items.ts";
import type { StartInput } from "../run/runs.ts";

let server: AgentServing;
before(async () => {
  server = await serveAgents(({ messages }) =>
    JSON.stringify(messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))),
  );
});
after(() => server.close());

async function ask(input: Pick<StartInput, "threadId" | "instead"> & { readonly content: string }) {
  const { content, ...place } = input;
  const { runId, threadId } = await server.runs.start(server.caller, {
    ...place,
    agent: "assistant",
    message: { content },
  });
  await (await fetch(`${server.url}/api/runs/${runId}/events`)).text();
  const items = await server.runs.listItems(server.caller, threadId, {});
  const own = items.filter((item) => item.kind === "message" && item.runId === runId);
  const [asked, answered] = own.map((item) => ({
    id: item.id,
    text: item.kind === "message" ? textOf(item.body.content) : "",
  }));
  return { threadId, asked: asked!, answer: JSON.parse(answered!.text) as string[], items };
}

test("a thread gets another title", async () => {
  const thread = await server.runs.createThread(server.caller, { title: "old" });
  const rename = (id: string, body: object) =>
    fetch(`${server.url}/api/threads/${id}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const renamed = await rename(thread.id, { title: "new" });
  assert.equal(renamed.status, 200);
  assert.equal(((await renamed.json()) as { title: string }).title, "new");
  assert.equal((await server.runs.getThread(server.caller, thread.id)).title, "new");
  assert.equal((await rename(newId(), { title: "new" })).status, 404);
  assert.equal((await rename(thread.id, { title: 1 })).status, 400);
});

test("threads are listed in both orders, from a place on", async () => {
  const made = [];
  for (const title of ["a", "b", "c"]) made.push((await server.runs.createThread(server.caller, { title })).id);
  const list = async (page: Parameters<typeof server.runs.listThreads>[1]) =>
    (await server.runs.listThreads(server.caller, page)).map(({ id }) => id);
  assert.deepEqual(await list({ limit: 2 }), [made[2], made[1]]);
  assert.deepEqual(await list({ before: made[2]!, limit: 1 }), [made[1]]);
  assert.deepEqual(await list({ after: made[0]!, order: "asc" }), [made[1], made[2]]);
  assert.deepEqual(await list({ after: made[0]!, before: made[2]! }), [made[1]]);
});

test("a message in place of another begins a branch: what came after that one is kept, but told to no model", async () => {
  const first = await ask({ content: "one" });
  const { threadId } = first;
  const second = await ask({ threadId, content: "two" });
  assert.deepEqual(second.answer, ["one", "two"]);

  const instead = await ask({ threadId, instead: second.asked.id, content: "another two" });
  assert.deepEqual(instead.answer, ["one", "another two"]);
  assert.equal(instead.items.length, second.items.length + 3);
  assert.deepEqual((await ask({ threadId, content: "three" })).answer, ["one", "another two", "three"]);

  const anew = await ask({ threadId, instead: first.asked.id, content: "from the start" });
  assert.deepEqual(anew.answer, ["from the start"]);
});

test("only a user's own message of the thread can be replaced", async () => {
  const one = await ask({ content: "one" });
  const other = await ask({ content: "other" });
  const stranger: Caller = { ...server.caller, userId: newId() };
  const answerId = one.items.find((item) => item.kind === "message" && item.body.role === "assistant")!.id;
  for (const [caller, instead] of [
    [server.caller, other.asked.id],
    [server.caller, answerId],
    [server.caller, "none"],
    [stranger, one.asked.id],
  ] as const)
    await assert.rejects(
      server.runs.start(caller, { agent: "assistant", threadId: one.threadId, instead, message: { content: "x" } }),
      { status: 404 },
    );
});
