import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../../../../test/run-suite.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { createScripted, type ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

const gate = Promise.withResolvers<void>();
const asked: ModelRequest[] = [];

/** "add …" calls the client's tool, "task …" one of the server's that asks first, "slow" waits for the gate. */
function script(request: ModelRequest): ScriptAnswer {
  asked.push(request);
  const { messages } = request;
  const said = String(messages.findLast(({ role }) => role === "user")!.content);
  const last = messages.at(-1)!;
  if (last.role === "tool") return `It is ${last.content}.`;
  if (said.startsWith("add ")) return [{ call: "add", arguments: { a: 2, b: 3 } }, { finish: "calls" }];
  if (said.startsWith("task ")) return [{ call: "add_task", arguments: { title: said } }, { finish: "calls" }];
  if (said === "now") return [{ call: "now", arguments: {} }, { finish: "calls" }];
  if (said === "slow") return [{ text: "One " }, { gate: () => gate.promise }, { text: "moment." }];
  if (said === "fail") return [{ error: "refused", message: "no such thing" }];
  if (said === "long") return [{ text: "and so" }, { finish: "length" }];
  return `You said ${said}`;
}

const limited = createScripted(() => [{ error: "rate-limit", message: "too many" }]);
let server: AgentServing;
before(async () => {
  server = await serveAgents(script, { limited }, { approval: { ask: ["add_task"] } });
});
after(() => server.close());

type ToldMessage = {
  readonly role: string;
  readonly content: string;
  readonly thinking?: string;
  readonly tool_calls?: Call[];
};
type Call = { id?: string; readonly function: { readonly name: string; readonly arguments: object } };
type Answer = {
  readonly message?: ToldMessage;
  readonly done?: boolean;
  readonly done_reason?: string;
  readonly error?: string;
};

const add = { type: "function", function: { name: "add", parameters: { type: "object", properties: {} } } };

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function chat(messages: readonly object[], more: object = {}, headers: Record<string, string> = {}) {
  const body = { model: "assistant", stream: false, messages, ...more };
  const response = await post("/api/chat", body, headers);
  return { status: response.status, headers: response.headers, answer: (await response.json()) as Answer };
}

async function stream(content: string): Promise<Answer[]> {
  const response = await post("/api/chat", { model: "assistant", messages: [{ role: "user", content }] });
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  const text = await response.text();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Answer);
}

const user = (content: string) => ({ role: "user", content });

async function statusOf(run: string | null): Promise<string> {
  return (await server.runs.get(server.caller, run!)).status;
}

/** The assistant's message as a client sends it back that keeps no ids. */
function withoutIds(message: ToldMessage): ToldMessage {
  return { ...message, tool_calls: message.tool_calls!.map(({ function: called }) => ({ function: called })) };
}

test("what the server's tools do is told as thoughts, never as calls", async () => {
  const lines = await stream("now");
  const thoughts = lines.map(({ message }) => message?.thinking ?? "").join("");
  assert.match(thoughts, /now \{\}\n→ /);
  assert.ok(lines.every(({ message }) => message?.tool_calls === undefined));
  assert.match(lines.map(({ message }) => message?.content ?? "").join(""), /^It is /);
});

