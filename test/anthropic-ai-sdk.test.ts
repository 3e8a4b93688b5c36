import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AnthropicProvider, createAnthropic } from "@ai-sdk/anthropic";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

function calculator({ messages, tools, format }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1);
  if (format) return '{"city":"Oslo"}';
  if (last?.role === "tool") return [{ reasoning: "done" }, { text: `It is ${last.content}.` }];
  if (tools?.some(({ name }) => name === "add"))
    return [{ reasoning: "I add" }, { call: "add", arguments: { a: 2, b: 3 } }, { finish: "calls" }];
  return [{ text: "Hel" }, { text: "lo" }, { finish: "stop", usage: { inputTokens: 3, outputTokens: 2 } }];
}

let server: AgentServing;
let anthropic: AnthropicProvider;

before(async () => {
  server = await serveAgents(calculator);
  anthropic = createAnthropic({ baseURL: server.url + "/v1", apiKey: "none" });
});
after(() => server.close());

const add = tool({
  description: "Adds",
  inputSchema: jsonSchema<{ a: number; b: number }>({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  }),
  execute: ({ a, b }) => String(a + b),
});

for (const name of ["script", "assistant"]) {
  const options = () => ({ model: anthropic(name), maxRetries: 0, maxOutputTokens: 1000 });

  test(`${name}: a text`, async () => {
    const { text, finishReason, usage } = await generateText({ ...options(), prompt: "hi" });
    assert.equal(text, "Hello");
    assert.equal(finishReason, "stop");
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [3, 2]);
  });

  test(`${name}: a text with a tool`, async () => {
    const told = await generateText({ ...options(), prompt: "hi", tools: { add }, stopWhen: stepCountIs(5) });
    assert.equal(told.text, "It is 5.");
    assert.equal(told.steps.length, 2);
    assert.deepEqual(
      told.steps.map(({ reasoningText }) => reasoningText),
      ["I add", "done"],
    );
  });

  test(`${name}: a stream with a tool`, async () => {
    const told = streamText({ ...options(), prompt: "hi", tools: { add }, stopWhen: stepCountIs(5) });
    const types: string[] = [];
    for await (const part of told.fullStream) types.push(part.type);
    assert.equal(await told.text, "It is 5.");
    assert.ok(types.includes("tool-result"));
    assert.ok(!types.includes("error"));
  });

  test(`${name}: an object`, async () => {
    const schema = jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    });
    const settings = { anthropic: { structuredOutputMode: "outputFormat" } };
    const { output } = await generateText({
      ...options(),
      prompt: "Where?",
      output: Output.object({ schema }),
      providerOptions: settings,
    });
    assert.deepEqual(output, { city: "Oslo" });
  });
}
