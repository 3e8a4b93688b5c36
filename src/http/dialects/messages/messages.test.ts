import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountServices, asker, machineToken } from "../../../../test/accounts.ts";
import { serve, type Serving } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { createScripted, type ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { callIdOf } from "../../../protocol/threads/items.ts";
import { createApiKey } from "../../../store/people/api-keys.ts";
import { createUser } from "../../../store/people/users.ts";

let gate = Promise.withResolvers<void>();

/** Answers by what the last message says. */
function script({ messages, tools = [] }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : "parts";
  const names = tools.map(({ name }) => name);
  if (said.startsWith("task "))
    return [{ text: "One moment." }, { call: "add_task", arguments: { title: said.slice(5) } }];
  if (said === "beep")
    return [{ text: "Now:" }, { call: "beep", arguments: { n: 1 } }, { call: "beep", arguments: {} }];
  if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
  if (said === "count") return [{ text: "one, two" }, { finish: "stop", stoppedBy: "three" }];
  if (said === "fail") return [{ error: "refused", message: "I won't" }];
  return [
    {
      text: `${messages
        .filter(({ role }) => role !== "system")
        .map(({ role, content }) => `${role}: ${String(content)}`)
        .join("; ")}; may ${names.includes("far") ? "far" : "near"}`,
    },
  ];
}

let server: AgentServing;
let guarded: Serving;
let key: string;
before(async () => {
  server = await serveAgents(
    script,
    {
      thinks: createScripted(() => [
        { reasoning: "hm" },
        { text: "A" },
        { text: '"B"' },
        { call: "beep", arguments: {} },
      ]),
    },
    { approval: { ask: ["add_task"] } },
  );
  guarded = await serve({ ...server.services, ...(await accountServices(server.database)) });
  const user = await createUser(server.database.query, { name: "ann", role: "user" });
  key = (await createApiKey(server.database.query, { userId: user.id, label: "test", scopes: ["*"] })).text;
});
after(async () => {
  await guarded.close();
  await server.close();
});

type Headers = Readonly<Record<string, string>>;
type Block = { readonly type: string; readonly text?: string; readonly id?: string; readonly name?: string };
type Body = {
  readonly id: string;
  readonly content: readonly Block[];
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly type: string;
  readonly error?: { readonly type: string; readonly message: string; readonly details?: object };
  readonly request_id?: string;
};
const post = (body: unknown, { url = server.url, path = "/v1/messages", headers = {} as Headers } = {}) =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
async function ask(more: object, options: Parameters<typeof post>[1] = {}) {
  const response = await post({ model: "assistant", max_tokens: 100, ...more }, options);
  const body = (await response.json()) as Body;
  return { response, body, status: response.status, text: body.content?.map(({ text = "" }) => text).join("") };
}
const says = (content: unknown) => ({ role: "user", content });
const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: "object" }, ...more });

/** The answer to "beep", and the messages that bring both results. */
async function beeped(content: unknown = "beeped", more: readonly object[] = []) {
  const messages = [says("beep")];
  const first = await ask({ messages, tools: [tool("beep")] });
  const ids = first.body.content.flatMap(({ id }) => id ?? []);
  const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content }));
  return {
    first,
    results,
    history: [...messages, { role: "assistant", content: first.body.content }, says([...results, ...more])],
  };
}

