import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { decodeChatRequest } from "./decode.ts";

const user = { role: "user", content: "hi" };
const asking = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
};
const result = { role: "tool", tool_call_id: "c1", content: "42" };

function decode(fields: object) {
  return decodeChatRequest({ model: "m", messages: [user], ...fields });
}

test("messages of every role come out in our words", () => {
  const { messages } = decode({
    messages: [
      { role: "developer", content: "be kind" },
      {
        role: "system",
        content: [
          { type: "text", text: "be " },
          { type: "text", text: "brief" },
        ],
      },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
      asking,
      result,
      { role: "assistant", content: [{ type: "text", text: "ok" }] },
      user,
    ],
  });
  assert.deepEqual(messages, [
    { role: "system", content: "be kind" },
    { role: "system", content: "be brief" },
    {
      role: "user",
      name: "ann",
      content: [
        { type: "text", text: "look" },
        { type: "image", url: "data:image/png;base64,AA" },
      ],
    },
    { role: "assistant", content: "", calls: [{ id: "c1", name: "f", arguments: "{}" }] },
    { role: "tool", callId: "c1", name: "f", content: "42" },
    { role: "assistant", content: "ok" },
    { role: "user", name: undefined, content: "hi" },
  ]);
});

test("settings, tools and format come out in our words", () => {
  const request = decode({
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 10,
    max_completion_tokens: 20,
    stop: "END",
    seed: 7,
    reasoning_effort: "low",
    parallel_tool_calls: false,
    tools: [
      { type: "function", function: { name: "f", description: "d", parameters: { type: "object" }, strict: true } },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
    response_format: { type: "json_schema", json_schema: { name: "s", schema: { type: "object" } } },
    stream_options: { include_usage: true },
    metadata: { session_id: "mine" },
    service_tier: "auto",
  });
  assert.deepEqual(JSON.parse(JSON.stringify(request.settings)), {
    temperature: 0.5,
    topP: 0.9,
    maxTokens: 20,
    stop: ["END"],
    seed: 7,
    reasoningEffort: "low",
    parallelCalls: false,
  });
  assert.deepEqual(request.tools, [{ name: "f", description: "d", parameters: { type: "object" }, strict: true }]);
  assert.deepEqual(request.toolChoice, { name: "f" });
  assert.deepEqual(request.format, { type: "json-schema", name: "s", schema: { type: "object" }, strict: undefined });
  assert.equal(request.includeUsage, true);
  assert.equal(request.sessionId, "mine");
});

test("allowed_tools leaves only those", () => {
  const tools = ["f", "g"].map((name) => ({ type: "function", function: { name } }));
  const request = decode({
    tools,
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "g" } }] },
    },
  });
  assert.deepEqual(
    request.tools?.map(({ name }) => name),
    ["g"],
  );
  assert.equal(request.toolChoice, "required");
});

test("where no tool is allowed there is none to choose", () => {
  const request = decode({
    tools: [{ type: "function", function: { name: "f" } }],
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [] } },
  });
  assert.equal(request.tools, undefined);
  assert.equal(request.toolChoice, undefined);
});

const faults: [string, object, string, RegExp][] = [
  ["no model", { model: undefined }, "model", /required/],
  ["no messages", { messages: [] }, "messages", /at least one/],
  ["a wrong role", { messages: [{ role: "robot", content: "hi" }] }, "messages[0].role", /one of developer, system/],
  ["content of a wrong type", { messages: [{ role: "user", content: 7 }] }, "messages[0].content", /string/],
  [
    "audio",
    { messages: [{ role: "user", content: [{ type: "input_audio" }] }] },
    "messages[0].content[0].type",
    /"input_audio" is not supported/,
  ],
  [
    "a file that was not uploaded",
    { messages: [{ role: "user", content: [{ type: "file", file: { file_data: "data:" } }] }] },
    "messages[0].content[0].file.file_id",
    /POST \/v1\/files/,
  ],
  [
    "an image of the local disk",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "file:///etc/passwd" } }] }] },
    "messages[0].content[0].image_url.url",
    /http/,
  ],
  ["a result without its call", { messages: [user, result] }, "messages[1].tool_call_id", /no open call c1/],
  ["a second result", { messages: [user, asking, result, result] }, "messages[3].tool_call_id", /no open call c1/],
  ["an unanswered call", { messages: [user, asking, user] }, "messages[2]", /no result: c1/],
  ["an unanswered call at the end", { messages: [user, asking] }, "messages", /no result: c1/],
  ["two answers", { n: 2 }, "n", /one answer/],
  ["a wild temperature", { temperature: 3 }, "temperature", /at most 2/],
  ["a tool of another type", { tools: [{ type: "web_search" }] }, "tools[0]", /not supported/],
  [
    "a tool twice",
    { tools: [0, 1].map(() => ({ type: "function", function: { name: "f" } })) },
    "tools[1].function.name",
    /twice/,
  ],
  [
    "a choice of no tool",
    {
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: { type: "function", function: { name: "g" } },
    },
    "tool_choice.function.name",
    /one of the tools/,
  ],
  ["a wrong format", { response_format: { type: "xml" } }, "response_format.type", /json_schema/],
];

for (const [title, fields, param, text] of faults) {
  test(`${title} is refused, naming ${param}`, () => {
    assert.throws(
      () => decode(fields),
      (error) =>
        error instanceof InvalidInput &&
        error.status === 400 &&
        error.detail.param === param &&
        text.test(error.message),
    );
  });
}

test("as many tools as a body holds are read in one pass", () => {
  const tools = Array.from({ length: 150_000 }, (_, index) => ({ type: "function", function: { name: `t${index}` } }));
  const choice = { type: "allowed_tools", allowed_tools: { mode: "auto", tools } };
  assert.equal(decode({ tools, tool_choice: choice }).tools?.length, tools.length);
});

test("what is not known is kept for the provider; what could not be told in the answer is refused", () => {
  const decode = (more: object) =>
    decodeChatRequest({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
  const extra = { min_p: 0.1, user: "u", chat_template_kwargs: {} };
  assert.deepEqual(decode({ ...extra, verbosity: null, logprobs: false, modalities: ["text"], n: 1 }).extra, extra);
  assert.equal(decode({ temperature: 1 }).extra, undefined);
  for (const more of [{ logprobs: true }, { top_logprobs: 2 }, { modalities: ["text", "audio"] }, { audio: {} }])
    assert.throws(() => decode(more), { code: "invalid_input" });
});
