import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { fileTools, orchestratorTeam, written } from "../../../../test/json-actions.ts";
import { until } from "../../../../test/run-suite.ts";
import { serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { jsonActions } from "../../../run/strategies/json-actions.ts";
import { createApp } from "../../app.ts";

let answers: ScriptAnswer[] = [];
const team = await orchestratorTeam("default");
const { tools } = fileTools({ "notes.md": "remember the milk" });
const server = await serveAgents(
  () => answers.shift() ?? "nothing is left",
  {},
  {
    agents: [team.orchestrator, ...team.others],
    strategies: { "json-actions": jsonActions },
    tools,
    approval: { ask: ["run_python"] },
  },
);
after(() => server.close());
let asked = 0;
beforeEach(() => {
  asked = server.model.requests.length;
});

const final = (answer: string) => written({ thought: "enough", action: "final", answer });
const readNotes = written({ thought: "look", action: "use_tool", tool: "read_file", args: { path: "notes.md" } });
const runPython = written({ action: "use_tool", tool: "run_python", args: { code: "1" } });
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

/** Answers that the model gives, then a request. */
function post(script: readonly ScriptAnswer[], body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  answers = [...script];
  return fetch(server.url + "/chat", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** What the model saw in this test. */
const requests = (): readonly ModelRequest[] => server.model.requests.slice(asked);
const said = (request: ModelRequest | undefined) =>
  request!.messages.slice(1).map(({ role, content }) => `${role}: ${String(content)}`);

type UiChunkJson = { type: string; id?: string; delta?: string; data?: unknown; [field: string]: unknown };

/** The chunks of a stream that ends as it has to. */
function chunksOf(text: string): UiChunkJson[] {
  const events = text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
  assert.equal(events.pop(), "data: [DONE]");
  return events.map((event) => JSON.parse(event.slice("data: ".length)) as UiChunkJson);
}

test("messages alone are answered with the answer and its events", async () => {
  const answer = await post([readNotes, final("Buy milk.")], { messages: [user("What shall I buy?")] });
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), {
    answer: "Buy milk.",
    events: [
      { step: 1, agent: "orchestrator", action: "use_tool", tool: "read_file", target_agent: null, thought: "look" },
      { step: 2, agent: "orchestrator", action: "final", tool: null, target_agent: null, thought: "enough" },
    ],
  });
  assert.equal(answer.headers.get("x-colloquy-status"), "done");
  const run = await server.runs.get(server.caller, answer.headers.get("x-colloquy-run")!);
  assert.equal(run.threadId, answer.headers.get("x-colloquy-thread"));
});

test("a page may name who answers: in the body, in assistant-ui's run config, or in the address", async () => {
  const named = [{ agent: "coder" }, { runConfig: { custom: { agent: "coder" } }, tools: {} }];
  const ask = async (body: object, query = "") => {
    answers = [final("done")];
    const answer = await fetch(`${server.url}/chat${query}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [user("go")], ...body }),
    });
    await answer.text();
    if (answer.status !== 200) return answer.status;
    return (await server.runs.get(server.caller, answer.headers.get("x-colloquy-run")!)).agent;
  };
  for (const body of named) assert.equal(await ask(body), "coder");
  assert.equal(await ask({}, "?agent=coder"), "coder");
  assert.equal(await ask({ agent: "nobody" }), 404);
  assert.equal(await ask({ agent: 7 }), 422);
  assert.equal(await ask({}, "?agent=coder&agent=orchestrator"), 422);
});

test("the last message of the user counts, and of it the first text", async () => {
  const cases: [messages: unknown[], text: string][] = [
    [[user("first"), { role: "assistant", content: [{ type: "text", text: "yes" }] }, user("second")], "second"],
    [
      [
        {
          role: "user",
          content: [
            { type: "text", text: "one" },
            { type: "text", text: "two" },
          ],
        },
      ],
      "one",
    ],
    [[{ role: "user", content: "plain" }], "plain"],
    [[{ role: "user", content: [{ type: "image", image: "data:," }] }], "No text content provided."],
    [[user("")], "No text content provided."],
    [[], "No text content provided."],
  ];
  for (const [messages, text] of cases) {
    asked = server.model.requests.length;
    const answer = await post([final("ok")], { messages });
    assert.equal(answer.status, 200);
    assert.deepEqual(said(requests()[0]), [`user: ${text}`]);
  }
});

test("a session goes on; a key gives the same run again", async () => {
  const session = { "x-session-id": "page 1" };
  await post([final("milk")], { messages: [user("What shall I buy?")] }, session);
  await post([final("eggs")], { messages: [user("What else?")] }, session);
  assert.deepEqual(said(requests()[1]), ["user: What shall I buy?", "assistant: milk", "user: What else?"]);
  const again = await Promise.all(
    [1, 2].map(() => post([final("once")], { messages: [user("again")] }, { "idempotency-key": "chat-1" })),
  );
  const [one, two] = again.map((answer) => answer.headers.get("x-colloquy-run"));
  assert.equal(one, two);
  assert.deepEqual(await again[0]!.json(), await again[1]!.json());
});

test("what can't be right is refused with the field, and a failed run with its reason", async () => {
  for (const [body, param] of [
    [{}, "messages"],
    [[], "body"],
    [{ messages: ["hi"] }, "messages[0]"],
  ] as const) {
    const answer = await post([], body);
    assert.equal(answer.status, 422);
    assert.equal(((await answer.json()) as { error: { param: string } }).error.param, param);
  }
  const failed = await post([[{ error: "auth", message: "no such key" }]], { messages: [user("hi")] });
  assert.equal(failed.status, 502);
  const { error } = (await failed.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "model_auth");
  assert.match(error.message, /no such key/);
  assert(failed.headers.get("x-colloquy-run"));
});

test("a run that waits says so, and what for", async () => {
  const answer = await post([runPython], { messages: [user("compute")] });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("x-colloquy-status"), "waiting");
  const body = (await answer.json()) as { answer: string; events: unknown[] };
  assert.match(body.answer, /waits for a person\. May run_python be called/);
  assert.equal(body.events.length, 1);
});

test("pages of localhost:3000 may ask, with credentials", async () => {
  const app = await createApp({ ...server.services, server: { corsOrigins: ["http://localhost:3000"] } });
  const headers = { host: "localhost", origin: "http://localhost:3000" };
  const preflight = await app.inject({
    method: "OPTIONS",
    url: "/chat",
    headers: { ...headers, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
  });
  assert.equal(preflight.statusCode, 204);
  answers = [final("ok")];
  const answer = await app.inject({ method: "POST", url: "/chat", headers, payload: { messages: [user("hi")] } });
  for (const { headers: sent } of [preflight, answer]) {
    assert.equal(sent["access-control-allow-origin"], "http://localhost:3000");
    assert.equal(sent["access-control-allow-credentials"], "true");
  }
  assert.deepEqual((await app.inject({ url: "/health", headers })).json(), { status: "ok" });
  await app.close();
});

test("the AI SDK's body is answered with a UI message stream", async () => {
  const messages = [
    { id: "u1", role: "user", parts: [{ type: "text", text: "Hello" }] },
    { id: "a1", role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: "Hi." }] },
    { id: "u2", role: "user", parts: [{ type: "text", text: "What shall I buy?" }] },
  ];
  const answer = await post([readNotes, final("Buy milk.")], { id: "page 2", messages, trigger: "submit-message" });
  assert.equal(answer.headers.get("x-vercel-ai-ui-message-stream"), "v1");
  assert.match(answer.headers.get("content-type")!, /^text\/event-stream/);
  const chunks = chunksOf(await answer.text());
  const run = answer.headers.get("x-colloquy-run")!;
  const metadata = { run, thread: answer.headers.get("x-colloquy-thread") };
  assert.deepEqual(chunks[0], { type: "start", messageId: run, messageMetadata: metadata });
  assert.deepEqual(
    chunks.map(({ type }) => type),
    [
      ...["start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end", "data-event"],
      ...["tool-input-available", "tool-output-available", "finish-step"],
      ...["start-step", "reasoning-start", "reasoning-delta", "reasoning-end"],
      ...["text-start", "text-delta", "text-end", "data-event", "finish-step", "finish"],
    ],
  );
  const call = chunks.find(({ type }) => type === "tool-input-available")!;
  assert.deepEqual([call["toolName"], call["input"], call["dynamic"]], ["read_file", { path: "notes.md" }, true]);
  const result = chunks.find(({ type }) => type === "tool-output-available")!;
  assert.deepEqual([result["toolCallId"], result["output"]], [call["toolCallId"], "remember the milk"]);
  assert.deepEqual(
    chunks.flatMap(({ type, delta }) => (type === "text-delta" || type === "reasoning-delta" ? [delta] : [])),
    ["look", "enough", "Buy milk."],
  );
  assert.deepEqual(chunks.at(-1), {
    type: "finish",
    finishReason: "stop",
    messageMetadata: { ...metadata, status: "done" },
  });
  // The page's past is the thread's, and the thread then goes on by the page's id.
  assert.deepEqual(said(requests()[0]), ["user: Hello", "assistant: Hi.", "user: What shall I buy?"]);
  const more = { id: "page 2", messages: [...messages, messages[2]], trigger: "submit-message" };
  chunksOf(await (await post([final("Eggs.")], more)).text());
  assert.equal(said(requests()[2]).length, 5);
});

test("assistant-ui's data stream and an Accept header ask for a stream, too", async () => {
  const body = { system: "Be brief.", messages: [user("hi")], tools: {}, threadId: "t1" };
  assert.equal(chunksOf(await (await post([final("ok")], body)).text()).at(-1)!.type, "finish");
  assert.match(String(requests()[0]!.messages[0]!.content), /^You are the orchestrator[^]*Be brief\.$/);
  // A page whose conversations are only its own sends all of it each time, with the empty answer at its end.
  const past = [user("one"), { role: "assistant", content: [{ type: "text", text: "two" }] }, user("three")];
  const own = { messages: [...past, { role: "assistant", content: [] }], tools: {}, threadId: "__DEFAULT_ID__" };
  for (let time = 0; time < 2; time++) {
    chunksOf(await (await post([final("ok")], own)).text());
    assert.deepEqual(said(requests().at(-1)), ["user: one", "assistant: two", "user: three"]);
  }
  const accept = { accept: "text/event-stream" };
  assert.equal(
    chunksOf(await (await post([final("ok")], { messages: [user("hi")] }, accept)).text()).at(-1)!.type,
    "finish",
  );
  const whole = await post([final("ok")], body, { accept: "application/json" });
  assert.equal(((await whole.json()) as { answer: string }).answer, "ok");
});

test("handovers are events of the stream; a failure and a wait end it in words", async () => {
  const delegated = written({ action: "delegate", target_agent: "coder", args: { task: "go" } });
  const body = (id: string) => ({ id, messages: [user("go")], trigger: "submit-message" });
  const failed = chunksOf(await (await post([delegated, [{ error: "auth", message: "no key" }]], body("f"))).text());
  const events = failed.filter(({ type }) => type === "data-event");
  assert.deepEqual(events[0]!.data, {
    ...{ step: 1, agent: "orchestrator", action: "delegate", tool: null, target_agent: "coder", thought: "" },
  });
  assert.equal(failed.at(-1)!.type, "error");
  assert.match(String(failed.at(-1)!["errorText"]), /no key/);

  const waiting = chunksOf(await (await post([runPython], body("w"))).text());
  assert.match(waiting.findLast(({ type }) => type === "text-delta")!.delta!, /waits for a person/);
  assert.equal((waiting.at(-1)!["messageMetadata"] as { status: string }).status, "waiting");
});

test("the answer is told while it is being written, and what looked like one is taken back", async () => {
  const gate = Promise.withResolvers<void>();
  const whole = final("Buy milk and eggs.");
  const cut = whole.indexOf(" and eggs");
  const script: ScriptAnswer = [
    { text: whole.slice(0, cut) },
    { gate: () => gate.promise },
    { text: whole.slice(cut) },
  ];
  const body = (id: string) => ({ id, messages: [user("What?")], trigger: "submit-message" });
  const live = (await post([script], body("l1"))).body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes('"Buy milk"')) text += (await live.read()).value;
  assert.match(text, /"reasoning-delta","id":"thought-1","delta":"enough"/);
  gate.resolve();
  for (let read = await live.read(); !read.done; read = await live.read()) text += read.value;
  const pieces = (chunks: UiChunkJson[]) => chunks.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : []));
  assert.deepEqual(pieces(chunksOf(text)), ["Buy milk", " and eggs."]);

  // Of two actions the first counts.
  const first = chunksOf(await (await post([readNotes + final("Wrong."), final("Right.")], body("l2"))).text());
  assert.deepEqual(pieces(first), ["Right."]);

  // Half an answer is asked for again.
  const broken = final("Wrong").slice(0, -2);
  const chunks = chunksOf(await (await post([broken, final("Right.")], body("l3"))).text());
  const taken = chunks.findIndex(({ type }) => type === "reset-step");
  assert.deepEqual(pieces(chunks.slice(0, taken)), ["Wrong"]);
  assert.deepEqual(pieces(chunks.slice(taken)), ["Right."]);
});

test("a stream can be taken up again while its run is at work", async () => {
  const resume = (id: string) => fetch(`${server.url}/chat/${id}/stream`);
  assert.equal((await resume("nobody")).status, 204);
  const gate = Promise.withResolvers<void>();
  const left = new AbortController();
  answers = [readNotes, [{ gate: () => gate.promise }, { text: final("Milk.") }]];
  const first = await fetch(server.url + "/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: "r1", messages: [user("What?")], trigger: "submit-message" }),
    signal: left.signal,
  });
  await until(() => requests().length === 2, "the second step");
  left.abort();
  const second = await resume("r1");
  gate.resolve();
  const chunks = chunksOf(await second.text());
  assert.equal(chunks[0]!["messageId"], first.headers.get("x-colloquy-run"));
  assert(chunks.some(({ type }) => type === "tool-output-available"));
  assert.equal(chunks.find(({ type }) => type === "text-delta")!.delta, "Milk.");
  assert.equal((await resume("r1")).status, 204);
});
