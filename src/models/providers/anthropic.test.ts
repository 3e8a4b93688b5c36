import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { refusing, startModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelMessage, ModelRequest, ToolSchema } from "../../protocol/agents/models.ts";
import { createModels } from "../registry.ts";
import type { Models } from "../registry.ts";

const never = new AbortController().signal;
const parameters = { type: "object", properties: { a: { type: "number" } } };
const tool: ToolSchema = { name: "add", description: "Adds", parameters };

let server: ModelServer;
let models: Models;
before(async () => (server = await startModelServer()));
after(() => server.close());
beforeEach(() => {
  const config = { provider: "anthropic", model: "served", apiKey: "key", baseUrl: server.url, retries: 0 } as const;
  models = createModels({
    models: [
      { ...config, id: "m" },
      { ...config, id: "thinks", options: { thinkingTokens: 2000 } },
    ],
  });
});
afterEach(() => models.close());

const ask = (request: Partial<ModelRequest>, model = "m") =>
  collect(models.get(model).stream({ messages: [], ...request }, never));
const lastBody = () => server.requests.at(-1)!.body;

/** Each block: how it starts, and its deltas. */
function rawAnswer(blocks: readonly (readonly object[])[], reason: string): string {
  const frames = [
    { type: "message_start", message: { usage: { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 1 } } },
    ...blocks.flatMap(([block, ...deltas], index) => [
      { type: "content_block_start", index, content_block: block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 6 } },
    { type: "message_stop" },
  ];
  return frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
}

const cached = { cache_control: { type: "ephemeral" } };

test("the stop text that ended an answer is told", async () => {
  const delta = { stop_reason: "stop_sequence", stop_sequence: "END" };
  const streamed = rawAnswer([[{ type: "text", text: "a" }]], "stop_sequence");
  const answers = [
    { raw: streamed.replace('"stop_reason":"stop_sequence"', JSON.stringify(delta).slice(1, -1)) },
    {
      raw: JSON.stringify({ type: "message", content: [{ type: "text", text: "a" }], ...delta }),
      headers: { "content-type": "application/json" },
    },
  ];
  for (const answer of answers) {
    server.answer(answer);
    const ends: unknown[] = [];
    for await (const parts of models.get("m").stream({ messages: [], settings: { stop: ["END"] } }, never))
      for (const part of parts) if (part.type === "finish") ends.push([part.reason, part.stopSequence]);
    assert.deepEqual(ends, [["stop", "END"]]);
  }
});

test("a request in full: one system text, two sides, results before text", async () => {
  await ask({
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", url: "data:image/png;base64,AAAA" },
          { type: "image", url: "https://example.com/a.png" },
        ],
      },
      {
        role: "assistant",
        content: "I add. ",
        calls: [
          { id: "call_1", name: "add", arguments: '{"a":1}' },
          { id: "call_2", name: "add", arguments: "" },
        ],
      },
      { role: "tool", callId: "call_1", name: "add", content: "1" },
      { role: "tool", callId: "call_2", name: "add", content: "no", isError: true },
      { role: "user", content: "And?" },
      { role: "system", content: "Be kind." },
    ],
    tools: [tool],
    toolChoice: "required",
    settings: { maxTokens: 10, temperature: 1.5, stop: ["x"], parallelCalls: false },
  });
  assert.equal(server.requests.at(-1)!.path, "/v1/messages");
  assert.equal(server.requests.at(-1)!.headers["x-api-key"], "key");
  assert.deepEqual(lastBody(), {
    model: "served",
    max_tokens: 10,
    stream: true,
    temperature: 1,
    stop_sequences: ["x"],
    system: [{ type: "text", text: "Be brief.\n\nBe kind.", ...cached }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I add." },
          { type: "tool_use", id: "call_1", name: "add", input: { a: 1 } },
          { type: "tool_use", id: "call_2", name: "add", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "1" },
          { type: "tool_result", tool_use_id: "call_2", content: "no", is_error: true },
          { type: "text", text: "And?", ...cached },
        ],
      },
    ],
    tools: [{ name: "add", description: "Adds", input_schema: parameters }],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
  });
});

test("what stays the same is marked for the cache: without instructions the tools; without tools nothing", async () => {
  await ask({ messages: [{ role: "user", content: "hi" }], tools: [tool] });
  const { tools, messages } = lastBody() as { tools: object[]; messages: { content: object[] }[] };
  assert.deepEqual(tools, [{ name: "add", description: "Adds", input_schema: parameters, ...cached }]);
  assert.deepEqual(messages.at(-1)?.content, [{ type: "text", text: "hi", ...cached }]);
  await ask({ messages: [{ role: "user", content: "hi" }] });
  assert.doesNotMatch(JSON.stringify(lastBody()), /cache_control/);
});

test("thinking comes back with its signature, to this provider alone", async () => {
  server.answer({ reasoning: ["I think", " so"], calls: [{ name: "add", arguments: { a: 1 } }] });
  const told = await ask({}, "thinks");
  assert.equal(told.reasoning, "I think so");
  assert.deepEqual(lastBody()["thinking"], { type: "enabled", budget_tokens: 2000 });
  const assistant: ModelMessage = { role: "assistant", content: "", opaque: told.opaque, calls: told.calls };
  const history: ModelMessage[] = [assistant, { role: "tool", callId: told.calls[0]!.id, name: "add", content: "1" }];
  await ask({ messages: history }, "thinks");
  const [turn] = lastBody()["messages"] as [{ content: object[] }];
  assert.deepEqual(turn.content[0], { type: "thinking", thinking: "I think so", signature: "signed" });
  await ask({ messages: [{ ...assistant, opaque: { provider: "other", blocks: [{}] } }] }, "thinks");
  assert.equal((lastBody()["messages"] as [{ content: object[] }])[0].content.length, 1);
});

