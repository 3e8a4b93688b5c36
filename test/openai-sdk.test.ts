import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { createScripted, type ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

/** Calls `add` when it may and has not yet, then tells the sum. */
function calculator({ messages, tools }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1);
  if (last?.role === "tool") return `It is ${last.content}.`;
  if (tools?.some(({ name }) => name === "add"))
    return [{ call: "add", arguments: { a: 2, b: 3 } }, { finish: "calls" }];
  return [{ text: "Hel" }, { text: "lo" }, { finish: "stop", usage: { inputTokens: 3, outputTokens: 2 } }];
}

const adapters = {
  "breaks-off": createScripted(() => [{ text: "Hel" }, { error: "cut" }]),
  limited: createScripted(() => [{ error: "rate-limit", message: "too many" }]),
  down: createScripted(() => [{ error: "unreachable", message: "nobody there" }]),
  small: createScripted(() => [{ error: "context", message: "too long" }]),
};
const messages = [{ role: "user" as const, content: "hi" }];
/** The same script, straight as a model and as a durable run of an agent. */
const names = ["script", "assistant"];
let server: AgentServing;
let openai: OpenAI;

before(async () => {
  server = await serveAgents(calculator, adapters);
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

for (const model of names) {
  test(`${model}: chat`, async () => {
    const { data, response } = await openai.chat.completions.create({ model, messages }).withResponse();
    assert.equal(data.choices[0]?.message.content, "Hello");
    assert.equal(data.choices[0]?.finish_reason, "stop");
    assert.deepEqual(data.usage, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
    assert.equal(response.headers.get("x-colloquy-model"), "script");
  });

  test(`${model}: stream`, async () => {
    const stream = await openai.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let total = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      total = chunk.usage?.total_tokens ?? total;
    }
    assert.equal(text, "Hello");
    assert.equal(total, 5);
  });

  test(`${model}: .stream()`, async () => {
    const completion = await openai.chat.completions.stream({ model, messages }).finalChatCompletion();
    assert.equal(completion.choices[0]?.message.content, "Hello");
  });

  for (const stream of [false, true])
    test(`${model}: runTools, ${stream ? "streamed" : "whole"}`, async () => {
      const sums: string[] = [];
      const tools = [
        {
          type: "function" as const,
          function: {
            name: "add",
            description: "Adds two numbers",
            parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
            parse: (text: string) => JSON.parse(text) as { a: number; b: number },
            function: ({ a, b }: { a: number; b: number }) => {
              sums.push(`${a}+${b}`);
              return String(a + b);
            },
          },
        },
      ];
      const runner = stream
        ? openai.chat.completions.runTools({ model, messages, tools, stream })
        : openai.chat.completions.runTools({ model, messages, tools });
      assert.equal(await runner.finalContent(), "It is 5.");
      assert.deepEqual(sums, ["2+3"]);
    });
}

test("models", async () => {
  const ids: string[] = [];
  for await (const model of openai.models.list()) ids.push(model.id);
  for (const id of [...names, ...Object.keys(adapters)]) assert.ok(ids.includes(id));
  assert.equal((await openai.models.retrieve("script")).owned_by, "scripted");
  assert.equal((await openai.models.retrieve("assistant")).owned_by, "colloquy");
  await assert.rejects(openai.models.retrieve("no/such"), OpenAI.NotFoundError);
});

test("errors are the SDK's own classes, and name the request", async () => {
  const ask = (fields: object) => openai.chat.completions.create({ model: "script", messages, ...fields });
  await assert.rejects(ask({ n: 2 }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.param, "n");
    assert.ok(error.requestID);
    return true;
  });
  await assert.rejects(
    ask({ model: "nobody" }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found",
  );
  await assert.rejects(ask({ model: "limited" }), OpenAI.RateLimitError);
  await assert.rejects(ask({ model: "down" }), OpenAI.InternalServerError);
  await assert.rejects(
    ask({ model: "small" }),
    (error) => error instanceof OpenAI.BadRequestError && error.code === "context_length_exceeded",
  );
});

test("an answer that breaks off throws, streamed by hand or by the helper", async () => {
  const read = async () => {
    for await (const _ of await openai.chat.completions.create({ model: "breaks-off", messages, stream: true }));
  };
  await assert.rejects(read, OpenAI.APIError);
  await assert.rejects(openai.chat.completions.stream({ model: "breaks-off", messages }).done(), OpenAI.APIError);
});
