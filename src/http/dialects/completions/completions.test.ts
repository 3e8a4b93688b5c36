import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

function script({ messages }: ModelRequest): ScriptAnswer {
  const said = String(messages.at(-1)!.content);
  if (said === "fail") return [{ error: "refused", message: "I won't" }];
  if (said === "long") return [{ text: "and so" }, { finish: "length" }];
  if (said === "break") return [{ text: "and" }, { error: "cut", message: "gone" }];
  return [
    { reasoning: "hm" },
    { text: `You said ` },
    { text: said },
    { finish: "stop", usage: { inputTokens: 3, outputTokens: 4 } },
  ];
}

let server: AgentServing;
let client: OpenAI;
before(async () => {
  server = await serveAgents(script);
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

for (const model of ["default", "assistant"])
  test(`${model} answers a prompt, whole and streamed, as OpenAI's library reads it`, async () => {
    const whole = await client.completions.create({ model, prompt: "hi" });
    assert.deepEqual(whole.choices, [{ index: 0, text: "You said hi", logprobs: null, finish_reason: "stop" }]);
    assert.equal(whole.usage?.total_tokens, 7);
    const stream = await client.completions.create({
      model,
      prompt: ["hi"],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    assert.equal(chunks.map(({ choices }) => choices[0]?.text ?? "").join(""), "You said hi");
    assert.equal(chunks.at(-2)!.choices[0]!.finish_reason, "stop");
    assert.equal(chunks.at(-1)!.usage?.total_tokens, 7);
    assert.equal((await client.completions.create({ model, prompt: "long" })).choices[0]!.finish_reason, "length");
  });

test("an answer that breaks off is an error in the stream", async () => {
  const stream = await client.completions.create({ model: "default", prompt: "break", stream: true });
  await assert.rejects(async () => {
    for await (const _ of stream);
  });
});

test("what would change the meaning is refused by name; what changes nothing is taken", async () => {
  const ask = async (more: object) => {
    const response = await fetch(`${server.url}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "default", prompt: "hi", ...more }),
    });
    const body = (await response.json()) as { readonly error?: { readonly param: string } };
    return response.status === 200 ? 200 : body.error!.param;
  };
  assert.equal(await ask({ n: 1, best_of: 1, echo: false, suffix: null, user: "u", stop: "x" }), 200);
  for (const more of [
    { suffix: "end" },
    { echo: true },
    { logprobs: 3 },
    { n: 2 },
    { prompt: [1, 2] },
    { prompt: ["a", "b"] },
    { prompt: 7 },
    { stop: [1] },
    { model: "nobody" },
  ])
    assert.equal(await ask(more), Object.keys(more)[0]);
});
