import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

let gate = Promise.withResolvers<void>();

/** Answers by what the last message says. */
function script({ messages, tools = [] }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : "parts";
  if (last.role === "tool") return `Result: ${said}`;
  if (said.startsWith("task "))
    return [{ text: "One moment." }, { call: "add_task", arguments: { title: said.slice(5) } }, { finish: "calls" }];
  if (said === "beep") return [{ call: "beep", arguments: { n: 1 } }, { finish: "calls" }];
  if (said === "offered") return tools.map(({ name }) => name).join(" ");
  if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
  if (said === "fail") return [{ error: "refused", message: "I won't" }];
  if (said === "long") return [{ text: "and so" }, { finish: "length" }];
  if (said === "history") return JSON.stringify(messages.map(({ role, content }) => [role, content]));
  return [{ text: `You said ${said}` }, { finish: "stop", usage: { inputTokens: 3, outputTokens: 4 } }];
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(
    script,
    {},
    {
      agents: [agentSchema.parse({ id: "talker", model: "default", strategy: "chat", tools: [] })],
    },
  );
});
after(() => server.close());

type CompletionToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};
type CompletionMessage = {
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly CompletionToolCall[];
};
type Completion = {
  readonly choices: readonly { readonly message: CompletionMessage; readonly finish_reason: string }[];
  readonly usage: { readonly total_tokens: number };
  readonly error?: { readonly message: string; readonly code: string; readonly param: string | null };
};
type AgentRunChunk = {
  readonly id: string;
  readonly choices: readonly {
    readonly delta: CompletionMessage & { readonly role?: string };
    readonly finish_reason: string | null;
  }[];
  readonly error?: { readonly message: string; readonly code: string };
};

function post(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(server.url + "/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "assistant", ...body }),
  });
}

async function ask(body: object, headers: Record<string, string> = {}) {
  const response = await post(body, headers);
  const completion = (await response.json()) as Completion;
  return {
    response,
    completion,
    message: completion.choices?.[0]?.message,
    finish: completion.choices?.[0]?.finish_reason,
  };
}

async function stream(body: object) {
  const response = await post({ ...body, stream: true });
  const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("data: "));
  const done = events.at(-1) === "data: [DONE]";
  const chunks = events
    .filter((event) => event !== "data: [DONE]")
    .map((event) => JSON.parse(event.slice(6)) as AgentRunChunk);
  const deltas = chunks.flatMap(({ choices }) => choices?.map(({ delta }) => delta) ?? []);
  return {
    response,
    chunks,
    done,
    text: deltas.map(({ content }) => content ?? "").join(""),
    reasoning: deltas.map((delta) => delta.reasoning_content ?? "").join(""),
  };
}

const says = (content: string) => ({ role: "user", content });
const beep = { type: "function", function: { name: "beep", parameters: { type: "object" } } };

test("an agent answers with a durable run, which the headers name", async () => {
  const { response, completion, message, finish } = await ask({ messages: [says("hi")] });
  assert.equal(message?.content, "You said hi");
  assert.equal(finish, "stop");
  assert.equal(completion.usage.total_tokens, 7);
  assert.equal(response.headers.get("x-colloquy-status"), "done");
  assert.equal(response.headers.get("x-colloquy-model"), "script");
  const run = await server.runs.get(server.caller, response.headers.get("x-colloquy-run") ?? "");
  assert.equal(run.status, "done");
  assert.equal(run.threadId, response.headers.get("x-colloquy-thread"));
  assert.equal((await server.threads.getThread(server.caller, run.threadId)).hidden, true);
});

test("a stream tells the server's tools as reasoning, never as calls", async () => {
  const { response, chunks, done, text, reasoning } = await stream({ messages: [says("task Buy milk")] });
  assert.ok(done);
  assert.ok(response.headers.get("x-colloquy-run"));
  assert.equal(response.headers.get("x-colloquy-model"), "default");
  assert.deepEqual(chunks[0]?.choices[0]?.delta, { role: "assistant", content: "" });
  assert.match(text, /^One moment\.\n\nResult: .*Buy milk/s);
  assert.match(reasoning, /^add_task \{"title":"Buy milk"\}\n→ .*Buy milk/s);
  assert.doesNotMatch(JSON.stringify(chunks), /tool_calls|SECRET-INSTRUCTIONS/);
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, "stop");
  const tasks = await server.database.query<{ title: string }>("select title from tasks");
  assert.deepEqual(tasks, [{ title: "Buy milk" }]);
});