test("output by schema: by the provider's own way, else by a forced tool whose input is the text", async () => {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const format = { type: "json-schema", name: "out", schema } as const;
  await ask({ format });
  assert.deepEqual(lastBody()["output_config"], { format: { type: "json_schema", schema } });
  server.always(refusing(["output_config"], { calls: [{ name: "answer", arguments: { city: "Oslo" } }] }));
  const told = await ask({ format });
  assert.equal(told.text, '{"city":"Oslo"}');
  assert.equal(told.finish, "stop");
  assert.deepEqual(told.calls, []);
  assert.deepEqual(lastBody()["tool_choice"], { type: "tool", name: "answer" });
  server.always("ok");
});

test("why it stopped", async () => {
  const reasons = {
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    refusal: "filter",
    something_new: "other",
  };
  for (const [given, ours] of Object.entries(reasons)) {
    server.answer({ raw: rawAnswer([], given) });
    const told = await ask({});
    assert.equal(told.finish, ours);
    assert.deepEqual(told.usage, { inputTokens: 25, outputTokens: 6, cachedTokens: 20 });
  }
});

test("a paused answer goes on with what came, without a seam, as one answer with all its tokens", async () => {
  const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "https://a.example" }] };
  server.answer(
    {
      raw: rawAnswer(
        [
          [
            { type: "thinking", thinking: "", signature: "" },
            { type: "thinking_delta", thinking: "Look" },
          ],
          [
            search,
            { type: "input_json_delta", partial_json: '{"query":' },
            { type: "input_json_delta", partial_json: '"x"}' },
          ],
          [found],
          [
            { type: "text", text: "" },
            { type: "text_delta", text: "It " },
            { type: "citations_delta", citation: { n: 1 } },
          ],
        ],
        "pause_turn",
      ),
    },
    {
      raw: rawAnswer(
        [
          [
            { type: "text", text: "" },
            { type: "text_delta", text: "is " },
          ],
        ],
        "pause_turn",
      ),
    },
    { raw: rawAnswer([[{ type: "text", text: "so." }]], "end_turn") },
  );
  const before = server.requests.length;
  const told = await ask({ messages: [{ role: "user", content: "Search" }], tools: [tool] });
  assert.deepEqual([told.text, told.reasoning, told.finish], ["It is so.", "Look", "stop"]);
  assert.deepEqual(told.usage, { inputTokens: 75, outputTokens: 18, cachedTokens: 60 });
  const bodies = server.requests.slice(before).map(({ body }) => body as { tools: object[]; messages: object[] });
  assert.equal(bodies.length, 3);
  const said = [
    { type: "thinking", thinking: "Look", signature: "" },
    { ...search, input: { query: "x" } },
    found,
    { type: "text", text: "It ", citations: [{ n: 1 }] },
  ];
  assert.deepEqual(bodies[1], {
    ...bodies[0],
    messages: [...bodies[0]!.messages, { role: "assistant", content: said }],
  });
  assert.deepEqual(bodies[2]!.messages.at(-1), {
    role: "assistant",
    content: [...said, { type: "text", text: "is " }],
  });
  assert.equal(bodies[2]!.messages.length, 2);
});

test("a pause without an end is a cut-off answer; calls are not kept waiting for it; what fails in it fails", async () => {
  const paused = { raw: rawAnswer([[{ type: "text", text: "and " }]], "pause_turn") };
  server.always(paused);
  const before = server.requests.length;
  const endless = await ask({});
  assert.deepEqual([endless.finish, server.requests.length - before], ["length", 11]);
  server.always("ok");
  server.answer({
    raw: rawAnswer([[{ type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } }]], "pause_turn"),
  });
  const calling = await ask({ tools: [tool] });
  assert.deepEqual([calling.finish, calling.calls[0]?.arguments], ["calls", '{"a":1}']);
  server.answer(paused, { status: 529, error: "Overloaded" });
  const failed = await ask({});
  assert.deepEqual([failed.text, failed.error?.kind], ["and ", "overloaded"]);
});

test("tools of the provider stand beside those of the request", async () => {
  const search = { type: "web_search_20250305", name: "web_search" };
  const own = createModels({
    models: [
      {
        provider: "anthropic",
        id: "searches",
        model: "served",
        baseUrl: server.url,
        options: { extraBody: { tools: [search] } },
      },
    ],
  });
  const messages: ModelMessage[] = [{ role: "user", content: "hi" }];
  await collect(own.get("searches").stream({ messages }, never));
  assert.deepEqual(lastBody()["tools"], [search]);
  await collect(own.get("searches").stream({ messages, tools: [tool] }, never));
  assert.deepEqual(
    (lastBody()["tools"] as { name: string }[]).map(({ name }) => name),
    ["web_search", "add"],
  );
  await own.close();
});

test("without message_stop the answer was cut, though the reason is known", async () => {
  server.answer({ text: "whole?", fault: "no-end-mark" });
  assert.equal((await ask({})).error?.kind, "cut");
});

test("overloaded in mid-stream", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  server.answer({ raw: `event: error\ndata: ${JSON.stringify(error)}\n\n` });
  assert.equal((await ask({})).error?.kind, "overloaded");
});
