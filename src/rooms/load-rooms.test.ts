import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/pglite.ts";
import { createAgentRegistry } from "../agents/registry.ts";
import { agentSchema } from "../protocol/agents/agents.ts";
import { loadRooms } from "./load-rooms.ts";
import { modelIdOf, roomAgent, withRoomAgents } from "./room-agents.ts";

const agents = createAgentRegistry(
  ["coder", "researcher"].map((id) => agentSchema.parse({ id, tools: ["*"], settings: { temperature: 0.1 } })),
);

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder("rooms");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test("the example of docs/rooms.md: agents of the server, changed ones, the room's own, and one from elsewhere", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/rooms.md"), "utf8");
  const [, example = ""] = /^```yaml\n(.*?)^```$/ms.exec(page)!;
  const folder = folderWith({ "release.yaml": example });
  const { rooms, problems } = await loadRooms({ folder, variable: (name) => `value of ${name}` });
  assert.deepEqual(problems, []);
  const file = rooms.find(({ id }) => id === "release")!;
  assert.equal(file.workspace, join(folder, "release"));
  const { room, limits } = roomAgent(file, agents);
  assert.equal(limits.cost, 2);
  assert.deepEqual([room!.people, room!.guards.turns, room!.guards.pair], ["everybody", 20, 12]);
  assert.deepEqual(
    room!.members.map(({ agent, mayInterrupt }) => [
      agent.id,
      agent.activation,
      agent.model,
      agent.tools,
      mayInterrupt,
    ]),
    [
      ["coder", "mention", "default", ["*"], false],
      ["researcher", "always", "default", ["websearch"], false],
      ["reviewer", "always", "default", [], true],
      ["ada", "mention", modelIdOf("release", "ada"), [], false],
    ],
  );
  assert.equal(file.members[3]!.key, "value of OTHER_KEY");
  const without = await loadRooms({ folder });
  assert.equal(without.rooms.find(({ id }) => id === "release")!.members[3]!.key, undefined);
});

test("a room of the folder replaces the built-in one; what is wrong is told, and left out", async () => {
  const folder = folderWith({
    "analysis.yaml": "members: ['@coder']\ntitle: Ours\n",
    "broken.yaml": "members: [coder\n",
    "list.yaml": "- coder\n",
    "empty.yaml": "members: []\n",
    "strange.yml": "members: [coder]\nturn: parallel\n",
    "both.yaml": "members: [{ agent: coder, id: coder }]\n",
    "README.md": "no room",
  });
  const { rooms, problems } = await loadRooms({ folder });
  assert.deepEqual(
    rooms.map(({ id, title }) => [id, title]),
    [["analysis", "Ours"]],
  );
  const faulty = new Set(problems.map(({ file }) => file.slice(folder.length + 1)));
  assert.deepEqual([...faulty].sort(), ["both.yaml", "broken.yaml", "empty.yaml", "list.yaml", "strange.yml"]);
  assert.ok(problems.some(({ message }) => message.includes("turn")));
  const known = withRoomAgents(agents, rooms);
  assert.deepEqual(
    known.list().map(({ id }) => id),
    ["analysis", "coder", "researcher"],
  );
  assert.throws(() => known.get("nothing"), { code: "agent_not_found" });
});

test("a room that names an agent which is not there is not listed, and an agent comes before a room of its name", async () => {
  const folder = folderWith({ "coder.yaml": "members: [researcher]\n", "lost.yaml": "members: [nobody]\n" });
  const { rooms } = await loadRooms({ folder });
  const known = withRoomAgents(agents, rooms);
  assert.equal(known.get("coder").room, undefined);
  assert.ok(!known.list().some(({ id }) => id === "lost"));
  assert.throws(() => known.get("lost"), { code: "agent_not_found" });
});
