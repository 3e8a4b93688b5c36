import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { deskOf } from "../../../test/taiga-desk.ts";
import { startTaiga, type Taiga } from "../../../test/taiga/server.ts";
import type { PlannedWrite } from "../../protocol/agents/tools.ts";

let server: Taiga;
let desk: Awaited<ReturnType<typeof deskOf>>;
before(async () => {
  server = await startTaiga();
});
afterEach(async () => {
  await desk.close();
  server.reset();
});
after(() => server.close());

const subject = "x";

test("what can be done passes, and nothing is written", async () => {
  desk = await deskOf(server, "bruno");
  const story = server.state.story("Sign in with a company account");
  const { id: task } = server.state.task("Choose the identity provider");
  const user_story_id = story.id;
  for (const [name, given] of [
    ["taiga_create_user_story", { subject, milestone_id: story.milestone, status: "ready", assigned_to: "carla" }],
    ["taiga_create_task", { subject, user_story_id, status: "In progress" }],
    ["taiga_update_user_story", { user_story_id, milestone_id: null }],
    ["taiga_update_task", { task_id: task, assigned_to: null }],
    ["taiga_delete_user_story", { user_story_id }],
    ["taiga_delete_task", { task_id: task }],
  ] as const)
    assert.equal(await desk.check(name, given), undefined, name);
  assert.deepEqual(server.state.writes, []);
});

test("what is not there, or is another project's, is told before", async () => {
  desk = await deskOf(server, "bruno");
  const { id: foreign } = server.state.story("Close the till");
  const { id: user_story_id } = server.state.story("Import the list of customers");
  const { id: sprintOfSite } = server.state.world.milestones.find(({ name }) => name === "sprint 6")!;
  for (const [name, given, reason] of [
    ["taiga_create_user_story", { subject, milestone_id: 999 }, /not found/],
    ["taiga_create_user_story", { subject, milestone_id: sprintOfSite }, /not in this project/],
    ["taiga_create_user_story", { subject, milestone_id: "new:1" }, /new:1 is no sprint/],
    ["taiga_create_user_story", { subject, status: "Someday" }, /Status "Someday" not found.*Ready/],
    ["taiga_create_user_story", { subject, assigned_to: "nobody" }, /No member/],
    ["taiga_create_task", { subject, user_story_id: 999 }, /not found/],
    ["taiga_create_task", { subject, user_story_id: foreign }, /not in this project/],
    ["taiga_update_user_story", { user_story_id }, /No changes given/],
    ["taiga_update_task", { task_id: 999, subject }, /not found/],
    ["taiga_delete_task", { task_id: 999 }, /not found/],
  ] as const)
    assert.match((await desk.check(name, given)) ?? "", reason, `${name} ${JSON.stringify(given)}`);
});

test("what is planned before counts: what it makes, and what it takes away", async () => {
  desk = await deskOf(server, "bruno");
  const { id: story } = server.state.story("Sign in with a company account");
  const { id: task } = server.state.task("Choose the identity provider");
  const planned: PlannedWrite[] = [
    { id: "new:1", tool: "taiga_create_user_story", arguments: { subject } },
    { id: "new:2", tool: "taiga_create_task", arguments: { subject, user_story_id: "new:1" } },
    { id: "new:3", tool: "taiga_create_user_story", arguments: { subject } },
    { id: "new:4", tool: "taiga_delete_user_story", arguments: { user_story_id: story } },
  ];
  const check = (name: string, given: object) => desk.check(name, given, planned);
  assert.equal(await check("taiga_create_task", { subject, user_story_id: "new:1" }), undefined);
  assert.equal(await check("taiga_update_task", { task_id: "new:2", status: "Closed" }), undefined);
  assert.match((await check("taiga_create_task", { subject, user_story_id: "new:2" })) ?? "", /new:2 is no user story/);
  assert.match((await check("taiga_update_task", { task_id: "new:4", subject })) ?? "", /new:4 is no task/);
  const gone = /is deleted before, by new:4/;
  assert.match((await check("taiga_create_task", { subject, user_story_id: story })) ?? "", gone);
  assert.match((await check("taiga_update_user_story", { user_story_id: story, subject })) ?? "", gone);
  assert.match((await check("taiga_update_task", { task_id: task, subject })) ?? "", gone);
});

test("in a blocked project nothing can be done", async () => {
  desk = await deskOf(server, "bruno", { project: "old-shop" });
  assert.match((await desk.check("taiga_create_user_story", { subject })) ?? "", /blocked/);
});

test("what the caller may not see can't be looked at, and passes", async () => {
  server.state.setPermissions("acme-app", "back", ["view_project", "add_us", "add_task"]);
  desk = await deskOf(server, "bruno");
  assert.equal(await desk.check("taiga_create_task", { subject, user_story_id: 999 }), undefined);
});
