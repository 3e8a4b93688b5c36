import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { decodeChat, decodeGenerate } from "./decode.ts";

const png = "iVBORw0KGgoAAAANSUhEUg==";
const user = { role: "user", content: "hi" };
const chat = (more: object) => decodeChat({ model: "m", messages: [user], ...more });
const call = (name: string, more: object = {}) => ({ ...more, function: { name, arguments: { a: 1 } } });
const tool = (content: string, more: object = {}) => ({ role: "tool", content, ...more });

test("messages of every role come out in our words", () => {
  const { messages, stream } = decodeChat({
    model: "m",
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "What is it?", images: [png] },
      { role: "assistant", content: "", thinking: "A look.", tool_calls: [call("look", { id: "c1" })] },
      tool("a heron", { tool_name: "look", tool_call_id: "c1" }),
      { role: "assistant", content: "A heron." },
      user,
    ],
  });
  assert.equal(stream, true, "unless it says otherwise");
  assert.deepEqual(messages, [
    { role: "system", content: "Be kind." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", url: `data:image/png;base64,${png}` },
      ],
    },
    {
      role: "assistant",
      content: "",
      reasoning: "A look.",
      calls: [{ id: "c1", name: "look", arguments: '{"a":1}' }],
    },
    { role: "tool", callId: "c1", name: "look", content: "a heron" },
    { role: "assistant", content: "A heron." },
    { role: "user", content: "hi" },
  ]);
});

test("results without ids belong to the calls of their name, in order", () => {
  const results = (calls: readonly object[], tools: readonly object[]) =>
    decodeChat({ model: "m", messages: [user, { role: "assistant", tool_calls: calls }, ...tools] }).messages.flatMap(
      (message) => (message.role === "tool" ? [[message.callId, message.content]] : []),
    );
  assert.deepEqual(
    results(
      [call("f"), call("g"), call("f")],
      [tool("g1", { tool_name: "g" }), tool("f1", { tool_name: "f" }), tool("f2", { tool_name: "f" })],
    ),
    [
      ["call_unnamed_1_1", "g1"],
      ["call_unnamed_1_0", "f1"],
      ["call_unnamed_1_2", "f2"],
    ],
  );
  assert.deepEqual(results([call("f", { id: "x" })], [tool("1", { tool_name: "f" })]), [["x", "1"]]);
  assert.deepEqual(results([call("f")], [tool("1")]), [["call_unnamed_1_0", "1"]], "older clients name nothing");
  assert.deepEqual(
    results([call("f")], [tool("1", { tool_call_id: "y", tool_name: "f" })]),
    [["y", "1"]],
    "the result says what the call does not",
  );
});

test("options, format, thinking and tools come out in our words", () => {
  const parameters = { type: "object", properties: {} };
  const asked = chat({
    stream: false,
    think: "high",
    format: { type: "object" },
    tools: [{ type: "function", function: { name: "f", description: "F", parameters } }],
    options: {
      ...{ temperature: 0.5, top_p: 0.9, top_k: 40, seed: 7, stop: ["x"], num_predict: 10 },
      ...{ frequency_penalty: 1, presence_penalty: -1, num_ctx: 4096, min_p: 0.1, mirostat: 2 },
    },
  });
  assert.deepEqual(asked.settings, {
    ...{ temperature: 0.5, topP: 0.9, topK: 40, seed: 7, stop: ["x"], maxTokens: 10 },
    ...{ frequencyPenalty: 1, presencePenalty: -1, reasoningEffort: "high" },
  });
  assert.deepEqual(asked.format, { type: "json-schema", name: "answer", schema: { type: "object" } });
  assert.equal(asked.tools?.[0]?.name, "f");
  assert.equal(asked.stream, false);
  assert.deepEqual(asked.untold, ["options.min_p", "options.mirostat"], "what is about hardware means nothing");
  assert.deepEqual(chat({ format: "json" }).format, { type: "json" });
  assert.equal(chat({ format: "" }).format, undefined);
  assert.equal(chat({ think: true }).settings.reasoningEffort, "medium");
  assert.equal(chat({ think: false }).settings.reasoningEffort, "none");
  const open = chat({ options: { num_predict: -1, top_k: 0, seed: -1 } }).settings;
  assert.deepEqual([open.maxTokens, open.topK, open.seed], [undefined, undefined, undefined]);
});