test("a run that waits for approval says for what, and where to answer", async () => {
  const whole = await chat([user("task one")]);
  assert.match(whole.answer.message!.content, /POST \/api\/runs\/\S+\/decisions\//);
  assert.deepEqual([whole.answer.done_reason, whole.headers.get("x-colloquy-status")], ["stop", "waiting"]);
  const lines = await stream("task two");
  assert.match(lines.map(({ message }) => message?.content ?? "").join(""), /POST \/api\/runs\/\S+\/decisions\//);
  assert.equal(lines.at(-1)!.done_reason, "stop");
});

test("a run that fails is an error with a status, and in a stream a line", async () => {
  const { status, answer } = await chat([user("fail")]);
  assert.ok(status >= 400);
  assert.match(answer.error!, /no such thing/);
  assert.match((await stream("fail")).at(-1)!.error!, /no such thing/);
});

test("an answer that was cut says so", async () => {
  assert.equal((await chat([user("long")])).answer.done_reason, "length");
});

test("results find their run by the ids of its calls, and by the calls where a client keeps none", async () => {
  for (const [question, strip] of [
    ["add with ids", (message: ToldMessage) => message],
    ["add without ids", withoutIds],
  ] as const) {
    const first = await chat([user(question)], { tools: [add] });
    const { message } = first.answer;
    assert.match(message!.tool_calls![0]!.id!, /^call_[0-9a-f]{32}$/);
    const result = { role: "tool", tool_name: "add", content: "5" };
    const second = await chat([user(question), strip(message!), result], { tools: [add] });
    assert.equal(second.answer.message?.content, "It is 5.", JSON.stringify(second.answer));
    const run = first.headers.get("x-colloquy-run");
    assert.equal(second.headers.get("x-colloquy-run"), run, "the same run");
    assert.equal(await statusOf(run), "done");
  }
});

test("results without ids that are sent again are told the same answer", async () => {
  const first = await chat([user("add again")], { tools: [add] });
  const result = { role: "tool", tool_name: "add", content: "5" };
  const messages = [user("add again"), withoutIds(first.answer.message!), result];
  const before = asked.length;
  const told = [await chat(messages, { tools: [add] }), await chat(messages, { tools: [add] })];
  assert.deepEqual(
    told.map(({ answer }) => answer.message?.content),
    ["It is 5.", "It is 5."],
  );
  assert.equal(asked.length, before + 1);
  const other = await chat([...messages.slice(0, 2), { ...result, content: "6" }], { tools: [add] });
  assert.match(other.answer.error!, /No run of yours waits/, "another result is not the same");
});

test("without ids a result goes to no run that might be another one's", async () => {
  const result = { role: "tool", tool_name: "add", content: "5" };
  const ask = () => chat([user("add twice")], { tools: [add] });
  const [one, two] = [await ask(), await ask()];
  const messages = [user("add twice"), withoutIds(one.answer.message!), result];
  const unclear = await chat(messages, { tools: [add] });
  assert.equal(unclear.status, 400);
  assert.match(unclear.answer.error!, /Several runs of yours wait for the results of these calls: add.*tool_call_id/);
  for (const other of [
    [user("add something else"), withoutIds(one.answer.message!), result],
    [
      user("add twice"),
      { role: "assistant", content: "", tool_calls: [{ function: { name: "add", arguments: { a: 2, b: 4 } } }] },
      result,
    ],
  ]) {
    const refused = await chat(other, { tools: [add] });
    assert.equal(refused.status, 400);
    assert.match(refused.answer.error!, /No run of yours waits for the results of these calls: add/);
  }
  for (const { headers } of [one, two]) assert.equal(await statusOf(headers.get("x-colloquy-run")), "waiting");
});

test("a run of somebody else's takes no results", async () => {
  const [other] = await server.database.query<{ id: string }>(
    "insert into users (id, name, role) values (gen_random_uuid(), 'eve', 'user') returning id",
  );
  const { caller } = server;
  const clientTools = [{ name: "add", description: "", parameters: { type: "object" } }];
  const { runId } = await server.runs.start(
    { ...caller, userId: other!.id, role: "user" },
    { agent: "assistant", message: { content: "add for eve" }, options: { clientTools } },
  );
  const ofEve = { ...caller, userId: other!.id };
  await until(async () => (await server.runs.get(ofEve, runId)).status === "waiting");
  const call = { function: { name: "add", arguments: { a: 2, b: 3 } } };
  const { status } = await chat(
    [user("add for eve"), { role: "assistant", tool_calls: [call] }, { role: "tool", tool_name: "add", content: "5" }],
    { tools: [add] },
  );
  assert.equal(status, 400);
  assert.equal((await server.runs.get(ofEve, runId)).status, "waiting");
});

test("two continuations of one answer at once are one", async () => {
  const first = await chat([user("add at once")], { tools: [add] });
  const result = { role: "tool", tool_name: "add", content: "5" };
  const before = asked.length;
  const both = await Promise.all(
    [1, 2].map(() => chat([user("add at once"), first.answer.message!, result], { tools: [add] })),
  );
  assert.deepEqual(
    both.map(({ answer }) => answer.message?.content),
    ["It is 5.", "It is 5."],
  );
  assert.equal(asked.length, before + 1, "the model was asked once");
});

test("a stream that its client cuts off ends the telling, never the run", async () => {
  const abort = new AbortController();
  const response = await fetch(`${server.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", messages: [user("slow")] }),
    signal: abort.signal,
  });
  const reader = response.body!.getReader();
  await reader.read();
  abort.abort();
  gate.resolve();
  const run = response.headers.get("x-colloquy-run");
  await until(async () => (await statusOf(run)) === "done");
});

test("with a session the conversation is kept here, and only what is new is added", async () => {
  const session = { "x-session-id": "of ollama" };
  await chat([user("one")], {}, session);
  await chat([user("one"), { role: "assistant", content: "You said one" }, user("two")], {}, session);
  const texts = asked.at(-1)!.messages.flatMap(({ role, content }) => (role === "system" ? [] : [content]));
  assert.deepEqual(texts, ["one", "You said one", "two"]);
});

test("a room answers as an agent does", async () => {
  const { models } = (await (await fetch(`${server.url}/api/tags`)).json()) as { models: { name: string }[] };
  const rooms = server.services.agents.list().filter(({ room }) => room !== undefined);
  for (const { id } of rooms) assert.ok(models.some(({ name }) => name === id));
});

test("nothing to say loads or unloads, and is no run", async () => {
  const before = asked.length;
  const loaded = await chat([]);
  assert.deepEqual([loaded.answer.done, loaded.answer.done_reason], [true, "load"]);
  const gone = (await (await post("/api/generate", { model: "assistant", keep_alive: 0 })).json()) as Answer;
  assert.equal(gone.done_reason, "unload");
  assert.equal(asked.length, before);
  assert.equal((await post("/api/chat", { model: "nobody" })).status, 404);
});

test("what models are not told is named, and everything else is told", async () => {
  const { headers } = await chat([user("hi")], { options: { temperature: 0.3, min_p: 0.2, num_ctx: 100 } });
  assert.equal(headers.get("x-colloquy-warning"), "models are not told: options.min_p");
  assert.equal(asked.at(-1)!.settings?.temperature, 0.3);
});

test("errors are texts, whatever they are of", async () => {
  const errorOf = async (response: Promise<Response>, status: number) => {
    const told = await response;
    const { error } = (await told.json()) as Answer;
    assert.deepEqual([told.status, typeof error], [status, "string"]);
    return error!;
  };
  assert.match(await errorOf(post("/api/chat", "{"), 400), /not valid JSON/);
  assert.match(await errorOf(post("/api/show", { model: "nobody" }), 404), /^model 'nobody' not found/);
  assert.match(await errorOf(post("/api/generate", { model: "nobody", prompt: "x" }), 404), /^model 'nobody'/);
  assert.match(await errorOf(post("/api/chat", { model: "limited", messages: [user("x")] }), 429), /too many/);
  assert.match(await errorOf(fetch(`${server.url}/api/delete`, { method: "DELETE" }), 501), /deletes no models/);
  const blob = { method: "POST", body: "x".repeat(100_000), headers: { "content-type": "application/octet-stream" } };
  assert.match(await errorOf(fetch(`${server.url}/api/blobs/sha256:0`, blob), 501), /takes no parts/);
});

test("the paths of sessions beside it are what they were", async () => {
  const sessions = (await (await fetch(`${server.url}/api/chat/sessions`)).json()) as unknown;
  assert.ok(JSON.stringify(sessions).includes("of ollama"));
});
