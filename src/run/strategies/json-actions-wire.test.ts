import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTools, orchestratorTeam, written } from "../../../test/json-actions.ts";
import { type ModelServer, startModelServer } from "../../../test/model-servers/model-server.ts";
import { eachRunDatabase } from "../../../test/run-suite.ts";
import { testWires, type TestWire } from "../../../test/wires.ts";
import { jsonActions } from "./json-actions.ts";

const { orchestrator, others } = await orchestratorTeam("served");
eachRunDatabase(({ start }) => {
  const ask = async (wire: TestWire, server: ModelServer) => {
    const { tools, uses } = fileTools({ "notes.md": "remember the milk" });
    const service = await start({
      agent: orchestrator,
      agents: others,
      models: [wire.model(server.url)],
      strategies: { "json-actions": jsonActions },
      tools,
      script: [],
    });
    return { uses, ...(await service.ask("What shall I buy?", { agent: "orchestrator" })) };
  };

  for (const wire of testWires) {
    test(`${wire.name}: messy answers on the real wire come to the answer`, async (context) => {
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
        assert(JSON.stringify(body[wire.formatField]).includes('"target_agent"'));
        assert.equal(body["tools"], undefined);
      }
      const seen = JSON.stringify(server.requests[2]!.body);
      for (const part of ["You are the researcher", "Context from previous steps:", "Tool `read_file` output:"])
        assert(seen.includes(part), part);
    });

    test(`${wire.name}: a server that refuses the schema is asked without it`, async (context) => {
      const server = await startModelServer();
      context.after(() => server.close());
      server.always(({ body }) =>
        wire.formatField in body || body["tool_choice"] !== undefined
          ? { status: 400, error: "this way of answering is unavailable now" }
          : written({ action: "final", answer: "Milk." }),
      );
      assert.equal((await ask(wire, server)).text, "Milk.");
    });
  }
}, "pglite");
