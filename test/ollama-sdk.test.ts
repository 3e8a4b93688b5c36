import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { createOllama } from "ai-sdk-ollama";
import { type ChatRequest, type Message, Ollama } from "ollama";
import { z } from "zod";
import { createScripted, type ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

/** Calls `add` when it may and has not yet, then tells the sum. */
function calculator({ messages, tools }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1);
  if (last?.role === "tool") return `It is ${last.content}.`;
  if (tools?.some(({ name }) => name === "add"))
    return [{ call: "add", arguments: { a: 2, b: 3 } }, { finish: "calls" }];
  return [
    { reasoning: "A greeting." },
    { text: "Hel" },
    { text: "lo" },
    { finish: "stop", usage: { inputTokens: 3, outputTokens: 2 } },
  ];
}

const adapters = {
  "breaks-off": createScripted(() => [{ text: "Hel" }, { error: "cut" }]),
  limited: createScripted(() => [{ error: "rate-limit", message: "too many" }]),
};
const messages: Message[] = [{ role: "user", content: "hi" }];
const add = {
  type: "function",
  function: {
    name: "add",
    description: "Adds",
    parameters: {
      type: "object",
      required: ["a", "b"],
      properties: { a: { type: "number", description: "one" }, b: { type: "number", description: "other" } },
    },
  },
} as const satisfies NonNullable<ChatRequest["tools"]>[number];
/** The same script, straight as a model and as a durable run of an agent. */
const names = ["script", "assistant", "assistant:latest"];
let server: AgentServing;
let ollama: Ollama;

before(async () => {
  server = await serveAgents(calculator, adapters);
  ollama = new Ollama({ host: server.url });
});
after(() => server.close());

for (const model of names) {
  test(`${model}: chat`, async () => {
    const answer = await ollama.chat({ model, messages });
    assert.deepEqual(answer.message, { role: "assistant", content: "Hello", thinking: "A greeting." });
    assert.deepEqual([answer.model, answer.done, answer.done_reason], [model, true, "stop"]);
    assert.deepEqual([answer.prompt_eval_count, answer.eval_count], [3, 2]);
    assert.ok(answer.total_duration >= answer.eval_duration);
  });

  test(`${model}: stream`, async () => {
    const told = { content: "", thinking: "", lines: 0 };
    for await (const line of await ollama.chat({ model, messages, stream: true })) {
      told.content += line.message.content;
      told.thinking += line.message.thinking ?? "";
      told.lines++;
      if (line.done) assert.deepEqual([line.done_reason, line.eval_count], ["stop", 2]);
    }
    assert.deepEqual([told.content, told.thinking], ["Hello", "A greeting."]);
    assert.ok(told.lines > 2, "in pieces");
  });

  test(`${model}: generate`, async () => {
    const whole = await ollama.generate({ model, prompt: "hi", system: "Be brief." });
    assert.deepEqual([whole.response, whole.thinking, whole.done_reason], ["Hello", "A greeting.", "stop"]);
    let text = "";
    for await (const line of await ollama.generate({ model, prompt: "hi", stream: true })) text += line.response;
    assert.equal(text, "Hello");
  });

  test(`${model}: tools of the client`, async () => {
    const conversation: Message[] = [{ role: "user", content: "2 + 3?" }];
    const first = await ollama.chat({ model, messages: conversation, tools: [add] });
    const [call] = first.message.tool_calls!;
    assert.deepEqual([call!.function.name, call!.function.arguments], ["add", { a: 2, b: 3 }]);
    conversation.push(first.message, { role: "tool", tool_name: "add", content: "5" });
    const second = await ollama.chat({ model, messages: conversation, tools: [add] });
    assert.equal(second.message.content, "It is 5.");
  });

  test(`${model}: the AI SDK`, async () => {
    const provider = createOllama({ baseURL: server.url });
    const { text, finishReason } = await generateText({ model: provider(model), prompt: "hi" });
    assert.deepEqual([text, finishReason], ["Hello", "stop"]);
    const stream = streamText({ model: provider(model), prompt: "hi" });
    assert.deepEqual([await stream.text, await stream.finishReason], ["Hello", "stop"]);
    const sum = await generateText({
      model: provider(model),
      prompt: "2 + 3?",
      stopWhen: stepCountIs(3),
      tools: {
        add: tool({
          description: "Adds",
          inputSchema: z.object({ a: z.number(), b: z.number() }),
          execute: ({ a, b }) => a + b,
        }),
      },
    });
    assert.equal(sum.text, "It is 5.");
  });
}

test("what there is: list, show, ps, version", async () => {
  const { models } = await ollama.list();
  assert.ok(models.some(({ name }) => name === "assistant"));
  assert.ok(models.some(({ name }) => name === "script"));
  const shown = (await ollama.show({ model: "assistant:latest" })) as Awaited<ReturnType<Ollama["show"]>>;
  assert.deepEqual(shown.capabilities, ["completion", "tools", "thinking", "vision"]);
  const info = shown.model_info as unknown as Record<string, unknown>;
  assert.equal(info["general.architecture"], "colloquy");
  assert.ok(Number(info["colloquy.context_length"]) > 0);
  assert.doesNotMatch(JSON.stringify(shown), /SECRET/, "instructions are the owner's");
  assert.equal((await ollama.ps()).models.length, models.length);
  assert.match((await ollama.version()).version, /^\d+\.\d+\.\d+$/);
});

test("errors are told as Ollama tells them", async () => {
  await assert.rejects(ollama.chat({ model: "nobody", messages }), {
    name: "ResponseError",
    status_code: 404,
    message: /^model 'nobody' not found\. Served here: .*assistant/,
  });
  await assert.rejects(ollama.chat({ model: "limited", messages }), { status_code: 429, message: /too many/ });
  await assert.rejects(async () => {
    for await (const _line of await ollama.chat({ model: "breaks-off", messages, stream: true }));
  }, /cut|ended|broke/i);
  await assert.rejects(ollama.delete({ model: "assistant" }), { status_code: 501, message: /deletes no models/ });
  await assert.rejects(ollama.copy({ source: "assistant", destination: "b" }), { status_code: 501 });
  await assert.rejects(ollama.create({ model: "b", from: "assistant" }), { status_code: 501 });
  await assert.rejects(ollama.push({ model: "assistant" }), { status_code: 501 });
  await assert.rejects(ollama.pull({ model: "llama3" }), { status_code: 501, message: /colloquy\.yaml/ });
  assert.equal((await ollama.pull({ model: "assistant:latest" })).status, "success", "what is here needs no pulling");
});
