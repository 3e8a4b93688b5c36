import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, test } from "node:test";
import { owner, serve, servicesWith, type Serving } from "../../../../test/serve.ts";
import { createModels } from "../../../models/registry.ts";
import { createScripted, type ScriptStep } from "../../../models/demo/scripted.ts";
import type { ModelCallRecord } from "../../../protocol/agents/models.ts";

const gate = Promise.withResolvers<void>();
const scripts: Record<string, readonly ScriptStep[]> = {
  hello: [
    { reasoning: "hm" },
    { text: "Hel" },
    { text: 'lo "you"\n' },
    { finish: "stop", usage: { inputTokens: 3, outputTokens: 4 } },
  ],
  weather: [{ call: "weather", arguments: { city: "Oslo" } }, { finish: "calls" }],
  "breaks-off": [{ text: "Hel" }, { error: "cut", message: "cut off" }],
  "rate-limited": [{ error: "rate-limit", message: "too many" }],
  waits: [{ text: "first" }, { gate: () => gate.promise }, { text: " second" }],
  hangs: [{ text: "first" }, { hang: true }],
};
const adapters = Object.fromEntries(
  Object.entries(scripts).map(([name, script]) => [name, createScripted(() => script, { name })]),
);
const calls: ModelCallRecord[] = [];
let server: Serving;

before(async () => {
  const models = createModels({ models: [{ id: "chain", fallback: ["rate-limited", "hello"] }], adapters });
  server = await serve(servicesWith({ models, callLog: { add: (record) => calls.push(record) } }));
});
after(() => server.close());

type JsonBody = Readonly<Record<string, unknown>>;

async function ask(model: string, more: JsonBody = {}): Promise<IncomingMessage> {
  const asking = request(server.url + "/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  asking.end(JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], ...more }));
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return answer.setEncoding("utf8");
}

async function bodyText(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of answer) text += piece;
  return text;
}

type CompletionChunk = {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly { readonly delta: JsonBody; readonly finish_reason: string | null }[];
  readonly usage?: JsonBody | null;
  readonly error?: { readonly message: string; readonly type: string; readonly code: string };
};

/** The events of a stream; `[DONE]` must be the last, if it is there at all. */
function eventsOf(text: string): { chunks: CompletionChunk[]; done: boolean } {
  const lines = text.split("\n\n").slice(0, -1);
  const done = lines.at(-1) === "data: [DONE]";
  const chunks = (done ? lines.slice(0, -1) : lines).map(
    (line) => JSON.parse(line.replace(/^data: /, "")) as CompletionChunk,
  );
  return { chunks, done };
}

test("an Idempotency-Key is not refused, and its answer says that a model knows none", async () => {
  const post = (headers: Record<string, string>) =>
    fetch(server.url + "/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "hello", messages: [{ role: "user", content: "hi" }] }),
    });
  const logged = calls.length;
  for (let time = 0; time < 2; time++) {
    const answer = await post({ "idempotency-key": "k" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("x-colloquy-idempotency"), "ignored");
  }
  assert.equal(calls.length, logged + 2);
  assert.equal((await post({})).headers.get("x-colloquy-idempotency"), null);
});

test("a stream has one chunk per part, one id, and our own end", async () => {
  const answer = await ask("hello", { stream: true, stream_options: { include_usage: true } });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers["x-colloquy-model"], "hello");
  assert.match(answer.headers["content-type"] ?? "", /^text\/event-stream/);
  const { chunks, done } = eventsOf(await bodyText(answer));
  assert.ok(done);
  assert.deepEqual(
    chunks.map(({ choices }) => choices[0]?.delta),
    [
      { role: "assistant", content: "" },
      { reasoning_content: "hm" },
      { content: "Hel" },
      { content: 'lo "you"\n' },
      {},
      undefined,
    ],
  );
  assert.deepEqual(chunks.map(({ choices }) => choices[0]?.finish_reason).slice(3), [null, "stop", undefined]);
  assert.deepEqual(chunks.at(-1)?.usage, { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  assert.match(chunks[0]!.id, /^chatcmpl-[0-9a-f]{32}$/);
  assert.ok(chunks.every(({ model }) => model === "hello"));
});

test("a whole answer has what OpenAI's schema requires", async () => {
  const answer = await ask("hello");
  const { id, created, ...body } = JSON.parse(await bodyText(answer)) as JsonBody;
  assert.match(String(id), /^chatcmpl-/);
  assert.ok(Number.isInteger(created));
  assert.deepEqual(body, {
    object: "chat.completion",
    model: "hello",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: 'Hello "you"\n', refusal: null, reasoning_content: "hm" },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  });
});

