import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Anthropic, { APIError, NotFoundError, OverloadedError, RateLimitError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { createScripted, type ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

/** Calls `add` when it may and has not yet, then tells the sum, and what it was told first. */
function calculator({ messages, tools }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1);
  const spoken = messages.filter(({ role }) => role !== "system");
  if (last?.role === "tool") return `It is ${last.content}; you said ${JSON.stringify(spoken[0]?.content)}.`;
  if (last?.content === "think") return [{ reasoning: "hm" }, { reasoning: " so" }, { text: "thought" }];
  if (last?.content === "long") return [{ text: "and so" }, { finish: "length" }];
  if (last?.content === "no") return [{ text: "I won't" }, { finish: "filter" }];
  if (last?.content === "history") return JSON.stringify(spoken.map(({ role, content }) => [role, content]));
  if (tools?.some(({ name }) => name === "add"))
    return [{ text: "Let me see." }, { call: "add", arguments: { a: 2, b: 3 } }, { finish: "calls" }];
  return [{ text: "Hel" }, { text: "lo" }, { finish: "stop", usage: { inputTokens: 3, outputTokens: 2 } }];
}

const adapters = {
  "breaks-off": createScripted(() => [{ text: "Hel" }, { error: "cut" }]),
  limited: createScripted(() => [{ error: "rate-limit", message: "too many" }]),
  busy: createScripted(() => [{ error: "overloaded", message: "too busy" }]),
};
const messages = [{ role: "user" as const, content: "hi" }];
const says = (content: string) => [{ role: "user" as const, content }];
const max_tokens = 1000;
/** The same script, straight as a model and as a durable run of an agent. */
const names = ["script", "assistant"];
const input_schema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;
const add = { name: "add", description: "Adds", input_schema: { ...input_schema, required: ["a", "b"] } };
let server: AgentServing;
let anthropic: Anthropic;

before(async () => {
  server = await serveAgents(calculator, adapters);
  anthropic = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

for (const model of names) {
  test(`${model}: a message`, async () => {
    const { data, response } = await anthropic.messages.create({ model, messages, max_tokens }).withResponse();
    assert.deepEqual(data.content, [{ type: "text", text: "Hello" }]);
    assert.equal(data.stop_reason, "end_turn");
    assert.deepEqual([data.usage.input_tokens, data.usage.output_tokens], [3, 2]);
    assert.match(data.id, /^msg_\w+$/);
    assert.equal(response.headers.get("x-colloquy-model"), "script");
  });

  test(`${model}: a stream`, async () => {
    const stream = anthropic.messages.stream({ model, messages, max_tokens });
    const texts: string[] = [];
    stream.on("text", (text) => texts.push(text));
    const message = await stream.finalMessage();
    assert.equal(texts.join(""), "Hello");
    assert.deepEqual(message.content, [{ type: "text", text: "Hello" }]);
    assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [3, 2]);
  });

  test(`${model}: thinking`, async () => {
    const stream = anthropic.messages.stream({ model, messages: says("think"), max_tokens });
    const message = await stream.finalMessage();
    assert.deepEqual(
      message.content.map(({ type }) => type),
      ["thinking", "text"],
    );
    const [thinking] = message.content;
    assert.deepEqual(thinking, { type: "thinking", thinking: "hm so", signature: "colloquy" });
    const whole = await anthropic.messages.create({ model, messages: says("think"), max_tokens });
    assert.deepEqual(whole.content[0], thinking);
  });

  test(`${model}: why it stopped`, async () => {
    for (const [said, reason] of [
      ["long", "max_tokens"],
      ["no", "refusal"],
    ] as const) {
      const stream = anthropic.messages.stream({ model, messages: says(said), max_tokens });
      assert.equal((await stream.finalMessage()).stop_reason, reason);
      const whole = await anthropic.messages.create({ model, messages: says(said), max_tokens });
      assert.equal(whole.stop_reason, reason);
    }
  });

  test(`${model}: a round trip of a tool`, async () => {
    const first = await anthropic.messages.stream({ model, messages, max_tokens, tools: [add] }).finalMessage();
    assert.equal(first.stop_reason, "tool_use");
    const call = first.content.find((block) => block.type === "tool_use");
    assert.deepEqual(call?.input, { a: 2, b: 3 });
    const second = await anthropic.messages.create({
      model,
      max_tokens,
      tools: [add],
      messages: [
        ...messages,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call!.id, content: "5" }] },
      ],
    });
    assert.deepEqual(second.content, [{ type: "text", text: 'It is 5; you said "hi".' }]);
    assert.equal(second.stop_reason, "end_turn");
  });

  for (const stream of [false, true])
    test(`${model}: the tool runner with its default settings, in a thread (${stream ? "streamed" : "whole"})`, async () => {
      const before = server.model.requests.length;
      const runner = anthropic.beta.messages.toolRunner({
        model,
        messages,
        max_tokens,
        stream,
        tools: [betaTool({ ...add, inputSchema: input_schema, run: ({ a, b }) => String(a + b) })],
      });
      const done = await runner.runUntilDone();
      assert.deepEqual(done.content, [{ type: "text", text: 'It is 5; you said "hi".' }]);
      assert.equal(server.model.requests.length - before, 2);
    });

  test(`${model}: a thread goes on with what is new, and keeps what it began with`, async () => {
    const thread = anthropic.beta.messages.thread({ model, max_tokens, system: "Be brief.", tools: [add] });
    const first = await thread.send(says("hi"));
    const call = first.content.find((block) => block.type === "tool_use")!;
    await thread.send([{ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "5" }] }]);
    const told = await thread.send(says("history"));
    const text = told.content[0]?.type === "text" ? told.content[0].text : "";
    assert.deepEqual(JSON.parse(text), [
      ["user", "hi"],
      ["assistant", "Let me see."],
      ["tool", "5"],
      ["assistant", 'It is 5; you said "hi".'],
      ["user", "history"],
    ]);
    const { messages: seen, tools } = server.model.requests.at(-1)!;
    assert.match(seen.map(({ role, content }) => `${role}:${String(content)}`).join("\n"), /system:[^]*Be brief\./);
    assert.ok(tools?.some(({ name }) => name === "add"));
  });
}

