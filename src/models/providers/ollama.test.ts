import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { startModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelServer } from "../../../test/model-servers/model-server.ts";
import type { ModelRequest, ToolSchema } from "../../protocol/agents/models.ts";
import { createModels } from "../registry.ts";
import type { Models } from "../registry.ts";

const never = new AbortController().signal;
const tool: ToolSchema = { name: "add", description: "Adds", parameters: { type: "object" }, strict: true };

let server: ModelServer;
let models: Models;
before(async () => (server = await startModelServer()));
after(() => server.close());
beforeEach(() => {
  const options = { temperature: 0.2, keepAlive: "5m", think: true };
  models = createModels({
    models: [
      {
        id: "m",
        provider: "ollama",
        model: "served",
        baseUrl: server.url,
        retries: 0,
        contextTokens: 2048,
        vision: true,
        options,
      },
    ],
  });
});
afterEach(() => models.close());

const ask = (request: Partial<ModelRequest>) => collect(models.get("m").stream({ messages: [], ...request }, never));

test("a request in full", async () => {
  await ask({
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
        ],
      },
      { role: "assistant", content: "", reasoning: "hm", calls: [{ id: "call_1", name: "add", arguments: '{"a":1}' }] },
      { role: "tool", callId: "call_1", name: "add", content: "1" },
    ],
    tools: [tool],
    format: { type: "json-schema", name: "out", schema: { type: "object" } },
    settings: { maxTokens: 10, topK: 9, stop: ["x"], seed: 1 },
  });
  assert.deepEqual(server.requests.at(-1)!.body, {
    model: "served",
    stream: true,
    think: true,
    keep_alive: "5m",
    format: { type: "object" },
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is it?", images: ["iVBORw0KGgo="] },
      {
        role: "assistant",
        content: "",
        thinking: "hm",
        tool_calls: [{ id: "call_1", function: { name: "add", arguments: { a: 1 } } }],
      },
      { role: "tool", tool_name: "add", tool_call_id: "call_1", content: "1" },
    ],
    tools: [{ type: "function", function: { name: "add", description: "Adds", parameters: { type: "object" } } }],
    options: { num_ctx: 2048, num_predict: 10, temperature: 0.2, top_k: 9, stop: ["x"], seed: 1 },
  });
  assert.equal(models.get("m").contextTokens, 2048);
});

test("an image that is not in the request is refused before it is sent", async () => {
  const before = server.requests.length;
  const { error } = await ask({
    messages: [{ role: "user", content: [{ type: "image", url: "https://example.com/a.png" }] }],
  });
  assert.equal(error?.kind, "refused");
  assert.match(error?.message ?? "", /data: URL/);
  assert.equal(server.requests.length, before);
});

test("a model that does not think is asked without", async () => {
  server.answer({ status: 400, error: '"served" does not support thinking' }, "ok", "ok");
  assert.equal((await ask({})).text, "ok");
  assert.equal(server.requests.at(-1)!.body["think"], undefined);
  await ask({});
  assert.equal(server.requests.at(-1)!.body["think"], undefined);
});

test("no tools are offered when none may be called; arguments that are no JSON go back as told", async () => {
  const messages = [
    { role: "assistant", content: "", calls: [{ id: "call_1", name: "add", arguments: "{oops" }] },
  ] as const;
  await ask({ messages, tools: [tool], toolChoice: "none" });
  const { body } = server.requests.at(-1)!;
  assert.equal(body["tools"], undefined);
  assert.match(JSON.stringify(body["messages"]), /"arguments":\{"invalid":"\{oops"\}/);
});
