import assert from "node:assert/strict";
import { test } from "node:test";
import { openRoom } from "../../test/room-place.ts";
import { memberOf, scriptOf } from "../../test/rooms.ts";
import { anyRunDatabase, until } from "../../test/run-suite.ts";
import { createAgentRegistry } from "../agents/registry.ts";
import { agentSchema } from "../protocol/agents/agents.ts";
import { callerOf } from "../protocol/base/callers.ts";
import { newId } from "../protocol/base/ids.ts";
import { createUser } from "../store/people/users.ts";
import { withRoomAgents } from "./room-agents.ts";
import { roomFileSchema } from "./room-file.ts";
import { createRooms } from "./rooms.ts";

const agentsOf = (...ids: readonly string[]) =>
  createAgentRegistry(ids.map((id) => agentSchema.parse({ id, model: "script" })));

anyRunDatabase((suite) => {
  test("a room whose kind or agent is gone is listed as such, can be read and deleted, and keeps no other from the list", async () => {
    const { ada, id, say, over, service } = await openRoom(suite, {
      room: { members: [memberOf("one")] },
      script: scriptOf({ one: ["Hello."] }),
    });
    await over(await say(ada, "@one hi"));
    const { query } = service.database;
    const parts = { query, ...service };
    const before = createRooms({ ...parts, agents: agentsOf("left", "right"), files: [] });
    const composed = await before.create(ada, { members: ["left"] });
    const whole = await before.create(ada, { members: ["right"] });

    const rooms = createRooms({ ...parts, agents: agentsOf("right"), files: [] });
    const listed = await rooms.list(ada, 10);
    assert.deepEqual(
      listed.map((room) => [room.id, room.problem]),
      [
        [whole.id, undefined],
        [composed.id, "Agent left no longer exists. The room's owner can change its members."],
        [id, "The room kind desk no longer exists."],
      ],
    );
    assert.deepEqual(
      listed[2]!.members.map(({ kind }) => kind),
      ["person", "person"],
    );
    await assert.rejects(rooms.say(ada, id, { message: { content: "hi" } }), { code: "room_kind_gone" });
    await assert.rejects(rooms.say(ada, composed.id, { message: { content: "hi" } }), { code: "room_agent_gone" });
    assert.equal((await rooms.change(ada, id, { title: "Old" })).title, "Old");
    const items = await service.threads.listItems(await rooms.ownerOf(ada, id), id, {});
    assert.ok(items.some(({ author }) => author === "one"));
    await rooms.remove(ada, id);
    const mended = await rooms.change(ada, composed.id, { members: ["right"] });
    assert.deepEqual([mended.problem, mended.members[0]?.handle], [undefined, "right"]);
    assert.equal((await rooms.list(ada, 10)).length, 2);
  });

  test("the kind's own members and agents of the server stand side by side, each listening as it was chosen", async () => {
    const { ada, bob, service } = await openRoom(suite, {
      room: { members: [memberOf("one")] },
      script: () => "Hello.",
    });
    const file = roomFileSchema.parse({
      id: "pair",
      members: [
        { id: "own", prompt: "You are @own.", model: "script" },
        { agent: "left", tools: [] },
      ],
    });
    const { query } = service.database;
    const rooms = createRooms({
      ...{ query, ...service, files: [file] },
      agents: withRoomAgents(agentsOf("left", "right"), [file]),
    });
    const { id } = await rooms.create(ada, { kind: "pair" });
    const members = ["own", { agent: "left" }, { agent: "right", activation: "always" }] as const;
    const changed = await rooms.change(ada, id, { members });
    assert.deepEqual(
      changed.members.map((one) => [one.handle, one.kind === "agent" && one.activation]),
      [
        ["own", "mention"],
        ["left", "mention"],
        ["right", "always"],
        ["user", false],
      ],
    );
    // The kind's own come with the kind; what was let in beside them does not.
    await rooms.addPerson(ada, id, bob.name);
    const some = { ...bob, permissions: ["room:pair", "model:*"] };
    await assert.rejects(rooms.say(some, id, { message: { content: "@own hi" } }), {
      status: 403,
      message: "You don't have permission to use right.",
    });
    await rooms.change(ada, id, { members: [{ agent: "own", activation: "always" }] });
    assert.ok((await rooms.say(some, id, { message: { content: "hi" } })).runId);
    await assert.rejects(rooms.change(ada, id, { members: [{ agent: "nobody" }] }), { status: 400 });
    await assert.rejects(rooms.create(ada, { members: ["own"] }), { status: 400 });
    const twins = [{ agent: "own", activation: "always" }, "own"] as const;
    await assert.rejects(rooms.change(ada, id, { members: twins }), { status: 400 });
  });

  test("who may not work with the agents of a room that was put together is not heard in it", async () => {
    const { ada, service } = await openRoom(suite, { room: { members: [memberOf("one")] }, script: () => "Hello." });
    const { query } = service.database;
    const rooms = createRooms({ query, ...service, agents: agentsOf("left", "right"), files: [] });
    const { id } = await rooms.create(ada, { members: ["left", "right"] });
    const user = await createUser(query, { name: newId(), role: "user" });
    await rooms.addPerson(ada, id, user.name);
    const some = { ...callerOf(user, "session"), permissions: ["agent:left", "model:*"] };
    await assert.rejects(rooms.say(some, id, { message: { content: "@right hi" } }), {
      status: 403,
      message: "You don't have permission to use right.",
    });
    assert.equal((await rooms.get(some, id)).run, null);
  });

  test("continue is said by whoever says it, lifts one limit once, and only for who may", async () => {
    const { ada, bob, say, over, seen, rooms, id, lines } = await openRoom(suite, {
      room: { members: [memberOf("one"), memberOf("two")], limits: { steps: 2, onLimit: "pause" } },
      script: scriptOf({
        one: (_request, count) => `@two ${count}`,
        two: (_request, count) => (count < 2 ? `@one ${count}` : "Enough."),
      }),
    });
    const decisions = () => seen.filter((event) => event.type === "decision").length;
    const waits = (count: number) =>
      until(
        async () =>
          seen.filter((event) => event.type === "question").length === count &&
          (await rooms.get(ada, id)).run?.status === "waiting",
        `the limit the ${count}. time`,
      );
    const run = await say(ada, "@one play");
    await waits(1);
    assert.equal(await say(bob, "continue"), run);
    await until(() => lines().at(-1) === "@bob: continue", "what was said");
    assert.equal(decisions(), 0);
    assert.deepEqual(await Promise.all([say(ada, "continue"), say(ada, "Continue!")]), [run, run]);
    await waits(2);
    assert.equal(decisions(), 1);
    const once = { message: { content: "continue" }, idempotency: { key: "once", bodyHash: "same" } };
    assert.equal((await rooms.say(ada, id, once)).replayed, false);
    await waits(3);
    assert.equal((await rooms.say(ada, id, once)).replayed, true);
    assert.equal(decisions(), 2);
    assert.equal((await rooms.get(ada, id)).run?.status, "waiting");
    await rooms.interrupt(ada, id);
    await over(run);
  });

  test("a list of rooms tells of each who is in it, in as many statements as of one", async (t) => {
    const { ada, bob, rooms, id } = await openRoom(suite, { room: { members: [memberOf("one")] }, script: [] });
    const { id: other } = await rooms.create(ada, { kind: "desk", title: "Other" });
    let trips = 0;
    const database = suite.database();
    database.onTrip = (text) => {
      if (/from (room_people|room_presence|runs|items)\b/.test(text) && text.includes("any(")) trips++;
    };
    t.after(() => delete database.onTrip);
    const listed = await rooms.list(ada, 10);
    assert.equal(trips, 4);
    assert.deepEqual(listed, await Promise.all([other, id].map((one) => rooms.get(ada, one))));
    assert.deepEqual(
      (await rooms.list(bob, 10)).map((room) => room.id),
      [id],
    );
  });
});
