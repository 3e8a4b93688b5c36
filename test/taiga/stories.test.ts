import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const create = (body: object) =>
  call(taiga, "POST /userstories", { as: "bruno", body: { project: 1, subject: "Export orders", ...body } });

test("a story is created with 201, its defaults and the next reference of the project", async () => {
  const { status, body } = await create({ description: "As <b>CSV</b>", milestone: 3, tags: ["Minutes"] });
  assert.equal(status, 201);
  assert.deepEqual([body["id"], body["ref"], body["version"], body["project"], body["milestone"]], [6, 7, 1, 1, 3]);
  assert.deepEqual([body["milestone_name"], body["milestone_slug"]], ["Sprint 6", "sprint-6"]);
  assert.deepEqual(body["status_extra_info"], { name: "New", color: "#999999", is_closed: false });
  assert.deepEqual(body["tags"], [["minutes", null]]);
  assert.deepEqual([body["points"], body["total_points"]], [{ "2": 1, "3": 1 }, null]);
  assert.equal(body["description_html"], "<p>As &lt;b&gt;CSV&lt;/b&gt;</p>");
  assert.equal((body["owner_extra_info"] as { username: string }).username, "bruno");
  assert.equal(body["external_reference"], null);
});

test("an external reference is a list, comes back as it was, and is no filter", async () => {
  const made = await create({ external_reference: ["colloquy", "Run-1/2"] });
  assert.deepEqual(made.body["external_reference"], ["colloquy", "Run-1/2"]);
  const { rows } = await call(taiga, "GET /userstories?project=1&external_reference=colloquy", { as: "bruno" });
  assert.equal(rows.length, 4);
  assert.deepEqual(rows.at(-1)?.["external_reference"], ["colloquy", "Run-1/2"]);
  assert.deepEqual(taiga.state.marked("Run-1/2"), [taiga.state.story("Export orders")]);
});

test("what is wrong with fields is said for all at once, before rights are looked at", async () => {
  const { status, body } = await call(taiga, "POST /userstories", {
    as: "oscar",
    body: { project: 77, milestone: 99 },
  });
  assert.equal(status, 400);
  assert.deepEqual(body, {
    project: ["Invalid pk '77' - object does not exist."],
    subject: ["This field is required."],
    milestone: ["Invalid pk '99' - object does not exist."],
  });
  const long = await create({ subject: "x".repeat(501) });
  assert.deepEqual(long.body, { subject: ["Ensure this value has at most 500 characters (it has 501)."] });
  const stranger = await create({ assigned_to: 6 });
  assert.deepEqual(stranger.body, { assigned_to: ["The user must be a project member."] });
  const tag = await create({ tags: [["red", "red"]] });
  assert.match(String(tag.body["tags"]), /not a valid HEX color/);
});

test("points need a role that estimates and points of the project", async () => {
  assert.deepEqual((await create({ points: { "9": 1 } })).body, { points: "Invalid role id '9'" });
  assert.deepEqual((await create({ points: { "1": 1 } })).body, { points: "Invalid role id '1'" });
  assert.deepEqual((await create({ points: { "2": 99 } })).body, { points: "Invalid points id '99'" });
  const made = await create({ points: { "2": 5 } });
  assert.deepEqual([made.body["points"], made.body["total_points"]], [{ "2": 5, "3": 1 }, 2]);
  assert.equal(taiga.state.created.stories.length, 1);
});

