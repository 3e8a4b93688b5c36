import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";
import type { Caller } from "../../../protocol/base/callers.ts";
import { newId } from "../../../protocol/base/ids.ts";
import { textOf } from "../../../protocol/threads/items.ts";
import type { StartInput } from "../../../run/runs.ts";

let server: AgentServing;
before(async () => {
  server = await serveAgents(
    ({ messages }) => JSON.stringify(messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))),
    {},
    {
      models: [
        { id: "pair", fallback: ["demo", "script"] },
        { id: "away", provider: "openai", model: "m", baseUrl: "http://127.0.0.1:9/v1", apiKey: "k" },
        { id: "broken", fallback: ["away", "script"] },
      ],
      agents: [agentSchema.parse({ id: "lost", model: "gone" })],
    },
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
  const items = await server.threads.listItems(server.caller, threadId, {});
  const own = items.filter((item) => item.kind === "message" && item.runId === runId);
  const [asked, answered] = own.map((item) => ({
    id: item.id,
    text: item.kind === "message" ? textOf(item.body.content) : "",
  }));
  return { threadId, asked: asked!, answer: JSON.parse(answered!.text) as string[], items };
}

test("a thread gets another title", async () => {
  const thread = await server.threads.createThread(server.caller, { title: "old" });
  const rename = (id: string, body: object) =>
    fetch(`${server.url}/api/threads/${id}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const renamed = await rename(thread.id, { title: "new" });
  assert.equal(renamed.status, 200);
  assert.equal(((await renamed.json()) as { title: string }).title, "new");
  assert.equal((await server.threads.getThread(server.caller, thread.id)).title, "new");
  assert.equal((await rename(newId(), { title: "new" })).status, 404);
  assert.equal((await rename(thread.id, { title: 1 })).status, 400);
});

test("a thread's settings are read and replaced by its own route", async () => {
  const { id } = await server.threads.createThread(server.caller, {});
  const at = `${server.url}/api/threads/${id}`;
  const send = async (settings: unknown) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(at, { method: "PATCH", headers, body: JSON.stringify({ settings }) });
    return { status: answer.status, ...((await answer.json()) as { settings?: object; error?: { code: string } }) };
  };
  const set = { model: "script", temperature: 0.3, toolsOff: ["now"] };
  assert.deepEqual((await send(set)).settings, set);
  assert.deepEqual(((await (await fetch(at)).json()) as { settings: object }).settings, set);
  assert.deepEqual((await send({})).settings, {});
  for (const wrong of [
    null,
    { temperature: 3 },
    { temprature: 1 },
    { maxTokens: 0 },
    { model: "" },
    { toolsOff: "now" },
  ])
    assert.equal((await send(wrong)).status, 400, JSON.stringify(wrong));
  assert.equal((await send({ instructions: "x".repeat(20_001) })).status, 400);
  const unknown = await send({ model: "gone" });
  assert.deepEqual([unknown.status, unknown.error?.code], [422, "model_not_found"]);
  assert.deepEqual(((await (await fetch(at)).json()) as { settings: object }).settings, {});
});

test("items are read around one of them", async () => {
  const { threadId } = await ask({ content: "first" });
  for (const content of ["second", "third"]) await ask({ threadId, content });
  const items = await server.threads.listItems(server.caller, threadId, {});
  const around = async (id: string, more = "") => {
    const answer = await fetch(`${server.url}/api/threads/${threadId}/items?around=${id}${more}`);
    const { data = [], next } = (await answer.json()) as { data?: { seq: number }[]; next?: number };
    return { status: answer.status, seqs: data.map(({ seq }) => seq), next };
  };
  assert.deepEqual(await around(items[4]!.id, "&limit=3"), { status: 200, seqs: [4, 5, 6], next: 6 });
  assert.deepEqual((await around(items[0]!.id, "&limit=2")).seqs, [1, 2]);
  assert.deepEqual((await around(items.at(-1)!.id, "&limit=4")).next, undefined);
  const large = [5, 6, 7].map((at) => ({ at, id: newId() }));
  for (const { at, id } of large)
    await server.database.query(
      `insert into items (thread_id, seq, id, user_id, kind, author, body)
       values ($1, $2, $3, $4, 'message', 'x', jsonb_build_object('role', 'user', 'content', repeat(md5($3::uuid::text), 100000)))`,
      [threadId, items.at(-1)!.seq + at, id, server.caller.userId],
    );
  assert.equal((await around(large[2]!.id)).seqs[0], items.at(-1)!.seq + 7);
  assert.equal((await around(newId())).status, 404);
  assert.equal((await around(items[0]!.id, "&after=2")).status, 400);
});

test("the last used come first, page by page; an archived one has a list of its own", async () => {
  const ask = async (path: string, body?: object) => {
    const method = body ? (path.endsWith("messages") ? "POST" : "PATCH") : "GET";
    const headers = { "content-type": "application/json" };
    const response = await fetch(server.url + path, { method, ...(body && { headers, body: JSON.stringify(body) }) });
    return (await response.json()) as { readonly data: readonly { readonly id: string }[] };
  };
  const made = [];
  for (const title of ["one", "two", "three"])
    made.push((await server.threads.createThread(server.caller, { title })).id);
  await ask(`/api/threads/${made[0]}`, { title: "one, used" });
  const used = async (query: string) => (await ask(`/api/threads?sort=used&${query}`)).data.map(({ id }) => id);
  assert.deepEqual(await used("limit=2"), [made[0], made[2]]);
  assert.deepEqual(await used(`limit=1&before=${made[2]}`), [made[1]]);
  await ask(`/api/threads/${made[0]}`, { archived: true });
  assert.deepEqual(await used("limit=1"), [made[2]]);
  assert.deepEqual(await used("archived=true"), [made[0]]);
  for (const id of made) await server.threads.deleteThread(server.caller, id);
});

test("a message gets other words without a run", async () => {
  const { threadId, asked } = await ask({ content: "one" });
  const edit = (content: string) =>
    fetch(`${server.url}/api/threads/${threadId}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: { content }, instead: asked.id }),
    });
  assert.equal((await edit("  ")).status, 400);
  const edited = await edit("uno");
  assert.equal(edited.status, 201);
  const { id } = (await edited.json()) as { id: string };
  const branch = await server.threads.listBranch(server.caller, threadId);
  assert.deepEqual([branch[0]!.id, branch.length], [id, 2]);
});

