import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTools, orchestratorTeam, written } from "../../../test/json-actions.ts";
import { type ModelServer, startModelServer } from "../../../test/model-servers/model-server.ts";
import { eachRunDatabase } from "../../../test/run-suite.ts";
import type { ModelConfig } from "../../models/config.ts";
import { jsonActions } from "./json-actions.ts";

const { orchestrator, others } = await orchestratorTeam("served");
const wires: Readonly<Record<string, (url: string) => ModelConfig>> = {
  openai: (url) => ({ id: "served", provider: "openai", baseUrl: `${url}/v1`, model: "served", apiKey: "none" }),
  ollama: (url) => ({ id: "served", provider: "ollama", baseUrl: url, model: "served" }),
  anthropic: (url) => ({ id: "served", provider: "anthropic", baseUrl: `${url}/v1`, model: "served", apiKey: "none" }),
};
/** Where each wire has the schema. */
const schemaField: Readonly<Record<string, string>> = {
  openai: "response_format",
  ollama: "format",
  anthropic: "output_config",
};

eachRunDatabase(({ start }) => {
  const ask = async (wire: string, server: ModelServer) => {
    const { tools, uses } = fileTools({ "notes.md": "remember the milk" });
    const service = await start({
      agent: orchestrator,
      agents: others,
      models: [wires[wire]!(server.url)],
      strategies: { "json-actions": jsonActions },
      tools,
      script: [],
    });
    return { uses, ...(await service.ask("What shall I buy?", { agent: "orchestrator" })) };
  };

  for (const wire of Object.keys(wires)) {
    test(`${wire}: messy answers on the real wire come to the answer`, async (context) => {
      const server = await startModelServer();
      context.after(() => server.close());
      server.answer(
        { text: ["Sure!\n```json\n", written({ action: "delegate", target_agent: "researcher" }), "\n```"], write: 7 },
        `<think>{"action": "final"}?</think>{'action': 'read_file', 'args': {'path': 'notes.md',},}`,
        "You should buy milk.",
        { text: written({ thought: "it says so", action: "final", answer: "Milk 🥛" }), write: 1 },
      );
      const { text, uses } = await ask(wire, server);
      assert.equal(text, "Milk 🥛");
      assert.deepEqual(uses, ["read_file notes.md"]);
      assert.equal(server.requests.length, 4);
      for (const { body } of server.requests) {
        assert(JSON.stringify(body[schemaField[wire]!]).includes('"target_agent"'));
        assert.equal(body["tools"], undefined);
      }
      const seen = JSON.stringify(server.requests[2]!.body);
      for (const part of ["You are the researcher", "Context from previous steps:", "Tool `read_file` output:"])
        assert(seen.includes(part), part);
    });

    test(`${wire}: a server that refuses the schema is asked without it`, async (context) => {
      const server = await startModelServer();
      context.after(() => server.close());
      server.always(({ body }) =>
        schemaField[wire]! in body || body["tool_choice"] !== undefined
          ? { status: 400, error: "this way of answering is unavailable now" }
          : written({ action: "final", answer: "Milk." }),
      );
      assert.equal((await ask(wire, server)).text, "Milk.");
    });
  }
}, "pglite");
