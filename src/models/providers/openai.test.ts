import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { refusing, startModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelRequest, ToolSchema } from "../../protocol/agents/models.ts";
import type { OpenAiConfig } from "../config.ts";
import { rulesOfHost } from "./hosts.ts";
import { createModels } from "../registry.ts";
import type { Models } from "../registry.ts";

const never = new AbortController().signal;
const tool: ToolSchema = {
  name: "add",
  description: "Adds",
  parameters: { type: "object", properties: { a: { type: "number" } } },
};
const image = "data:image/png;base64,iVBORw0KGgo=";

let server: ModelServer;
let models: Models;
before(async () => (server = await startModelServer()));
beforeEach(() => (models = make({})));
after(() => server.close());

function make(more: Partial<OpenAiConfig>): Models {
  return createModels({
    models: [{ id: "m", provider: "openai", model: "served", baseUrl: `${server.url}/v1`, retries: 0, ...more }],
  });
}

async function bodyFor(request: Partial<ModelRequest>, from = models): Promise<Record<string, unknown>> {
  await collect(from.get("m").stream({ messages: [], ...request }, never));
  await from.close();
  return { ...server.requests.at(-1)!.body };
}

test("a tool with a dot in its name is sent under another one, and called by its own", async () => {
  server.answer({ calls: [{ name: "math_add", arguments: { a: 1 } }] });
  const request = { messages: [], tools: [{ ...tool, name: "math.add" }] };
  const { calls } = await collect(models.get("m").stream(request, never));
  assert.match(JSON.stringify(server.requests.at(-1)!.body), /"name":"math_add"/);
  assert.equal(calls[0]!.name, "math.add");
});

test("what a client wrote besides is passed on; what the operator has set stands", async () => {
  const set = make({ options: { extraBody: { min_p: 0.1 } } });
  const body = await bodyFor({ extra: { min_p: 0.9, chat_template_kwargs: { thinking: false }, model: "x" } }, set);
  assert.deepEqual([body["min_p"], body["chat_template_kwargs"]], [0.1, { thinking: false }]);
  assert.equal(body["model"], "served");
});

for (const [what, told] of [
  ["vLLM", { stop_reason: "END" }],
  ["SGLang", { matched_stop: "END" }],
  ["vLLM, a token", { stop_reason: 128009 }],
  ["SGLang, a mark of the model", { matched_stop: "<|im_end|>" }],
  ["OpenAI and llama.cpp", {}],
] as const)
  test(`the stop text that ended an answer: ${what}`, async () => {
    const choice = { index: 0, finish_reason: "stop", ...told };
    const known = Object.values(told)[0] === "END" ? "END" : undefined;
    const request = { messages: [], settings: { stop: ["STOP", "END"] } };
    const ends = [
      { raw: `data: ${JSON.stringify({ choices: [{ ...choice, delta: { content: "a" } }] })}\n\ndata: [DONE]\n\n` },
      {
        raw: JSON.stringify({ choices: [{ ...choice, message: { content: "a" } }] }),
        headers: { "content-type": "application/json" },
      },
    ];
    for (const answer of ends) {
      server.answer(answer);
      assert.equal((await finishOf(request)).stopSequence, known);
      server.answer(answer);
      assert.equal((await finishOf({ messages: [] })).stopSequence, undefined);
    }
  });

async function finishOf(request: ModelRequest) {
  for await (const parts of models.get("m").stream(request, never))
    for (const part of parts) if (part.type === "finish") return part;
  throw new Error("no end");
}