test("a stream tells each block from its start to its end", async () => {
  const response = await post({
    model: "thinks",
    max_tokens: 9,
    stream: true,
    messages: [says("hi")],
    tools: [tool("beep")],
  });
  const events = (await response.text()).trim().split("\n\n");
  const names = events.map((event) => /^event: (\w+)\ndata: \{"type":"(\w+)"/.exec(event)!.slice(1));
  for (const [name, type] of names) assert.equal(name, type);
  assert.deepEqual(
    names
      .map(([name]) => name)
      .join(" ")
      .replaceAll("content_block", "block"),
    "message_start ping block_start block_delta block_delta block_stop block_start block_delta block_delta block_stop " +
      "block_start block_delta block_stop message_delta message_stop",
  );
  assert.match(events.join("\n"), /"signature_delta","signature":"colloquy"/);
  assert.match(events.at(-2)!, /"stop_reason":"tool_use"/);
});

for (const model of ["script", "assistant"])
  for (const stops of [["three"], ["four"], undefined])
    test(`${model} says which stop sequence ended it: ${stops?.join() ?? "none was sent"}`, async () => {
      const asked = { model, messages: [says("count")], ...(stops && { stop_sequences: stops }) };
      const isStopped = stops?.includes("three");
      const expected = isStopped
        ? { stop_reason: "stop_sequence", stop_sequence: "three" }
        : { stop_reason: "end_turn", stop_sequence: null };
      const { body } = await ask(asked);
      assert.deepEqual({ stop_reason: body.stop_reason, stop_sequence: body.stop_sequence }, expected);
      const streamed = await (await post({ max_tokens: 9, stream: true, ...asked })).text();
      assert.ok(streamed.includes(`"delta":${JSON.stringify(expected)}`), streamed);
    });

test("the run that answers is in the answer's id and in the headers", async () => {
  const { body, response, status } = await ask({ messages: [says("hi")] });
  assert.equal(status, 200);
  const run = response.headers.get("x-colloquy-run")!;
  assert.match(body.id, new RegExp(`^msg_${run.replaceAll("-", "")}_[0-9a-z]+$`));
  assert.equal((await server.runs.get(server.caller, run)).status, "done");
});

test("what is said with results goes to the run that waits for them, sent again it is not said twice", async () => {
  const { first, history } = await beeped("beeped", [{ type: "text", text: "and hurry" }]);
  for (const _ of [1, 2]) {
    const next = await ask({ messages: history, tools: [tool("beep")] });
    assert.match(next.text, /tool: beeped; tool: beeped; user: and hurry/);
    assert.equal(next.response.headers.get("x-colloquy-run"), first.response.headers.get("x-colloquy-run"));
  }
  const other = [
    ...history.slice(0, -1),
    says([...(history.at(-1)!.content as object[]).slice(0, 2), { type: "text", text: "no, wait" }]),
  ];
  const anew = await ask({ messages: other, tools: [tool("beep")] });
  assert.match(anew.text, /tool: beeped; tool: beeped; user: no, wait/);
  assert.notEqual(anew.response.headers.get("x-colloquy-run"), first.response.headers.get("x-colloquy-run"));
});

test("results of a model's calls are a part of the conversation that goes on with an agent", async () => {
  const call = { type: "tool_use", id: callIdOf(crypto.randomUUID()), name: "beep", input: {} };
  const result = { type: "tool_result", tool_use_id: call.id, content: "beeped" };
  const messages = [
    says("beep"),
    { role: "assistant", content: [call] },
    says([result, { type: "text", text: "well?" }]),
  ];
  assert.match((await ask({ messages })).text, /tool: beeped; user: well\?/);
});

test("a tool that a result names is offered to the run that waits", async () => {
  const { history } = await beeped([{ type: "tool_reference", tool_name: "far" }]);
  const tools = [tool("beep"), tool("far", { defer_loading: true })];
  const { text } = await ask({ messages: history, tools });
  assert.match(text, /may far$/);
});

test("a failed result is told as one", async () => {
  const { history, results } = await beeped();
  const failed = [...history.slice(0, -1), says(results.map((result) => ({ ...result, is_error: true })))];
  assert.equal((await ask({ messages: failed, tools: [tool("beep")] })).status, 200);
  const { messages } = server.model.requests.at(-1)!;
  assert.ok(messages.some((message) => message.role === "tool" && message.isError));
});

test("results of calls that the client's own history made are answered", async () => {
  const call = { type: "tool_use", id: "toolu_1", name: "beep", input: {} };
  const messages = [
    says("hi"),
    { role: "assistant", content: [call] },
    says([{ type: "tool_result", tool_use_id: "toolu_1" }]),
  ];
  const { status } = await ask({ messages, tools: [tool("beep")] });
  assert.equal(status, 200);
  assert.deepEqual(
    server.model.requests.at(-1)!.messages.map(({ role }) => role),
    ["system", "user", "assistant", "tool"],
  );
});

test("a run that waits for a person says so in the answer", async () => {
  const { text, body, response } = await ask({ messages: [says("task Tea")] });
  assert.match(text, /One moment\.\n\nThis run waits for a person/);
  assert.equal(body.stop_reason, "end_turn");
  assert.equal(response.headers.get("x-colloquy-status"), "waiting");
});

test("what was left out of a request is named", async () => {
  const tools = [{ type: "web_search_20250305", name: "web_search" }];
  const { response } = await ask({ messages: [says("hi")], tools });
  assert.equal(response.headers.get("x-colloquy-left-out"), "web_search_20250305");
});

test("a client that leaves ends the stream, not the run", async () => {
  gate = Promise.withResolvers();
  const leaving = new AbortController();
  const response = await fetch(server.url + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", max_tokens: 9, stream: true, messages: [says("slow")] }),
    signal: leaving.signal,
  });
  const run = response.headers.get("x-colloquy-run")!;
  for await (const piece of response.body!) if (new TextDecoder().decode(piece).includes("begun")) break;
  leaving.abort();
  gate.resolve();
  while ((await server.runs.get(server.caller, run)).status !== "done")
    await new Promise((resolve) => setTimeout(resolve, 5));
});