test("everybody is told how the models do; a chain does as the first of its members that answers", async () => {
  await ask({ content: "one" });
  await server.database.query(
    `insert into model_calls (id, asked, model, provider, started_at, total_ms, error)
     values (gen_random_uuid(), 'demo', 'demo', 'demo', now(), 1, 'down')`,
  );
  const { data } = (await (await fetch(`${server.url}/api/models`)).json()) as { data: readonly { id: string }[] };
  const of = (name: string) => data.find(({ id }) => id === name);
  const { state, ...rest } = of("default") as { id: string; state?: string };
  assert.deepEqual(rest, { id: "default", provider: "fallback", demo: false, members: ["script"], mayName: true });
  assert.match(state!, /^(ready|untried)$/);
  assert.deepEqual(
    [of("demo"), of("pair")].map((model) => (model as { state?: string }).state),
    ["failing", state],
  );
  assert.equal((of("demo") as { demo?: boolean }).demo, true);
  // Not which others there are.
  assert.equal((of("gone") as { reason?: string }).reason, 'Model "gone" not found.');
});

test("threads are listed in both orders, from a place on", async () => {
  const made = [];
  for (const title of ["a", "b", "c"]) made.push((await server.threads.createThread(server.caller, { title })).id);
  const list = async (page: Parameters<typeof server.threads.listThreads>[1]) =>
    (await server.threads.listThreads(server.caller, page)).map(({ id }) => id);
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

test("an answer asked for again from another model names the one that really wrote it", async () => {
  const first = await ask({ content: "who are you?" });
  const of = async (threadId: string) => {
    const items = await server.threads.listBranch(server.caller, threadId);
    const answer = items.findLast((item) => item.kind === "message" && item.body.role === "assistant");
    return answer?.kind === "message" ? answer.body.model : undefined;
  };
  assert.equal(await of(first.threadId), "script", "not `default`, the chain that it was asked by");
  for (const [model, wrote] of [
    ["broken", "script"],
    ["demo", "demo"],
  ] as const) {
    const answer = await fetch(`${server.url}/api/threads/${first.threadId}/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent: "assistant", again: first.asked.id, options: { model } }),
    });
    const { id } = (await answer.json()) as { id: string };
    await (await fetch(`${server.url}/api/runs/${id}/events`)).text();
    assert.equal(await of(first.threadId), wrote);
  }
});