test("a call comes with our own id, streamed and whole", async () => {
  const tools = [{ type: "function", function: { name: "weather" } }];
  const { chunks } = eventsOf(await bodyText(await ask("weather", { stream: true, tools })));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta["tool_calls"])).filter(Boolean);
  const id = (deltas[0] as { id: string }[])[0]!.id;
  assert.match(id, /^call_/);
  assert.deepEqual(deltas, [
    [{ index: 0, id, type: "function", function: { name: "weather", arguments: "" } }],
    [{ index: 0, function: { arguments: '{"city":"Oslo"}' } }],
  ]);
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, "tool_calls");

  const whole = JSON.parse(await bodyText(await ask("weather", { tools }))) as { choices: { message: JsonBody }[] };
  const { content, tool_calls: made } = whole.choices[0]!.message;
  assert.equal(content, null);
  assert.deepEqual((made as { function: JsonBody }[])[0]!.function, { name: "weather", arguments: '{"city":"Oslo"}' });
});

test("a failure in mid-stream is an error event, and never [DONE]", async () => {
  const { chunks, done } = eventsOf(await bodyText(await ask("breaks-off", { stream: true })));
  assert.equal(done, false);
  assert.deepEqual(chunks.at(-1)?.error, { message: "cut off", type: "server_error", param: null, code: "model_cut" });
});

test("a failure before the first part is an HTTP error, streamed or not", async () => {
  for (const stream of [true, false]) {
    const answer = await ask("rate-limited", { stream });
    assert.equal(answer.statusCode, 429);
    const { error } = JSON.parse(await bodyText(answer)) as { error: JsonBody };
    assert.deepEqual(error, { message: "too many", type: "rate_limit_error", param: null, code: "model_rate_limit" });
  }
});

test("a chain says who served", async () => {
  const answer = await ask("chain", { stream: true });
  assert.equal(answer.headers["x-colloquy-model"], "hello");
  assert.equal(eventsOf(await bodyText(answer)).chunks[0]?.model, "hello");
});

test("parts leave as they come", async () => {
  const answer = await ask("waits", { stream: true });
  const [first] = (await once(answer, "data")) as [string];
  assert.match(first, /"content":"first"/);
  assert.doesNotMatch(first, /second/);
  gate.resolve();
  assert.match(await bodyText(answer), /"content":" second"/);
});

test("a closed connection aborts the model", async () => {
  const answer = await ask("hangs", { stream: true });
  await once(answer, "data");
  assert.equal(adapters["hangs"]!.stopped(), 0);
  answer.destroy();
  while (adapters["hangs"]!.stopped() === 0) await new Promise((resolve) => setImmediate(resolve));
});

test("every call is logged with who asked", async () => {
  calls.length = 0;
  await bodyText(await ask("hello", { stream: true }));
  assert.deepEqual(
    calls.map(({ asked, userId, runId, finish, outputTokens }) => ({ asked, userId, runId, finish, outputTokens })),
    [{ asked: "hello", userId: owner.userId, runId: null, finish: "stop", outputTokens: 4 }],
  );
});

test("an unknown name is told the known ones", async () => {
  const answer = await ask("gpt-9");
  assert.equal(answer.statusCode, 404);
  const { error } = JSON.parse(await bodyText(answer)) as { error: JsonBody };
  assert.equal(error["code"], "model_not_found");
  assert.match(String(error["message"]), /"gpt-9".*chain/);
});

test("what nobody reads is named in a header", async () => {
  const answer = await ask("hello", { min_p: 0.1, user: "u", temperature: 1 });
  await bodyText(answer);
  assert.equal(answer.headers["x-colloquy-left-out"], "min_p, user");
});