for (const streamed of [false, true])
  test(`the caller's own tools come back as calls, and their results continue the run (${streamed ? "stream" : "whole"})`, async () => {
    const first = [says("beep")];
    const { response, message, finish } = streamed
      ? await collected({ messages: first, tools: [beep] })
      : await ask({ messages: first, tools: [beep] });
    assert.equal(finish, "tool_calls");
    const [call] = message!.tool_calls!;
    assert.equal(call!.function.name, "beep");
    assert.deepEqual(JSON.parse(call!.function.arguments), { n: 1 });

    const messages = [
      ...first,
      { role: "assistant", ...message },
      { role: "tool", tool_call_id: call!.id, content: "beeped" },
    ];
    const next = await ask({ messages, tools: [beep] });
    assert.equal(next.message?.content, "Result: beeped");
    assert.equal(next.response.headers.get("x-colloquy-run"), response.headers.get("x-colloquy-run"));

    const again = await ask({ messages, tools: [beep] });
    assert.equal(again.message?.content, "Result: beeped");
  });

/** A stream as the message it makes. */
async function collected(body: object) {
  const { response, chunks } = await stream(body);
  const calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  let finish: string | null = null;
  for (const { choices } of chunks) {
    for (const { delta, finish_reason: reason } of choices) {
      for (const { id, type, function: made } of delta.tool_calls ?? []) {
        if (id) calls.push({ id, type, function: { ...made } });
        else calls.at(-1)!.function.arguments += made.arguments;
      }
      finish ??= reason;
    }
  }
  return { response, message: { content: null, tool_calls: calls }, finish };
}

test("an agent without tools of its own is offered the client's, and only those", async () => {
  const first = await ask({ model: "talker", messages: [says("offered")], tools: [beep] });
  assert.equal(first.message?.content, "beep");
  const { message } = await ask({ model: "talker", messages: [says("beep")], tools: [beep] });
  assert.equal(message?.tool_calls?.[0]?.function.name, "beep");
});

test("results of calls that the client's own history made are answered, or refused clearly", async () => {
  const call = { id: "call_foreign", type: "function", function: { name: "beep", arguments: "{}" } };
  const tail = [
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: "x" },
  ];
  const answered = await ask({ messages: [says("beep"), ...tail], tools: [beep] });
  assert.equal(answered.response.status, 200);
  assert.deepEqual(
    server.model.requests.at(-1)!.messages.map(({ role }) => role),
    ["system", "user", "assistant", "tool"],
  );
  const foreign = await ask({ messages: [says("beep"), ...tail], session_id: "kept here" });
  assert.equal(foreign.response.status, 400);
  assert.match(foreign.completion.error!.message, /call_foreign was not made by this server/);

  const ended = await ask({ messages: [says("hi"), { role: "assistant", content: "bye" }] });
  assert.equal(ended.response.status, 400);
  assert.match(ended.completion.error!.message, /last message must be the user's/);
});

test("without a session the client's history is the context, its calls and results too", async () => {
  const call = { id: "c1", type: "function", function: { name: "beep", arguments: "{}" } };
  const { message } = await ask({
    messages: [
      { role: "system", content: "Be brief." },
      says("one"),
      { role: "assistant", content: "two", tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "three" },
      { role: "assistant", content: "four" },
      says("history"),
    ],
  });
  assert.deepEqual(spokenIn(message), [
    ["user", "one"],
    ["assistant", "two"],
    ["tool", "three"],
    ["assistant", "four"],
    ["user", "history"],
  ]);
  assert.match(
    server.model.requests
      .at(-1)!
      .messages.map(({ content }) => content)
      .join(),
    /SECRET-INSTRUCTIONS.*Be brief\./s,
  );
});

/** What the model saw besides instructions, as it tells it. */
function spokenIn(message: CompletionMessage | undefined): [string, string][] {
  return (JSON.parse(message?.content ?? "[]") as [string, string][]).filter(([role]) => role !== "system");
}

test("a room's agents are not offered tools of the client, and that is told", async () => {
  const tools = [{ type: "function", function: { name: "beep" } }];
  const messages = [says("hi")];
  const { response } = await ask({ model: "analysis", messages, tools, min_p: 0.1 });
  assert.equal(response.headers.get("x-colloquy-left-out"), "min_p, tools");
  const agents = await ask({ messages, tools });
  assert.equal(agents.response.headers.get("x-colloquy-left-out"), null);
});

