import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { newId } from "../../../protocol/base/ids.ts";

let server: AgentServing;
let gate = Promise.withResolvers<void>();
before(async () => {
  server = await serveAgents(({ messages }) => {
    const said = JSON.stringify(messages.at(-1)!.content);
    if (said.includes("slow")) return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
    return `You said ${said}`;
  });
});
after(() => server.close());

type ErrorBody = {
  readonly id?: string;
  readonly error?: { readonly message: string; readonly param: string | null; readonly type: string };
};

async function request(path: string, body?: object, method = body ? "POST" : "GET") {
  const response = await fetch(`${server.url}/v1${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { ...((await response.json()) as ErrorBody), status: response.status, headers: response.headers };
}
const ask = (body: object) => request("/responses", { model: "assistant", input: "hi", ...body });

const output = { type: "function_call_output", call_id: "call_1", output: "x" };
const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
const user = { role: "user", content: "hi" };
const refused: readonly (readonly [body: object, status: number, param: string | null])[] = [
  [{ model: 1 }, 400, "model"],
  [{ model: undefined }, 400, "model"],
  [{ model: "nobody" }, 404, "model"],
  [{ input: 1 }, 400, "input"],
  [{ input: [1] }, 400, "input[0]"],
  [{ input: [{ role: "nobody", content: "x" }] }, 400, "input[0].role"],
  [{ input: [{ role: "user", content: [{ type: "input_audio" }] }] }, 400, "input[0].content[0].type"],
  [
    { input: [{ role: "user", content: [{ type: "input_image", image_url: "file:///etc" }] }] },
    400,
    "input[0].content[0].image_url",
  ],
  [
    { input: [{ role: "user", content: [{ type: "input_file", file_data: "" }] }] },
    400,
    "input[0].content[0].file_data",
  ],
  [{ input: [user, call] }, 400, "input"],
  [{ input: [user, call, call, output] }, 400, "input[2].call_id"],
  [{ input: [user, output] }, 400, "input"],
  [{ input: [output], previous_response_id: "resp_x" }, 400, "input"],
  [{ input: [{ type: "function_call_output", call_id: "call_1" }] }, 400, "input[0].output"],
  [{ input: [{ type: "item_reference", id: "msg_nobody" }] }, 404, "input"],
  [{ input: [{ type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true }] }, 404, "input"],
  [{ input: [{ type: "mcp_approval_response", approval_request_id: "mcpr_1" }] }, 400, "input[0].approve"],
  [{ input: [] }, 400, "input"],
  [{ input: [{ type: "function_call_output", call_id: `call_${"0".repeat(32)}`, output: "x" }] }, 400, "input"],
  [{ instructions: 1 }, 400, "instructions"],
  [{ prompt: { id: "pmpt_1" } }, 400, "prompt"],
  [{ background: true, store: false }, 400, "store"],
  [{ temperature: 3 }, 400, "temperature"],
  [{ max_output_tokens: 0 }, 400, "max_output_tokens"],
  [{ text: { format: { type: "xml" } } }, 400, "text.format.type"],
  [{ text: { format: { type: "json_schema" } } }, 400, "text.format"],
  [{ tools: {} }, 400, "tools"],
  [{ tools: [{ name: "f" }] }, 400, "tools[0]"],
  [{ tools: [{ type: "function", name: "a b" }] }, 400, "tools[0].name"],
  [
    {
      tools: [
        { type: "function", name: "f" },
        { type: "function", name: "f" },
      ],
    },
    400,
    "tools[1].name",
  ],
  [{ tools: [], tool_choice: { type: "function", name: "f" } }, 400, "tool_choice.name"],
  [{ tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } }, 400, "tool_choice"],
  [{ model: "script", tool_choice: "required" }, 400, "tool_choice"],
  [{ previous_response_id: "resp_none" }, 404, "previous_response_id"],
  [{ previous_response_id: `resp_${newId().replaceAll("-", "")}_0` }, 404, "previous_response_id"],
  [{ conversation: "conv_none" }, 404, "conversation"],
  [{ conversation: { id: `conv_${newId().replaceAll("-", "")}` } }, 404, null],
  [{ conversation: "conv_none", previous_response_id: "resp_none" }, 400, "previous_response_id"],
];
for (const [body, status, param] of refused)
  test(`refused, naming what is at fault: ${JSON.stringify(body)}`, async () => {
    for (const stream of [false, true]) {
      const answer = await ask({ stream, ...body });
      assert.deepEqual([answer.status, answer.error?.param], [status, param], answer.error?.message);
    }
  });

test("what does not change the meaning is taken", async () => {
  for (const model of ["assistant", "script"])
    for (const store of [true, false]) {
      const body = {
        ...{ model, store, truncation: "auto", service_tier: "flex", user: "u", safety_identifier: "s" },
        ...{
          prompt_cache_key: "k",
          include: ["reasoning.encrypted_content"],
          stream_options: { include_obfuscation: false },
        },
        ...{
          text: { verbosity: "low" },
          max_tool_calls: 5,
          top_logprobs: 2,
          reasoning: { effort: "low", summary: "auto" },
        },
        tools: [{ type: "web_search" }, { type: "mcp", server_label: "deep wiki", server_url: "https://example.org" }],
        input: [
          { type: "web_search_call", id: "ws_1", status: "completed" },
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
          { type: "compaction", encrypted_content: "x" },
          { type: "mcp_list_tools", server_label: "x", tools: [] },
          { type: "message", role: "user", id: "msg_1", content: [{ type: "input_text", text: "hi" }] },
        ],
      };
      const { status, headers } = await ask(body);
      assert.equal(status, 200);
      assert.equal(headers.get("x-colloquy-left-out"), "text.verbosity, top_logprobs, web_search, mcp:deep_wiki");
    }
});

test("a client that goes leaves its run at work, and finds its response again", async () => {
  gate = Promise.withResolvers();
  const leave = new AbortController();
  const response = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", input: "slow", stream: true }),
    signal: leave.signal,
  });
  let told = "";
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
    told += bytes;
    if (told.includes('"delta":"begun"')) break;
  }
  leave.abort();
  gate.resolve();
  const id = /"id":"(resp_\w+)"/.exec(told)![1]!;
  const at = /"delta":"begun","sequence_number":(\d+)/.exec(told)![1]!;
  const rest = await fetch(`${server.url}/v1/responses/${id}?stream=true&starting_after=${at}`);
  const text = await rest.text();
  assert.match(text, /"delta":", done"/);
  assert.doesNotMatch(text, /"delta":"begun/);
  assert.match(text, /event: response\.completed\n/);
});

test("unknown responses and conversations are not found, in OpenAI's form", async () => {
  for (const path of ["/responses/resp_none", "/responses/x/input_items", "/conversations/conv_none"]) {
    const { status, error } = await request(path);
    assert.deepEqual([status, error?.type], [404, "invalid_request_error"]);
  }
  assert.equal((await request("/responses/resp_none", undefined, "DELETE")).status, 404);
  assert.equal((await request("/responses/resp_none/cancel", {})).status, 404);
  assert.equal((await request("/conversations", { items: [{ type: "message" }] })).status, 400);
  const made = await request("/conversations", { items: [{ type: "message", role: "user", content: "said" }] });
  assert.equal((await request(`/conversations/${made.id}/items?after=msg_none`)).status, 400);
});
