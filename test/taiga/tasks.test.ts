import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const create = (body: object) =>
  call(taiga, "POST /tasks", { as: "bruno", body: { project: 1, subject: "Write the query", ...body } });

test("a task of a story stands in the story's sprint, whatever sprint was given", async () => {
  for (const given of [{}, { milestone: 2 }, { milestone: 3 }]) {
    const { status, body } = await create({ user_story: 1, ...given });
    assert.deepEqual([status, body["version"], body["milestone"], body["milestone_slug"]], [201, 1, 2, "sprint-5"]);
    assert.deepEqual(body["user_story_extra_info"], {
      id: 1,
      ref: 1,
      subject: "Sign in with a company account",
      epics: null,
    });
  }
});

test("a task without a story may stand in a sprint of its own", async () => {
  const { body } = await create({ milestone: 3, tags: ["db"], external_reference: ["colloquy", "k"] });
  assert.deepEqual([body["milestone"], body["user_story"], body["user_story_extra_info"]], [3, null, null]);
  assert.deepEqual([body["tags"], body["external_reference"]], [[["db", null]], ["colloquy", "k"]]);
});

test("what is of another project is a 400, where stories answer 403", async () => {
  for (const foreign of [{ milestone: 4 }, { status: 5 }, { user_story: 4 }]) {
    const { status, body } = await create(foreign);
    assert.deepEqual([status, body["_error_type"]], [400, "taiga.base.exceptions.WrongArguments"]);
    assert.match(String(body["_error_message"]), /^You don't have permissions to set this/);
  }
  assert.equal(taiga.state.created.tasks.length, 0);
});

test("tasks of a story, of a sprint, by reference", async () => {
  const refs = async (query: string) =>
    (await call(taiga, `GET /tasks?${query}`, { as: "sam" })).rows.map((row) => row["ref"]);
  assert.deepEqual(await refs("project=1"), [2, 3, 5]);
  assert.deepEqual(await refs("user_story=1"), [2, 3]);
  assert.deepEqual(await refs("milestone=2&user_story=2"), [5]);
  assert.deepEqual(await refs("user_story=null"), []);
  const one = await call(taiga, "GET /tasks/by_ref?ref=5&project=1", { as: "sam" });
  assert.equal(one.body["subject"], "Keep orders in the local database");
});

test("many tasks of one text need a sprint, and a story of that sprint", async () => {
  const bulk = (body: object) =>
    call(taiga, "POST /tasks/bulk_create", { as: "bruno", body: { project_id: 1, ...body } });
  const made = await bulk({ milestone_id: 2, us_id: 1, bulk_tasks: "One\nTwo" });
  assert.equal(made.status, 200);
  assert.deepEqual(
    made.rows.map((row) => [row["subject"], row["user_story"], row["milestone"]]),
    [
      ["One", 1, 2],
      ["Two", 1, 2],
    ],
  );
  assert.deepEqual((await bulk({ bulk_tasks: "One" })).body, { milestone_id: ["This field is required."] });
  assert.deepEqual((await bulk({ milestone_id: 4, bulk_tasks: "One" })).body, {
    milestone_id: ["Invalid milestone id."],
  });
  assert.deepEqual((await bulk({ milestone_id: 3, us_id: 1, bulk_tasks: "One" })).body, {
    us_id: ["Invalid user story id."],
  });
});

test("a task is changed and deleted", async () => {
  const changed = await call(taiga, "PATCH /tasks/1", { as: "carla", body: { status: 2, assigned_to: 3, version: 1 } });
  assert.deepEqual([changed.status, changed.body["version"], changed.body["status"]], [200, 2, 2]);
  assert.equal((changed.body["assigned_to_extra_info"] as { username: string }).username, "carla");
  assert.equal((await call(taiga, "DELETE /tasks/1", { as: "carla" })).status, 403);
  assert.equal((await call(taiga, "DELETE /tasks/1", { as: "bruno" })).status, 204);
  const { body } = await create({});
  assert.equal(body["id"], 4);
});