test("a session's name that only says where to route is none: opencode's small requests have it too", async () => {
  const headers = { "x-session-id": "ses_1", "x-session-affinity": "ses_1" };
  await ask({ messages: [says("a title for this conversation")] }, headers);
  const { message } = await ask({ messages: [says("history")] }, headers);
  assert.deepEqual(spokenIn(message), [["user", "history"]]);
});

test("with a session the stored history counts, and only what is new is appended", async () => {
  const first = await ask({ messages: [says("one")], session_id: "s1" });
  const second = await ask({
    messages: [says("forged"), { role: "assistant", content: "forged" }, says("history")],
    metadata: { session_id: "s1" },
  });
  assert.deepEqual(spokenIn(second.message), [
    ["user", "one"],
    ["assistant", "You said one"],
    ["user", "history"],
  ]);
  assert.equal(second.response.headers.get("x-colloquy-thread"), first.response.headers.get("x-colloquy-thread"));

  const third = await ask({ messages: [says("a"), says("b")] }, { "x-session-id": "s1" });
  assert.equal(third.message?.content, "You said a\n\nb");
  const other = await ask({ messages: [says("history")], session_id: "s2" });
  assert.deepEqual(spokenIn(other.message), [["user", "history"]]);
});

test("the same Idempotency-Key answers with the same run, another body is refused", async () => {
  const headers = { "idempotency-key": "key-1" };
  const body = { messages: [says("task once")] };
  const answers = await Promise.all([ask(body, headers), ask(body, headers)]);
  const [one, two] = answers.map(({ response }) => response.headers.get("x-colloquy-run"));
  assert.ok(one);
  assert.equal(two, one);
  assert.equal(answers[1]?.message?.content, answers[0]?.message?.content);
  const reordered = await post({ messages: [{ content: "task once", role: "user" }] }, headers);
  assert.equal(reordered.headers.get("x-colloquy-run"), one);
  await reordered.text();
  assert.deepEqual(await server.database.query("select 1 from tasks where title = 'once'"), [{ "?column?": 1 }]);

  const other = await ask({ messages: [says("other")] }, headers);
  assert.equal(other.response.status, 422);
  assert.equal((await ask(body, { "idempotency-key": "x".repeat(300) })).response.status, 400);
});

test("a closed connection ends the telling, never the run", async () => {
  gate = Promise.withResolvers();
  const leaving = new AbortController();
  const response = await fetch(server.url + "/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", stream: true, messages: [says("slow")] }),
    signal: leaving.signal,
  });
  for await (const piece of response.body!) if (new TextDecoder().decode(piece).includes("begun")) break;
  leaving.abort();
  const run = response.headers.get("x-colloquy-run")!;
  gate.resolve();
  await ended(run);
});

test("a failed run is an error that names it; a library must not try again by itself", async () => {
  const whole = await ask({ messages: [says("fail")] });
  assert.equal(whole.response.status, 400);
  assert.match(whole.completion.error!.message, /^Run [0-9a-f-]{36} failed: .*I won't/);
  assert.equal(whole.response.headers.get("x-should-retry"), "false");

  const { chunks, done } = await stream({ messages: [says("fail")] });
  assert.equal(done, false);
  assert.match(chunks.at(-1)!.error!.message, /^Run [0-9a-f-]{36} failed/);
});

test("an answer cut by its length says so", async () => {
  assert.equal((await ask({ messages: [says("long")] })).finish, "length");
});

test("a server that stops says so to a stream, and the run goes on", async () => {
  gate = Promise.withResolvers();
  const leaving = await serve(server.services);
  const response = await fetch(leaving.url + "/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    // Not the request that broke off above: that would join its run.
    body: JSON.stringify({ model: "assistant", stream: true, messages: [says("slow")], user: "stopped" }),
  });
  const run = response.headers.get("x-colloquy-run")!;
  const reading = response.text();
  await leaving.close();
  assert.match(await reading, new RegExp(`"error":\\{"message":"The server is stopping\\. Run ${run} continues`));
  gate.resolve();
  await ended(run);
});

async function ended(run: string): Promise<void> {
  while ((await server.runs.get(server.caller, run)).status !== "done")
    await new Promise((resolve) => setTimeout(resolve, 5));
}
