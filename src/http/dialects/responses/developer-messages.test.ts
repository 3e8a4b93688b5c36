import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";

let server: AgentServing;
let openai: OpenAI;
/** The system text that the model was told last. */
let told: string | undefined;
before(async () => {
  server = await serveAgents(({ messages }) => {
    for (const message of messages)
      if (message.role === "system") assert.deepEqual(Object.keys(message), ["role", "content"]);
    told = messages.flatMap(({ role, content }) => (role === "system" ? [String(content)] : [])).join("\n\n");
    return "Yes.";
  });
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

const dev = (content: string) => ({ type: "message" as const, role: "developer" as const, content });
const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });

/** Without the agent's own instructions. */
const said = () => told!.split("\n\n").filter((text) => /^(DEV|SYS|INSTR)/.test(text));

for (const model of ["script", "assistant"]) {
  const ask = (
    input: string | OpenAI.Responses.ResponseInput,
    more: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {},
  ) => openai.responses.create({ model, input, ...more });

  test(`${model}: a developer's message is told in every later answer, instructions in their own`, async () => {
    const first = await ask([dev("DEV1"), user("u1")]);
    assert.deepEqual(said(), ["DEV1"]);
    const second = await ask("u2", { previous_response_id: first.id, instructions: "INSTR" });
    assert.deepEqual(said(), ["INSTR", "DEV1"]);
    const third = await ask([dev("DEV2"), user("u3")], { previous_response_id: second.id, instructions: "INSTR2" });
    assert.deepEqual(said(), ["INSTR2", "DEV1", "DEV2"]);
    await ask("u4", { previous_response_id: third.id });
    assert.deepEqual(said(), ["DEV1", "DEV2"]);
    await ask("u4", { previous_response_id: first.id });
    assert.deepEqual(said(), ["DEV1"], "a branch");
    const { data } = await openai.responses.inputItems.list(third.id, { order: "asc" });
    assert.deepEqual(
      data.map((item) => item.type === "message" && item.role),
      ["developer", "user"],
    );
  });

  test(`${model}: a developer's message keeps its place in a history, and one behind the user's is told too`, async () => {
    const { id } = await ask([user("a"), { role: "assistant", content: "b" }, dev("DEV1"), user("c"), dev("DEV2")]);
    assert.deepEqual(said(), ["DEV1", "DEV2"]);
    const { data } = await openai.responses.inputItems.list(id, { order: "asc" });
    assert.deepEqual(
      data.map((item) => item.type === "message" && String(item.role)),
      ["user", "assistant", "developer", "developer", "user"],
    );
  });

  test(`${model}: in a conversation instructions are no items, and developers' messages are`, async () => {
    const { id } = await openai.conversations.create({
      items: [user("a"), dev("DEV1"), { type: "message", role: "system", content: "SYS" }],
    });
    await ask("b", { conversation: id, instructions: "INSTR" });
    assert.deepEqual(said(), ["INSTR", "DEV1", "SYS"]);
    const { id: last } = await ask([dev("DEV2"), user("c")], { conversation: id });
    assert.deepEqual(said(), ["DEV1", "SYS", "DEV2"]);
    const { data } = await openai.conversations.items.list(id, { order: "asc" });
    assert.deepEqual(
      data.map((item) => item.type === "message" && item.role),
      ["user", "developer", "system", "user", "assistant", "developer", "user", "assistant"],
    );
    const { data: input } = await openai.responses.inputItems.list(last, { order: "asc" });
    assert.deepEqual(
      input.map((item) => item.type === "message" && item.role),
      ["developer", "user"],
    );
  });

  test(`${model}: instructions are told of a response that is not kept`, async () => {
    await ask([dev("DEV1"), user("u1")], { store: false, instructions: "INSTR" });
    assert.deepEqual(said(), ["INSTR", "DEV1"]);
  });
}
