import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { startModelServer } from "../../../test/model-servers/model-server.ts";
import type { Answering, ModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { createModels } from "../registry.ts";
import type { Models } from "../registry.ts";

const never = new AbortController().signal;

let server: ModelServer;
let models: Models;
before(async () => {
  server = await startModelServer();
  const config = {
    provider: "ai-sdk",
    package: import.meta.resolve("@ai-sdk/openai-compatible"),
    export: "createOpenAICompatible",
    model: "served",
    baseUrl: `${server.url}/v1`,
    apiKey: "sk-secret",
    retries: 0,
  } as const;
  models = createModels({
    models: [
      { ...config, id: "m" },
      { ...config, id: "quick", timeouts: { connectMs: 50, firstPartMs: 100, idleMs: 150 } },
      { ...config, id: "missing", package: "@nobody/nothing" },
      { ...config, id: "wrong", export: "nothing" },
    ],
  });
});
after(async () => {
  await models.close();
  await server.close();
});

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello" }] };
const ask = (answer: Answering, model = "m", request = hello) => {
  server.answer(answer);
  return collect(models.get(model).stream(request, never));
};

test("text, reasoning, calls and usage come through", async () => {
  const calls = [
    { name: "add", arguments: { a: 1 } },
    { name: "add", arguments: { a: 2 }, id: "call_other" },
  ];
  const told = await ask({ reasoning: "hm", text: ["Hel", "lo"], calls, usage: { input: 7, output: 9 } });
  assert.equal(told.error, undefined);
  assert.deepEqual([told.reasoning, told.text, told.finish], ["hm", "Hello", "calls"]);
  assert.deepEqual(
    told.calls.map((call) => call.arguments),
    ['{"a":1}', '{"a":2}'],
  );
  for (const call of told.calls) assert.match(call.id, /^call_[0-9a-f]{32}$/);
  assert.equal(told.usage?.inputTokens, 7);
  assert.deepEqual(told.parts[0], { type: "start", model: "m", provider: "ai-sdk" });
});

test("the request arrives as it was meant", async () => {
  const request: ModelRequest = {
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", url: "data:image/png;base64,AAAA" },
        ],
      },
      {
        role: "assistant",
        content: "",
        calls: [
          { id: "call_1", name: "add", arguments: '{"a":1}' },
          { id: "call_2", name: "add", arguments: "{}" },
        ],
      },
      { role: "tool", callId: "call_1", name: "add", content: "1" },
      { role: "tool", callId: "call_2", name: "add", content: "2" },
    ],
    tools: [{ name: "add", description: "Adds", parameters: { type: "object", properties: {} } }],
    toolChoice: "required",
    format: { type: "json-schema", name: "out", schema: { type: "object" } },
    settings: { temperature: 0.5, maxTokens: 5 },
  };
  await ask("ok", "m", request);
  const { body, headers } = server.requests.at(-1)!;
  assert.equal(headers.authorization, "Bearer sk-secret");
  const { messages, tool_choice, temperature, max_tokens, response_format } = body as Record<
    string,
    { type?: string }
  > & { messages: { role: string; tool_call_id?: string }[] };
  assert.deepEqual(
    messages.map(({ role, tool_call_id }) => tool_call_id ?? role),
    ["system", "user", "assistant", "call_1", "call_2"],
  );
  assert.deepEqual([tool_choice, temperature, max_tokens, response_format?.type], ["required", 0.5, 5, "json_schema"]);
});

test("failures: statuses, a cut stream, garbage, silence", async () => {
  const limited = await ask({ status: 429, error: "slow down", headers: { "retry-after": "3" } });
  assert.deepEqual(
    [limited.error?.kind, limited.error?.detail.retryAfterSeconds, limited.error?.retryable],
    ["rate-limit", 3, true],
  );
  assert.match(limited.error?.message ?? "", /slow down/);
  assert.equal((await ask({ status: 401, error: "no" })).error?.kind, "auth");
  assert.equal((await ask({ text: "half", fault: "cut" })).error?.kind, "cut");
  assert.equal((await ask({ text: "half", fault: "reset" })).error?.kind, "cut");
  assert.equal((await ask({ text: "half", fault: "garbage" })).error?.kind, "garbage");
  assert.equal((await ask({ text: "half", fault: "error", error: "broke" })).error?.kind, "server");
  assert.equal((await ask({ fault: "silent" }, "quick")).error?.kind, "timeout");
  assert.equal((await ask({ text: "half", fault: "hang" }, "quick")).error?.kind, "timeout");
});

test("an abort closes the connection", async () => {
  server.answer({ text: "half", fault: "hang" });
  const controller = new AbortController();
  const before = server.requests.length;
  const reading = collect(models.get("m").stream(hello, controller.signal));
  await server.until(() => server.requests.length > before);
  controller.abort();
  assert.equal((await reading).error?.kind, "aborted");
  await server.until(() => server.requests.at(-1)!.closedEarly);
});

test("a package that is not there says how to get it", async () => {
  const missing = await collect(models.get("missing").stream(hello, never));
  assert.equal(missing.error?.kind, "refused");
  assert.match(missing.error?.message ?? "", /npm install @nobody\/nothing/);
  const wrong = await collect(models.get("wrong").stream(hello, never));
  assert.match(wrong.error?.message ?? "", /exports no nothing/);
});
