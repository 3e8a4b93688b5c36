import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import {
  Agent,
  OpenAIConversationsSession,
  run,
  setDefaultOpenAIClient,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { type AgentServing, serveAgents } from "./serve-agents.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";

/** Calls `add` when it may and has not yet, then tells the sum; an agent notes it first. */
function calculator({ messages, tools }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1);
  const asked = messages.findLast((message) => message.role === "user")?.content;
  if (last?.role === "tool") return `It is ${last.content}.`;
  if (JSON.stringify(asked).includes("history"))
    return JSON.stringify(messages.map(({ role, content }) => [role, content]));
  if (asked === "note it") return [{ call: "add_task", arguments: { title: "it" } }, { finish: "calls" }];
  if (tools?.some(({ name }) => name === "add"))
    return [{ reasoning: "I add them." }, { call: "add", arguments: { a: 2, b: 3 } }, { finish: "calls" }];
  return [{ text: "Hel" }, { text: "lo" }];
}

let server: AgentServing;
let openai: OpenAI;
before(async () => {
  server = await serveAgents(calculator);
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
  setDefaultOpenAIClient(openai);
  setTracingDisabled(true);
});
after(() => server.close());

for (const model of ["script", "assistant"]) {
  const sums: string[] = [];
  const add = tool({
    name: "add",
    description: "Adds two numbers",
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => {
      sums.push(`${a}+${b}`);
      return String(a + b);
    },
  });
  test(`@openai/agents, ${model}: a function, whole and streamed, and a conversation`, async () => {
    const agent = new Agent({ name: "calculator", instructions: "Add.", model, tools: [add] });
    const result = await run(agent, "What is 2 + 3?");
    assert.equal(result.finalOutput, "It is 5.");
    const streamed = await run(agent, "What is 2 + 3?", { stream: true });
    let told = "";
    for await (const piece of streamed.toTextStream()) told += piece;
    await streamed.completed;
    assert.deepEqual([told, streamed.finalOutput], ["It is 5.", "It is 5."]);
    assert.deepEqual(sums, ["2+3", "2+3"]);
    const talker = new Agent({ name: "talker", instructions: "Talk.", model });
    const next = await run(talker, [...result.history, { role: "user", content: "history" }]);
    assert.match(next.finalOutput!, /"It is 5\."/);
    const kept = await run(talker, "history", { previousResponseId: result.lastResponseId! });
    assert.match(kept.finalOutput!, /"It is 5\."/);
  });

  test(`@ai-sdk/openai, ${model}: a function, streamed, and what was said before by reference`, async () => {
    const provider = createOpenAI({ baseURL: server.url + "/v1", apiKey: "none" });
    const tools = {
      add: aiTool({
        description: "Adds two numbers",
        inputSchema: jsonSchema<{ a: number; b: number }>({
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
        }),
        execute: ({ a, b }) => String(a + b),
      }),
    };
    const first = await generateText({
      model: provider.responses(model),
      prompt: "What is 2 + 3?",
      tools,
      stopWhen: stepCountIs(3),
    });
    assert.equal(first.text, "It is 5.");
    const streamed = streamText({
      model: provider.responses(model),
      prompt: "What is 2 + 3?",
      tools,
      stopWhen: stepCountIs(3),
    });
    let told = "";
    for await (const piece of streamed.textStream) told += piece;
    assert.equal(told, "It is 5.");
    const next = await generateText({
      model: provider.responses(model),
      messages: [
        { role: "user", content: "What is 2 + 3?" },
        ...first.response.messages,
        { role: "user", content: "history" },
      ],
    });
    assert.match(next.text, /"It is 5\."/);
  });
}

test("@openai/agents: what the server's own tools did is told, and told back", async () => {
  const agent = new Agent({ name: "noter", instructions: "Note.", model: "assistant" });
  const result = await run(agent, "note it");
  assert.match(result.finalOutput!, /^It is .*"title":"it"/);
  const next = await run(agent, [...result.history, { role: "user", content: "history" }]);
  assert.match(next.finalOutput!, /"tool",".*\\"title\\":\\"it\\"/);
  const streamed = await run(agent, "note it", { stream: true });
  await streamed.completed;
  assert.match(streamed.finalOutput!, /^It is /);
});

for (const model of ["script", "assistant"])
  test(`@openai/agents, ${model}: a session that is a conversation here`, async () => {
    const session = new OpenAIConversationsSession({ client: openai });
    const add = tool({
      name: "add",
      description: "Adds two numbers",
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => String(a + b),
    });
    const agent = new Agent({ name: "calculator", instructions: "Add.", model, tools: [add] });
    assert.equal((await run(agent, "What is 2 + 3?", { session })).finalOutput, "It is 5.");
    const items = await session.getItems();
    assert.deepEqual(
      items.map(({ type }) => type),
      ["message", "function_call", "function_call_result", "message"],
    );
    const talker = new Agent({ name: "talker", instructions: "Talk.", model });
    assert.match((await run(talker, "history", { session })).finalOutput!, /What is 2 \+ 3\?.*"It is 5\."/);
    await session.popItem();
    await session.popItem();
    assert.equal((await session.getItems()).length, items.length);
    await session.clearSession();
  });