test("a stream that ends early says why: the server stops, or the key counts no more", async () => {
  for (const [type, end] of [
    ["api_error", (place: Serving) => place.close()],
    [
      "authentication_error",
      (place: Serving, id: string) => asker(place.url)("DELETE", `/api/admin/keys/${id}`, { token: machineToken }),
    ],
  ] as const) {
    gate = Promise.withResolvers();
    const place = await serve({
      ...server.services,
      ...(await accountServices(server.database)),
      server: { ...server.services.server, recheckMs: 10, graceMs: 50 },
    });
    const owner = await createUser(server.database.query, { name: type, role: "user" });
    const { key: own, text } = await createApiKey(server.database.query, {
      userId: owner.id,
      label: "x",
      scopes: ["*"],
    });
    const body = { model: "assistant", max_tokens: 9, stream: true, messages: [says("slow")] };
    const response = await post(body, { url: place.url, headers: { "x-api-key": text } });
    const reading = response.text();
    await end(place, own.id);
    const last = (await reading).trim().split("\n\n").at(-1)!;
    assert.match(last, new RegExp(`^event: error\ndata: \\{"type":"error","error":\\{"type":"${type}"`));
    gate.resolve();
    await place.close();
  }
});

test("a room answers with all that its members say", async () => {
  const rooms = server.services.agents.list().filter(({ room }) => room !== undefined);
  assert.ok(rooms.length > 0);
  const { text, status } = await ask({ model: rooms[0]!.id, messages: [says("hi")] });
  assert.equal(status, 200);
  assert.match(text, /^\[@?\w+\]: /);
});

test("errors have this protocol's shape, whatever refuses", async () => {
  const refused = async (status: number, type: string, response: Response) => {
    const body = (await response.json()) as Body;
    assert.deepEqual([response.status, body.type, body.error?.type], [status, "error", type]);
    assert.equal(body.request_id, response.headers.get("x-request-id"));
  };
  await refused(400, "invalid_request_error", await post("{"));
  await refused(404, "not_found_error", await post({}, { path: "/v1/messages/batches" }));
  await refused(404, "not_found_error", await post({ model: "none", max_tokens: 1, messages: [says("hi")] }));
  await refused(413, "request_too_large", await post(`"${"x".repeat(11 * 1024 * 1024)}"`));
  await refused(401, "authentication_error", await post({}, { url: guarded.url }));
  const failed = await post({ model: "assistant", max_tokens: 1, messages: [says("fail")] });
  assert.equal(failed.headers.get("x-should-retry"), "false");
  await refused(400, "invalid_request_error", failed);
  const headers = { "anthropic-version": "2026-10-21" };
  await refused(404, "not_found_error", await fetch(server.url + "/v1/models/none", { headers }));
  const openai = (await (await fetch(server.url + "/v1/models/none")).json()) as Body;
  assert.equal(openai.type, undefined);
});

