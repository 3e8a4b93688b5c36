import assert from "node:assert/strict";
import { test } from "node:test";
import { agentSchema } from "../protocol/agents/agents.ts";
import { createAgentRegistry, createLiveAgents } from "./registry.ts";

const agentsOf = (...ids: readonly string[]) =>
  createAgentRegistry(ids.map((id) => agentSchema.parse({ id, model: "m" })));

test("what is made of agents is in `all` alone, and made again only when they change", () => {
  let made = 0;
  const live = createLiveAgents(agentsOf("a"), (agents) => {
    made++;
    return agentsOf(...agents.list().map(({ id }) => id), "room");
  });
  const { all } = live;
  for (let times = 0; times < 3; times++) assert.equal(all.get("room").id, "room");
  assert.deepEqual([made, live.has("room"), all.has("a")], [1, false, true], "a room can be no default agent");
  live.update(agentsOf("b"));
  assert.deepEqual([made, live.has("a"), all.has("a"), all.has("b"), all.has("room")], [2, false, false, true, true]);
});
