import assert from "node:assert/strict";
import { test } from "node:test";
import { ColloquyError, InvalidInput } from "../../../protocol/base/errors.ts";
import { decodeMessagesRequest } from "./decode.ts";

const says = (content: unknown) => ({ role: "user", content });
const decode = (more: object) => decodeMessagesRequest({ model: "m", max_tokens: 10, messages: [says("hi")], ...more });
const spokenIn = (messages: readonly unknown[]) => decode({ messages }).messages;

/** Refuses a request, naming this parameter. */
function refuses(more: object, param: string): void {
  assert.throws(
    () => decode(more),
    (error) => error instanceof InvalidInput && error.detail.param === param,
    `${JSON.stringify(more)} must be refused for ${param}`,
  );
}

const call = { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "seen" };

test("a system text is a string or blocks; the line for the vendor's bill is none of a model's business", () => {
  assert.deepEqual(decode({ system: "Be brief." }).messages[0], { role: "system", content: "Be brief." });
  const system = [
    { type: "text", text: "x-anthropic-billing-header: cc_version=1;" },
    { type: "text", text: "One.", cache_control: { type: "ephemeral" } },
    { type: "text", text: "Two." },
  ];
  assert.deepEqual(decode({ system }).messages[0], { role: "system", content: "One.\n\nTwo." });
  assert.equal(decode({ system: "" }).messages.length, 1);
});

test("results come before what is said with them; what was thought is left out", () => {
  const messages = spokenIn([
    says("hi"),
    {
      role: "assistant",
      content: [{ type: "thinking", thinking: "hm", signature: "x" }, { type: "text", text: "Look:" }, call],
    },
    says([
      { type: "text", text: "Go on." },
      { ...result, is_error: true },
    ]),
    { role: "system", content: "It is late." },
  ]);
  assert.deepEqual(messages, [
    { role: "user", content: "hi" },
    { role: "assistant", content: "Look:", calls: [{ id: "toolu_1", name: "look", arguments: '{"at":1}' }] },
    { role: "tool", callId: "toolu_1", name: "look", content: "seen", isError: true },
    { role: "user", content: "Go on.\n\n<system>\nIt is late.\n</system>" },
  ]);
});

test("what a result holds is text; its pictures follow", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };
  const content = [{ type: "text", text: "a" }, image, { type: "tool_reference", tool_name: "far" }];
  const [, , tool, user] = spokenIn([
    says("hi"),
    { role: "assistant", content: [call] },
    says([{ ...result, content }]),
  ]);
  assert.equal(tool?.content, "a\n[A picture, shown below.]\nThe tool far can be called now.");
  assert.deepEqual(user?.content, [
    { type: "text", text: "In the result of look:" },
    { type: "image", url: "data:image/png;base64,AA==" },
  ]);
});

test("documents of text are shown, a PDF is named, files are looked up", () => {
  const document = (source: object) => ({ type: "document", title: "T", source });
  const text = { type: "text", media_type: "text/plain", data: "words" };
  assert.deepEqual(spokenIn([says([document(text)])]), [
    { role: "user", content: '<document title="T">\nwords\n</document>' },
  ]);
  const told = decode({
    messages: [says([document({ type: "base64", media_type: "application/pdf", data: "AA==" })])],
  });
  assert.match(String(told.messages[0]?.content), /A PDF, which can't be shown/);
  assert.deepEqual(told.leftOut, ["PDF"]);
  assert.deepEqual(spokenIn([says([document({ type: "file", file_id: "f1" })])]), [
    { role: "user", content: "", fileIds: ["f1"] },
  ]);
});

test("what the vendor's tools did is left out and named", () => {
  const content = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "text", text: "found" },
  ];
  const told = decode({
    messages: [says("hi"), { role: "assistant", content }, says("more")],
    tools: [
      { type: "web_search_20250305", name: "web_search" },
      { name: "mine", input_schema: { type: "object" } },
    ],
    mcp_servers: [{ type: "url", name: "x", url: "https://x.example" }],
  });
  assert.equal(told.messages[1]?.content, "found");
  assert.deepEqual(told.leftOut, ["server_tool_use", "web_search_tool_result", "web_search_20250305", "mcp_servers"]);
  assert.deepEqual(
    told.tools?.map(({ name }) => name),
    ["mine"],
  );
});

test("deferred tools are shown once a result has named them, and until a system message withdraws them", () => {
  const tools = ["near", "far"].map((name) => ({
    name,
    input_schema: { type: "object" },
    defer_loading: name === "far",
  }));
  const shown = (messages: readonly unknown[]) => decode({ tools, messages }).tools?.map(({ name }) => name);
  assert.deepEqual(shown([says("hi")]), ["near"]);
  assert.deepEqual(
    decode({ tools }).deferred?.map(({ name }) => name),
    ["far"],
  );
  const named = { ...result, content: [{ type: "tool_reference", tool_name: "far" }] };
  const found = [says("hi"), { role: "assistant", content: [call] }, says([named])];
  assert.deepEqual(shown(found), ["near", "far"]);
  const change = (type: string, tool: object) => ({ role: "system", content: [{ type, tool }] });
  assert.deepEqual(shown([...found, change("tool_removal", { type: "tool_reference", name: "far" })]), ["near"]);
  const definition = { name: "new", input_schema: { type: "object" } };
  assert.deepEqual(shown([says("hi"), change("tool_addition", { type: "tool_definition", definition })]), [
    "near",
    "new",
  ]);
});