test("a request in full", async () => {
  const body = await bodyFor({
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image", url: image },
        ],
      },
      { role: "assistant", content: "", reasoning: "hm", calls: [{ id: "call_1", name: "add", arguments: '{"a":1}' }] },
      { role: "tool", callId: "call_1", name: "add", content: "1" },
      { role: "tool", callId: "call_1", name: "add", content: "boom", isError: true },
      { role: "assistant", content: "One." },
    ],
    tools: [{ ...tool, strict: true }],
    toolChoice: { name: "add" },
    format: { type: "json-schema", name: "out", schema: { type: "object" }, strict: true },
    settings: {
      temperature: 0,
      topP: 0.5,
      topK: 9,
      maxTokens: 10,
      stop: ["x"],
      seed: 1,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      reasoningEffort: "low",
      parallelCalls: false,
    },
  });
  assert.deepEqual(body, {
    model: "served",
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: image } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "1" },
      { role: "tool", tool_call_id: "call_1", content: "Error: boom" },
      { role: "assistant", content: "One." },
    ],
    tools: [{ type: "function", function: { ...tool, strict: true } }],
    tool_choice: { type: "function", function: { name: "add" } },
    response_format: { type: "json_schema", json_schema: { name: "out", schema: { type: "object" }, strict: true } },
    temperature: 0,
    top_p: 0.5,
    top_k: 9,
    max_tokens: 10,
    stop: ["x"],
    seed: 1,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    reasoning_effort: "low",
    parallel_tool_calls: false,
  });
});

test("nothing is sent that was not asked for; options of the config are defaults", async () => {
  const from = make({
    options: {
      temperature: 0.2,
      maxTokens: 5,
      extraBody: { chat_template_kwargs: { enable_thinking: false } },
      reasoningField: "reasoning_content",
    },
  });
  const body = await bodyFor(
    { messages: [{ role: "assistant", content: "a", reasoning: "b" }], settings: { maxTokens: 7 }, toolChoice: "auto" },
    from,
  );
  assert.deepEqual(body, {
    model: "served",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "assistant", content: "a", reasoning_content: "b" }],
    temperature: 0.2,
    max_tokens: 7,
    chat_template_kwargs: { enable_thinking: false },
  });
});

test("foreign call ids go out in a form that every provider takes, the same for call and result", async () => {
  const id = "chatcmpl-tool:" + "x".repeat(60);
  const body = await bodyFor({
    messages: [
      { role: "assistant", content: "", calls: [{ id, name: "add", arguments: "{}" }] },
      { role: "tool", callId: id, name: "add", content: "1" },
    ],
  });
  const [call, result] = body["messages"] as [{ tool_calls: [{ id: string }] }, { tool_call_id: string }];
  assert.match(call.tool_calls[0].id, /^call_[0-9a-f]{32}$/);
  assert.equal(result.tool_call_id, call.tool_calls[0].id);
});

test("a refused field is left out, and is not sent again", async () => {
  const settings = { frequencyPenalty: 1, seed: 3 };
  server.always(refusing(["frequency_penalty", "stream_options", "strict"], { text: "fine" }));
  const request: ModelRequest = { messages: [], settings, tools: [{ ...tool, strict: true }] };
  const first = await collect(models.get("m").stream(request, never));
  assert.equal(first.text, "fine");
  const seen = server.requests.length;
  assert.equal((await collect(models.get("m").stream(request, never))).text, "fine");
  assert.equal(server.requests.length, seen + 1);
  assert.equal(server.requests.at(-1)!.body["seed"], 3);
  server.always("ok");
  await models.close();
});

test("a 400 that names nothing optional stays a refusal", async () => {
  server.answer({ status: 400, error: "messages[0].content is empty" });
  const before = server.requests.length;
  const { error } = await collect(models.get("m").stream({ messages: [] }, never));
  assert.equal(error?.kind, "refused");
  assert.equal(server.requests.length, before + 1);
  await models.close();
});

test("a provider that does not stream with tools is asked for a whole answer", async () => {
  server.always(({ body }) =>
    body["stream"] && body["tools"]
      ? { status: 400, error: "streaming is not supported with tools" }
      : { text: "Hi", reasoning: "hm", calls: [{ name: "add", arguments: { a: 1 } }] },
  );
  const told = await collect(models.get("m").stream({ messages: [], tools: [tool] }, never));
  assert.equal(told.text, "Hi");
  assert.equal(told.reasoning, "hm");
  assert.equal(told.calls[0]?.arguments, '{"a":1}');
  assert.equal(told.finish, "calls");
  assert.equal(server.requests.at(-1)!.body["stream"], false);
  await collect(models.get("m").stream({ messages: [] }, never));
  assert.equal(server.requests.at(-1)!.body["stream"], true);
  server.always("ok");
  await models.close();
});

