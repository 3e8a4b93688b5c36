import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { withRoomModels } from "../src/app/rooms.ts";
import { createModels } from "../src/models/registry.ts";
import { createAgentRegistry } from "../src/agents/registry.ts";
import { modelIdOf, roomAgent } from "../src/rooms/room-agents.ts";
import { roomFileSchema } from "../src/rooms/room-file.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";

let server: ModelServer;
before(async () => {
  server = await startModelServer();
});
after(() => server.close());

test("a member from elsewhere: its endpoint is asked with its key, and its model is nobody else's", async () => {
  const file = roomFileSchema.parse({
    id: "desk",
    members: [{ id: "guest", endpoint: `${server.url}/v1`, model: "far-away", key: "sk-guest" }],
  });
  const own = createModels({ models: [] });
  const hidden: string[] = [];
  const { models, close } = withRoomModels(own, [file], { isOwn: () => false, hide: (key) => hidden.push(key) });
  const { model } = roomAgent(file, createAgentRegistry([])).room!.members[0]!.agent;
  assert.equal(model, modelIdOf("desk", "guest"));
  server.answer("I am far away.");
  let text = "";
  for await (const parts of models
    .get(model)
    .stream({ messages: [{ role: "user", content: "hi" }] }, new AbortController().signal))
    for (const part of parts) if (part.type === "text") text += part.text;
  assert.equal(text, "I am far away.");
  const request = server.requests.at(-1)!;
  assert.equal(request.headers["authorization"], "Bearer sk-guest");
  assert.deepEqual(hidden, ["sk-guest"]);
  assert.ok(!models.list().some(({ id }) => id === model));
  assert.throws(() => models.get("nothing"), { code: "model_not_found" });
  await close();
  await own.close();
});