test("a sprint or a status of another project is a 403", async () => {
  for (const foreign of [{ milestone: 4 }, { status: 6 }]) {
    const { status, body } = await create(foreign);
    assert.equal(status, 403);
    assert.match(String(body["_error_message"]), /^You don't have permissions to set this (sprint|status)/);
  }
  assert.equal(taiga.state.created.stories.length, 0);
});

test("one story has its description, a list has not", async () => {
  const one = await call(taiga, "GET /userstories/3", { as: "sam" });
  assert.match(String(one.body["description"]), /ignore your rules/);
  const byRef = await call(taiga, "GET /userstories/by_ref?ref=6&project=1", { as: "sam" });
  assert.deepEqual(byRef.body, one.body);
  const bySlug = await call(taiga, "GET /userstories/by_ref?ref=6&project__slug=acme-app", { as: "sam" });
  assert.equal(bySlug.body["id"], 3);
  const list = await call(taiga, "GET /userstories?project=1", { as: "sam" });
  assert.ok(list.rows.every((row) => !("description" in row)));
});

test("by_ref needs both; without, the answer is a bare text", async () => {
  const noProject = await call(taiga, "GET /userstories/by_ref?ref=1", { as: "sam" });
  assert.deepEqual([noProject.status, noProject.text], [400, '"project or project__slug param is needed"']);
  assert.equal((await call(taiga, "GET /userstories/by_ref?project=1", { as: "sam" })).text, '"ref param is needed"');
  assert.equal((await call(taiga, "GET /userstories/by_ref?ref=2&project=1", { as: "sam" })).status, 404);
});

test("a story takes its tasks along to another sprint; a deleted one takes them with it", async () => {
  await call(taiga, "PATCH /userstories/1", { as: "bruno", body: { milestone: 3, version: 1 } });
  const own = () => taiga.state.world.tasks.filter((task) => task.user_story === 1);
  assert.deepEqual(
    own().map((task) => [task.milestone, task.version]),
    [
      [3, 1],
      [3, 1],
    ],
  );
  assert.equal((await call(taiga, "DELETE /userstories/1", { as: "bruno" })).status, 204);
  assert.deepEqual(own(), []);
  assert.equal((await call(taiga, "GET /userstories/1", { as: "bruno" })).status, 404);
});

test("a story is closed when all its tasks are, else by its status", async () => {
  const isClosed = async (id: number) =>
    (await call(taiga, `GET /userstories/${id}`, { as: "bruno" })).body["is_closed"];
  await call(taiga, "PATCH /userstories/3", { as: "bruno", body: { status: 5, version: 1 } });
  assert.equal(await isClosed(3), true);
  await call(taiga, "PATCH /userstories/2", { as: "bruno", body: { status: 5, version: 1 } });
  assert.equal(await isClosed(2), false);
  await call(taiga, "PATCH /tasks/3", { as: "bruno", body: { status: 4, version: 1 } });
  assert.equal(await isClosed(2), true);
});

test("many stories of one text: 200, whole stories, one for each line", async () => {
  const { status, rows } = await call(taiga, "POST /userstories/bulk_create", {
    as: "carla",
    body: { project_id: 1, bulk_stories: "One \n\n  Two\nThree", status_id: 2 },
  });
  assert.equal(status, 200);
  assert.deepEqual(
    rows.map((row) => [row["subject"], row["status"]]),
    [
      ["One", 2],
      ["Two", 2],
      ["Three", 2],
    ],
  );
  assert.deepEqual(taiga.state.counts(), { One: 1, Two: 1, Three: 1 });
  const wrong = await call(taiga, "POST /userstories/bulk_create", { as: "carla", body: { project_id: 77 } });
  assert.deepEqual(wrong.body, {
    bulk_stories: ["This field is required."],
    project_id: ["There's no project with that id"],
  });
  const refused = await call(taiga, "POST /userstories/bulk_create", {
    as: "sam",
    body: { project_id: 1, bulk_stories: "No" },
  });
  assert.equal(refused.status, 403);
});

test("many stories are moved to a sprint with 204, their tasks too, and no version changes", async () => {
  const move = (body: object) => call(taiga, "POST /userstories/bulk_update_milestone", { as: "bruno", body });
  const moved = await move({
    project_id: 1,
    milestone_id: 3,
    bulk_stories: [
      { us_id: 1, order: 1 },
      { us_id: 3, order: 2 },
    ],
  });
  assert.deepEqual([moved.status, moved.text], [204, ""]);
  const { world } = taiga.state;
  assert.deepEqual(
    world.stories.slice(0, 3).map((story) => [story.milestone, story.version]),
    [
      [3, 1],
      [2, 1],
      [3, 1],
    ],
  );
  assert.deepEqual(
    world.tasks.map((task) => task.milestone),
    [3, 3, 2],
  );
  const foreign = await move({ project_id: 1, milestone_id: 4, bulk_stories: [{ us_id: 1, order: 1 }] });
  assert.deepEqual(foreign.body, { milestone_id: ["The milestone isn't valid for the project"] });
  const mixed = await move({ project_id: 1, milestone_id: 3, bulk_stories: [{ us_id: 4, order: 1 }] });
  assert.deepEqual(mixed.body, { bulk_stories: ["All the user stories must be from the same project"] });
});
