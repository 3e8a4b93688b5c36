import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const sprint = { project: 1, name: "Sprint 7", estimated_start: "2026-11-16", estimated_finish: "2026-11-27" };

test("sprints of a project, the latest first, with their stories and counts in headers", async () => {
  const { rows, headers } = await call(taiga, "GET /milestones?project=1", { as: "sam" });
  assert.deepEqual(
    rows.map(({ name, slug, closed }) => [name, slug, closed]),
    [
      ["Sprint 6", "sprint-6", false],
      ["Sprint 5", "sprint-5", false],
      ["Sprint 4", "sprint-4", true],
    ],
  );
  const five = rows[1]?.["user_stories"] as readonly Record<string, unknown>[];
  assert.deepEqual(
    five.map((story) => story["ref"]),
    [1, 4],
  );
  assert.ok(five.every((story) => !("tags" in story) && !("description" in story)));
  assert.equal(headers.get("taiga-info-total-opened-milestones"), "2");
  assert.equal(headers.get("taiga-info-total-closed-milestones"), "1");
});

test("open ones alone; there is no filter by name", async () => {
  const open = await call(taiga, "GET /milestones?project=1&closed=false", { as: "sam" });
  assert.equal(open.rows.length, 2);
  const named = await call(taiga, "GET /milestones?project=1&name=Sprint%206", { as: "sam" });
  assert.equal(named.rows.length, 3);
  const slugged = await call(taiga, "GET /milestones?project__slug=acme-site", { as: "bruno" });
  assert.deepEqual(
    slugged.rows.map((row) => row["slug"]),
    ["sprint-6-2", "sprint-6-1"],
  );
});

test("a sprint is created with name and dates; what is wrong is said by field", async () => {
  const made = await call(taiga, "POST /milestones", { as: "bruno", body: sprint });
  assert.equal(made.status, 201);
  assert.deepEqual([made.body["slug"], made.body["closed"], made.body["user_stories"]], ["sprint-7", false, []]);
  assert.ok(!("version" in made.body));
  const empty = await call(taiga, "POST /milestones", { as: "bruno", body: {} });
  assert.deepEqual(Object.keys(empty.body), ["project", "name", "estimated_start", "estimated_finish"]);
  const backwards = await call(taiga, "POST /milestones", {
    as: "bruno",
    body: { ...sprint, name: "Sprint 8", estimated_finish: "2026-11-01" },
  });
  assert.equal(backwards.status, 400);
  const noDate = await call(taiga, "POST /milestones", { as: "bruno", body: { ...sprint, estimated_start: "soon" } });
  assert.match(String(noDate.body["estimated_start"]), /^Date has wrong format/);
});

test("the same name twice in a project is refused, letter for letter only; other projects may have it", async () => {
  const make = (name: string, project: number) =>
    call(taiga, "POST /milestones", { as: "bruno", body: { ...sprint, name, project } });
  const twice = await make("Sprint 6", 1);
  assert.deepEqual([twice.status, twice.body], [400, { name: ["Duplicated name"] }]);
  assert.equal((await make("SPRINT 6", 1)).body["slug"], "sprint-6-3");
  assert.equal((await make("Sprint 4", 2)).body["slug"], "sprint-4-1");
  const renamed = await call(taiga, "PATCH /milestones/2", { as: "bruno", body: { name: "Sprint 6" } });
  assert.deepEqual(renamed.body, { name: ["Duplicated name"] });
});

test("a sprint changes without a version", async () => {
  const changed = await call(taiga, "PATCH /milestones/3", { as: "bruno", body: { estimated_finish: "2026-11-20" } });
  assert.deepEqual([changed.status, changed.body["estimated_finish"]], [200, "2026-11-20"]);
});

test("deleting a sprint sends its stories and tasks to the backlog", async () => {
  assert.equal((await call(taiga, "DELETE /milestones/2", { as: "bruno" })).status, 204);
  const { stories, tasks } = taiga.state.world;
  assert.ok([...stories, ...tasks].every((work) => work.milestone !== 2));
  assert.equal((await call(taiga, "GET /milestones/2", { as: "bruno" })).status, 404);
});

test("points of a sprint are the sum of its stories", async () => {
  await call(taiga, "PATCH /userstories/1", { as: "bruno", body: { points: { "2": 7, "3": 5 }, version: 1 } });
  await call(taiga, "PATCH /userstories/2", { as: "bruno", body: { points: { "2": 3 }, status: 5, version: 1 } });
  const { body } = await call(taiga, "GET /milestones/2", { as: "bruno" });
  assert.deepEqual([body["total_points"], body["closed_points"]], [7.5, null]);
  assert.equal((await call(taiga, "GET /milestones/3", { as: "bruno" })).body["total_points"], null);
});