test("two answers to the same message are branches", async () => {
  const model = "assistant";
  const thread = anthropic.beta.messages.thread({ model, max_tokens });
  await thread.send(says("one"));
  const previous_message_id = thread.previousMessageId!;
  const ask = async (content: string) => {
    const body = {
      model,
      max_tokens,
      messages: says(content),
      thread: { type: "continue", previous_message_id },
    } as const;
    return anthropic.beta.messages.create({ ...body, betas: ["message-threads-2026-08-12"] });
  };
  const [two, three] = await Promise.all([ask("two"), ask("three")]);
  assert.deepEqual([two.stop_reason, three.stop_reason], ["end_turn", "end_turn"]);
  const history = await ask("history");
  const text = history.content[0]?.type === "text" ? history.content[0].text : "";
  assert.deepEqual(JSON.parse(text), [
    ["user", "one"],
    ["assistant", "Hello"],
    ["user", "history"],
  ]);
});

test("a thread that is not there is begun anew by the client", async () => {
  const thread = anthropic.beta.messages.thread({ model: "assistant", max_tokens });
  await thread.send(says("one"));
  await server.database.query("delete from threads");
  const told = await thread.send(says("history"));
  assert.match(JSON.stringify(told.content), /one.*Hello.*history/);
});

test("errors are of the SDK's classes", async () => {
  const ask = (model: string) => anthropic.messages.create({ model, messages, max_tokens });
  await assert.rejects(ask("unheard-of"), NotFoundError);
  await assert.rejects(ask("limited"), RateLimitError);
  await assert.rejects(ask("busy"), OverloadedError);
  await assert.rejects(anthropic.messages.create({ model: "script", messages: [], max_tokens }), (error) => {
    assert.ok(error instanceof APIError);
    assert.equal(error.status, 400);
    assert.match(error.message, /messages: must be a list/);
    assert.equal(error.type, "invalid_request_error");
    return true;
  });
  await assert.rejects(anthropic.models.retrieve("unheard-of"), NotFoundError);
});

test("a stream that breaks off ends with an error event", async () => {
  const stream = anthropic.messages.stream({ model: "breaks-off", messages, max_tokens });
  await assert.rejects(stream.finalMessage(), (error) => error instanceof APIError && error.type === "api_error");
});

test("models are listed, page by page", async () => {
  const ids: string[] = [];
  for await (const { id, type } of anthropic.models.list({ limit: 2 })) {
    assert.equal(type, "model");
    ids.push(id);
  }
  assert.ok(ids.length > 2);
  assert.equal(new Set(ids).size, ids.length);
  for (const name of names) assert.ok(ids.includes(name));
  assert.equal((await anthropic.models.retrieve("assistant")).display_name, "assistant");
});

test("tokens are counted here", async () => {
  const before = server.model.requests.length;
  const few = await anthropic.messages.countTokens({ model: "script", messages });
  const more = await anthropic.messages.countTokens({ model: "script", messages, system: "Be brief.", tools: [add] });
  assert.ok(few.input_tokens > 0 && more.input_tokens > few.input_tokens + 20);
  assert.equal(server.model.requests.length, before);
});
