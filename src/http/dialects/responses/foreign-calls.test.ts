import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";

let server: AgentServing;
let openai: OpenAI;
before(async () => {
  const thinker = agentSchema.parse({ id: "thinker", model: "script", strategy: "react", instructions: "Think." });
  server = await serveAgents(
    ({ messages }) =>
      messages
        .filter(({ role }) => role !== "system")
        .map(({ role, content }) => `${role}:${JSON.stringify(content)}`)
        .join(" "),
    {},
    { agents: [thinker] },
  );
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

const tools = [{ type: "function" as const, name: "f1", parameters: { type: "object" }, strict: false }];
const called = (id: string, output: string): OpenAI.Responses.ResponseInput => [
  { type: "function_call", call_id: id, name: "f1", arguments: "{}" },
  { type: "function_call_output", call_id: id, output },
];
const user = (content: string) => ({ role: "user" as const, content });

for (const model of ["script", "assistant"])
  for (const store of [true, false])
    test(`${model}, ${store ? "kept" : "not kept"}: an answer goes on from calls that were made elsewhere`, async () => {
      const input = [user("a"), ...called("c1", "T"), ...called("c2", "U")];
      const response = await openai.responses.create({ model, store, tools, input });
      const told = 'user:"a" assistant:"" tool:"T" assistant:"" tool:"U"';
      assert.equal(response.output_text, told);
      const longer = [user("0"), ...called("c0", "S"), { role: "assistant" as const, content: "b" }, ...input];
      const again = await openai.responses.create({ model, store, tools, input: longer });
      assert.equal(again.output_text, `user:"0" assistant:"" tool:"S" assistant:"b" ${told}`);
      if (!store) return;
      const { data } = await openai.responses.inputItems.list(response.id, { order: "asc" });
      const types = data.map(({ type }) => type);
      const pair = ["function_call", "function_call_output"];
      assert.deepEqual(types, ["message", ...pair, ...pair]);
      const later = await openai.responses.create({ model, input: "c", previous_response_id: response.id });
      assert.match(later.output_text, /^user:"a" assistant:"" tool:"T" assistant:"" tool:"U" assistant:.* user:"c"$/);
      assert.equal((await openai.responses.retrieve(response.id)).output_text, told);
    });

for (const [name, more] of [
  ["an agent that is told only what was said", { model: "thinker" }],
  ["no message of a user", { model: "assistant", input: called("c1", "T") }],
] as const)
  test(`refused: ${name}`, async () => {
    const input = [user("a"), ...called("c1", "T")];
    await assert.rejects(
      openai.responses.create({ tools, input, ...more }),
      (error) => error instanceof OpenAI.BadRequestError && /call c1 was not made by this server/.test(error.message),
    );
  });