test("a server without json_schema gets the schema beside json_object", async () => {
  const schema = { type: "object" };
  server.answer({ status: 400, error: "response_format: unknown type json_schema" });
  const body = await bodyFor({ format: { type: "json-schema", name: "out", schema } });
  assert.deepEqual(body["response_format"], { type: "json_object", schema });
});

test("a missing [DONE] is forgiven, and so is a missing finish_reason, but not both", async () => {
  server.answer({ text: "whole", fault: "no-end-mark" });
  const told = await collect(models.get("m").stream({ messages: [] }, never));
  assert.equal(told.error, undefined);
  assert.equal(told.finish, "stop");
  const half = 'data: {"choices":[{"delta":{"content":"half"}}]}\n\n';
  server.answer({ raw: `${half}data: [DONE]\n\n` });
  assert.equal((await collect(models.get("m").stream({ messages: [] }, never))).finish, "stop");
  for (const raw of [half, "data: [DONE]\n\n"]) {
    server.answer({ raw });
    assert.equal((await collect(models.get("m").stream({ messages: [] }, never))).error?.kind, "cut");
  }
  await models.close();
});

test("calls are told apart although a server repeats ids or leaves indexes out", async () => {
  const chunk = (toolCalls: object[], finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: toolCalls }, finish_reason: finish }] })}\n\n`;
  const call = (id: string, name: string, text: string) => ({ id, function: { name, arguments: text } });
  const ways = {
    "the same id": [
      chunk([{ index: 0, ...call("x", "a", "{") }]),
      chunk([{ index: 1, ...call("x", "b", "[") }]),
      chunk([
        { index: 0, function: { arguments: "}" } },
        { index: 1, function: { arguments: "]" } },
      ]),
    ],
    "always index 0": [
      chunk([{ index: 0, ...call("x", "a", "{") }]),
      chunk([{ index: 0, function: { arguments: "}" } }]),
      chunk([{ index: 0, ...call("y", "b", "[") }]),
      chunk([{ index: 0, function: { arguments: "]" } }]),
    ],
    "no index": [chunk([call("x", "a", "{}"), call("y", "b", "[]")])],
    "id and name each time": [
      chunk([{ index: 0, ...call("x", "a", "{") }]),
      chunk([{ index: 0, ...call("x", "a", "}") }]),
      chunk([{ index: 1, ...call("y", "b", "[]") }]),
    ],
    "the name late": [
      chunk([{ index: 0, id: "x", function: { arguments: "{" } }]),
      chunk([{ index: 0, function: { name: "a", arguments: "}" } }]),
      chunk([{ index: 1, ...call("y", "b", "[]") }]),
    ],
  };
  for (const [way, frames] of Object.entries(ways)) {
    server.answer({ raw: frames.join("") + chunk([], "stop") + "data: [DONE]\n\n" });
    const told = await collect(models.get("m").stream({ messages: [] }, never));
    assert.deepEqual(
      told.calls.map(({ name, arguments: text }) => name + text),
      ["a{}", "b[]"],
      way,
    );
    assert.equal(told.finish, "calls", way);
  }
  await models.close();
});

test("Cerebras: what it is known to refuse is never sent", () => {
  const rules = rulesOfHost(new URL("https://api.cerebras.ai/v1/chat/completions"));
  for (const field of ["frequency_penalty", "presence_penalty", "logit_bias", "parallel_tool_calls", "service_tier"])
    assert.ok(rules.refuses.has(field), field);
  assert.ok(rules.weakToolChoice && rules.strictTools);
});