test("a request without words loads or unloads", () => {
  for (const [keepAlive, load] of [
    [undefined, "load"],
    ["5m", "load"],
    [-1, "load"],
    [0, "unload"],
    ["0s", "unload"],
    ["0", "unload"],
  ] as const) {
    assert.equal(decodeChat({ model: "m", messages: [], keep_alive: keepAlive }).load, load);
    assert.equal(decodeGenerate({ model: "m", keep_alive: keepAlive }).load, load);
  }
  assert.equal(decodeChat({ model: "m", keep_alive: 0, messages: [user] }).load, undefined);
});

test("a prompt is a conversation of one message", () => {
  const asked = decodeGenerate({ model: "m", prompt: "hi", system: "Be kind.", images: [], context: [], suffix: "" });
  assert.deepEqual(asked.messages, [{ role: "system", content: "Be kind." }, user]);
});

const refusals: readonly (readonly [title: string, param: string, body: object, decode?: typeof decodeGenerate])[] = [
  ["a body that is none", "body", []],
  ["no model", "model", { messages: [user] }],
  ["a model that is no text", "model", { model: 1 }],
  ["messages that are no list", "messages", { messages: "hi" }],
  ["a message that is no object", "messages[0]", { messages: ["hi"] }],
  ["an unknown role", "messages[0].role", { messages: [{ role: "tester" }] }],
  ["a content of parts", "messages[0].content", { messages: [{ role: "user", content: [] }] }],
  [
    "an image by its address",
    "messages[0].images[0]",
    { messages: [{ ...user, images: ["https://a.example/x.png"] }] },
  ],
  ["an image that is no text", "messages[0].images[0]", { messages: [{ ...user, images: [1] }] }],
  ["images of a system message", "messages[0].images", { messages: [{ role: "system", images: [png] }] }],
  ["a result of no call", "messages[1].tool_name", { messages: [user, tool("1", { tool_name: "f" })] }],
  [
    "a result of another call",
    "messages[2].tool_call_id",
    { messages: [user, { role: "assistant", tool_calls: [call("f", { id: "x" })] }, tool("1", { tool_call_id: "y" })] },
  ],
  ["a call without a result", "messages", { messages: [user, { role: "assistant", tool_calls: [call("f")] }] }],
  [
    "a call that is passed over",
    "messages[2]",
    { messages: [user, { role: "assistant", tool_calls: [call("f")] }, user] },
  ],
  [
    "arguments as a text",
    "messages[0].tool_calls[0].function.arguments",
    { messages: [{ role: "assistant", tool_calls: [{ function: { name: "f", arguments: "{}" } }] }] },
  ],
  [
    "an id that occurs twice",
    "messages[0].tool_calls[1].id",
    { messages: [{ role: "assistant", tool_calls: [call("f", { id: "x" }), call("f", { id: "x" })] }] },
  ],
  ["tools that are no list", "tools", { messages: [user], tools: {} }],
  [
    "a tool without a name",
    "tools[0].function.name",
    { messages: [user], tools: [{ type: "function", function: {} }] },
  ],
  ["options that are a list", "options", { messages: [user], options: [] }],
  ["a temperature as a text", "options.temperature", { messages: [user], options: { temperature: "1" } }],
  ["a stop that is a number", "options.stop", { messages: [user], options: { stop: 1 } }],
  ["a format of an unknown name", "format", { messages: [user], format: "yaml" }],
  ["a wish to think that is a number", "think", { messages: [user], think: 1 }],
  ["a stream that is a text", "stream", { messages: [user], stream: "yes" }],
  ["logprobs", "logprobs", { messages: [user], logprobs: true }],
  ["a suffix", "suffix", { prompt: "x", suffix: "y" }, decodeGenerate],
  ["a template", "template", { prompt: "x", template: "{{ .Prompt }}" }, decodeGenerate],
  ["a raw prompt", "raw", { prompt: "x", raw: true }, decodeGenerate],
  ["a context", "context", { prompt: "x", context: [1, 2] }, decodeGenerate],
];

for (const [title, param, body, decode = decodeChat] of refusals)
  test(`${title} is refused, naming ${param}`, () => {
    const asked = Array.isArray(body) || param === "model" ? body : { model: "m", ...body };
    assert.throws(
      () => decode(asked),
      (error) => error instanceof InvalidInput && error.detail.param === param && error.message.startsWith(param),
    );
  });
