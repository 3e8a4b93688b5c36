import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

/** Opened by a test once it has seen what it waits for. */
let gate = Promise.withResolvers<void>();

/** "task <title>" adds a task once the gate is open. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  if (last.role === "tool") return "It is on your list.";
  const title = String(last.content).replace("task ", "");
  return [{ text: "One moment." }, { gate: () => gate.promise }, { call: "add_task", arguments: { title } }];
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script);
});
after(() => server.close());

type Asked = {
  readonly stream?: boolean;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly more?: object;
};

function ask(content: string, { stream = true, headers = {}, signal, more }: Asked = {}): Promise<Response> {
  return fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "assistant", stream, messages: [{ role: "user", content }], ...more }),
    ...(signal && { signal }),
  });
}

const runOf = (response: Response) => response.headers.get("x-colloquy-run");
const titles = async () =>
  (await server.database.query<{ title: string }>("select title from tasks")).map((row) => row.title);

/** Asks, and breaks the connection once the model has been asked. */
async function askAndBreak(content: string, options: Asked = {}): Promise<void> {
  gate = Promise.withResolvers();
  const broken = new AbortController();
  const before = server.model.requests.length;
  const answer = ask(content, { ...options, signal: broken.signal });
  while (server.model.requests.length === before) await new Promise((later) => setTimeout(later, 5));
  broken.abort();
  await answer.then((response) => response.text()).catch(() => undefined);
  // Whoever asks later is heard later: by now the server knows that the connection is gone.
  for (let times = 0; times < 2; times++) await (await fetch(`${server.url}/livez`)).text();
}

for (const stream of [true, false])
  test(`a request whose connection broke, asked again, joins its run (${stream ? "streamed" : "whole"})`, async () => {
    const content = `task ${stream ? "streamed" : "whole"}`;
    await askAndBreak(content, { stream });
    const again = ask(content, { stream });
    gate.resolve();
    const response = await again;
    assert.match(await response.text(), /It is on your list/);
    assert.equal((await server.runs.list(server.caller, {}))[0]!.id, runOf(response));
    assert.equal((await titles()).filter((title) => content.endsWith(title)).length, 1);
    const next = await ask(content, { stream });
    await next.text();
    assert.notEqual(runOf(next), runOf(response), "after a whole answer the same words are a new request");
  });

test("a request is the same whatever the order of its fields: Codex writes some in another order each time", async () => {
  await askAndBreak("task in order", { more: { metadata: { one: "1", two: "2" } } });
  const again = ask("task in order", { more: { metadata: { two: "2", one: "1" } } });
  gate.resolve();
  assert.match(await (await again).text(), /It is on your list/);
  assert.equal((await titles()).filter((title) => title === "in order").length, 1);
});

test("other words are another request, and so are the same ones while the first is being answered", async () => {
  await askAndBreak("task one");
  const other = ask("task two");
  const [first, second] = [ask("task three"), ask("task three")];
  gate.resolve();
  const answers = await Promise.all([other, first, second]);
  assert.equal(new Set(answers.map(runOf)).size, 3);
  // None is at work any more when the next test counts what the model is asked.
  await Promise.all(answers.map((answer) => answer.text()));
});

test("a library that counts its tries is believed, even before its first connection is seen to break", async () => {
  gate = Promise.withResolvers();
  // One after the other, each once its run has begun: the newest run of the same words is the one to join.
  const first = await ask("task counted");
  const second = await ask("task counted", { headers: { "x-stainless-retry-count": "1" } });
  const third = await ask("task counted", { headers: { "x-stainless-retry-count": "0" } });
  gate.resolve();
  assert.equal(runOf(second), runOf(first));
  assert.notEqual(runOf(third), runOf(first));
  await Promise.all([first, second, third].map((answer) => answer.text()));
});

test("OpenAI's library, which asks again by itself, has its work done once", async () => {
  gate = Promise.withResolvers();
  let tries = 0;
  const client = new OpenAI({
    baseURL: `${server.url}/v1`,
    apiKey: "none",
    async fetch(url, init) {
      if (tries++ > 0) return fetch(url as string, init as RequestInit);
      const broken = new AbortController();
      const before = server.model.requests.length;
      const answer = fetch(url as string, { ...(init as RequestInit), signal: broken.signal });
      while (server.model.requests.length === before) await new Promise((later) => setTimeout(later, 5));
      broken.abort();
      gate.resolve();
      return answer;
    },
  });
  const { choices } = await client.chat.completions.create({
    model: "assistant",
    messages: [{ role: "user", content: "task from a library" }],
  });
  assert.equal(choices[0]!.message.content?.endsWith("It is on your list."), true);
  assert.equal(tries, 2);
  assert.equal((await titles()).filter((title) => title === "from a library").length, 1);
});