test("tools that the vendor would search are all shown; those that a client runs without a schema get one", () => {
  const tools = [
    { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
    { name: "far", input_schema: { type: "object" }, defer_loading: true },
    { type: "bash_20250124", name: "bash" },
    { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
    { type: "memory_20250818", name: "memory" },
    { type: "computer_20250124", name: "computer" },
  ];
  const told = decode({ tools });
  const names = told.tools?.map(({ name }) => name);
  assert.deepEqual(names, ["far", "bash", "str_replace_based_edit_tool", "memory"]);
  assert.deepEqual(told.leftOut, ["tool_search_tool_bm25_20251119", "computer_20250124"]);
  assert.deepEqual(Object.keys(told.tools?.[1]?.parameters["properties"] ?? {}), ["command", "restart"]);
});

test("choices of tools", () => {
  const tools = [{ name: "a", input_schema: { type: "object" } }];
  const choose = (tool_choice: object) => decode({ tools, tool_choice });
  assert.equal(choose({ type: "auto" }).toolChoice, undefined);
  assert.equal(choose({ type: "any" }).toolChoice, "required");
  assert.equal(choose({ type: "none" }).toolChoice, "none");
  assert.deepEqual(choose({ type: "tool", name: "a" }).toolChoice, { name: "a" });
  assert.equal(choose({ type: "auto", disable_parallel_tool_use: true }).settings.parallelCalls, false);
  refuses({ tools, tool_choice: { type: "tool", name: "b" } }, "tool_choice.name");
  refuses({ tool_choice: { type: "any" } }, "tool_choice");
});

test("thinking and effort", () => {
  const effort = (more: object) => decode(more).settings.reasoningEffort;
  assert.equal(effort({}), undefined);
  assert.equal(effort({ thinking: { type: "disabled" }, output_config: { effort: "high" } }), "none");
  assert.equal(effort({ thinking: { type: "adaptive" }, output_config: { effort: "max" } }), "xhigh");
  assert.equal(effort({ thinking: { type: "enabled", budget_tokens: 1024 } }), "low");
  assert.equal(effort({ thinking: { type: "enabled", budget_tokens: 32_000 } }), "high");
});

test("settings, and what means nothing here", () => {
  const { settings, format } = decode({
    temperature: 0.5,
    top_p: 0.9,
    top_k: 0,
    stop_sequences: ["END"],
    output_config: { format: { type: "json_schema", schema: { type: "object" } } },
    ...{
      metadata: { user_id: "u" },
      service_tier: "auto",
      context_management: { edits: [] },
      container: "c",
      speed: "fast",
    },
  });
  assert.deepEqual(
    { ...settings },
    { temperature: 0.5, topP: 0.9, topK: undefined, stop: ["END"], reasoningEffort: undefined, maxTokens: 10 },
  );
  assert.deepEqual(format, { type: "json-schema", name: "answer", schema: { type: "object" } });
});

test("what is wrong is refused by name", () => {
  refuses({ model: 5 }, "model");
  refuses({ max_tokens: undefined }, "max_tokens");
  refuses({ max_tokens: 0 }, "max_tokens");
  refuses({ messages: "hi" }, "messages");
  refuses({ messages: [] }, "messages");
  refuses({ messages: [5] }, "messages[0]");
  refuses({ messages: [{ role: "tool", content: "x" }] }, "messages[0].role");
  refuses({ messages: [says(5)] }, "messages[0].content");
  refuses({ messages: [says([{ type: "video" }])] }, "messages[0].content[0].type");
  refuses({ messages: [says([{ type: "text", text: 5 }])] }, "messages[0].content[0].text");
  refuses(
    { messages: [says([{ type: "image", source: { type: "url", url: "ftp://x" } }])] },
    "messages[0].content[0].source.url",
  );
  refuses({ messages: [says([result])] }, "messages[0].content[0]");
  refuses({ messages: [says("hi"), { role: "assistant", content: [call] }] }, "messages");
  refuses({ messages: [says("hi"), { role: "assistant", content: [call] }, says("no")] }, "messages[2]");
  refuses({ messages: [says("hi"), { role: "assistant", content: [call, call] }] }, "messages[1].content[1].id");
  refuses({ system: 5 }, "system");
  refuses({ tools: {} }, "tools");
  refuses({ tools: [{ name: "a b" }] }, "tools[0].name");
  refuses({ tools: [{ name: "a" }, { name: "a" }] }, "tools[1].name");
  refuses({ temperature: 3 }, "temperature");
  refuses({ stop_sequences: "x" }, "stop_sequences");
  refuses({ thinking: { type: "hard" } }, "thinking.type");
  refuses({ output_config: { effort: "huge" } }, "output_config.effort");
  refuses({ output_config: { format: { type: "text" } } }, "output_config.format");
  refuses({ stream: "yes" }, "stream");
  refuses({ thread: { type: "end" } }, "thread.type");
  refuses({ thread: { type: "continue" } }, "thread.previous_message_id");
});

test("what continues a kept conversation brings results alone, and nothing that is kept", () => {
  const thread = { type: "continue", previous_message_id: "msg_1" };
  assert.deepEqual(decode({ thread, messages: [says([result])] }).messages, [
    { role: "tool", callId: "toolu_1", name: "", content: "seen" },
  ]);
  for (const more of [{ system: "x" }, { tools: [{ name: "a" }] }])
    assert.throws(
      () => decode({ thread, ...more }),
      (error) => error instanceof ColloquyError && error.code === "thread_fingerprint_mismatch",
    );
});