test("a key in x-api-key counts at the routes of this protocol, and at no other", async () => {
  const headers = { "x-api-key": key, "anthropic-version": "2023-06-01" };
  const asked = await ask({ messages: [says("hi")] }, { url: guarded.url, headers });
  assert.equal(asked.status, 200);
  const counted = await post(
    { model: "m", messages: [says("hi")] },
    { url: guarded.url, headers, path: "/v1/messages/count_tokens" },
  );
  assert.equal(counted.status, 200);
  assert.equal((await fetch(guarded.url + "/v1/models", { headers })).status, 200);
  for (const path of ["/api/threads", "/v1/files"])
    assert.equal((await fetch(guarded.url + path, { headers })).status, 401);
  const wrong = await ask({ messages: [says("hi")] }, { url: guarded.url, headers: { "x-api-key": "ck_wrong" } });
  assert.equal(wrong.status, 401);
});

test("conversations that are kept: what can't be continued", async () => {
  const continued = (previous: string, more: object = {}, options = {}) =>
    ask({ messages: [says("more")], thread: { type: "continue", previous_message_id: previous }, ...more }, options);
  const { body } = await ask({ messages: [says("hi")], thread: { type: "create" } });
  const notFound = { error_code: "thread_not_found" };
  for (const id of ["msg_none", `msg_${"0".repeat(32)}_1`]) {
    const { status, body: refused } = await continued(id);
    assert.deepEqual([status, refused.error?.details], [404, notFound]);
  }
  const others = await continued(body.id, {}, { url: guarded.url, headers: { "x-api-key": key } });
  assert.deepEqual([others.status, others.body.error?.details], [404, notFound]);
  const changed = await continued(body.id, { system: "Be loud." });
  assert.deepEqual([changed.status, changed.body.error?.details], [400, { error_code: "thread_fingerprint_mismatch" }]);

  const waiting = await ask({ messages: [says("beep")], tools: [tool("beep")], thread: { type: "create" } });
  const early = await continued(waiting.body.id);
  assert.match(early.body.error!.message, /need their tool_result blocks first/);
  const results = waiting.body.content.flatMap(({ id }) =>
    id ? [{ type: "tool_result", tool_use_id: id, content: "x" }] : [],
  );
  const foreign = await continued(waiting.body.id, { messages: [says([{ ...results[0], tool_use_id: "toolu_x" }])] });
  assert.equal(foreign.status, 400);
  const both = await Promise.all([1, 2].map(() => continued(waiting.body.id, { messages: [says(results)] })));
  assert.deepEqual(
    both.map(({ text }) => text),
    Array(2).fill("user: beep; assistant: Now:; tool: x; tool: x; may near"),
  );
});

test("deferred tools of a kept conversation are offered once a result names them", async () => {
  const tools = [tool("beep"), tool("far", { defer_loading: true })];
  const thread = (previous_message_id: string) => ({ thread: { type: "continue", previous_message_id } });
  const { body } = await ask({ messages: [says("hi")], tools, thread: { type: "create" } });
  const first = await ask({ messages: [says("beep")], ...thread(body.id) });
  const results = first.body.content.flatMap(({ id }) =>
    id ? [{ type: "tool_result", tool_use_id: id, content: [{ type: "tool_reference", tool_name: "far" }] }] : [],
  );
  const second = await ask({ messages: [says(results)], ...thread(first.body.id) });
  assert.match(second.text, /may far$/);
  const third = await ask({ messages: [says("and now?")], ...thread(second.body.id) });
  assert.match(third.text, /user: and now\?; may far$/);
});
