import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call, type Shown } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const names = (rows: unknown, name = "name") => (rows as readonly Shown[]).map((row) => row[name]);

test("a project has its members, roles, statuses, points and sprints in it", async () => {
  const { status, body } = await call(taiga, "GET /projects/by_slug?slug=acme-app", { as: "sam" });
  assert.equal(status, 200);
  assert.deepEqual(names(body["members"], "username"), ["olivia", "bruno", "carla", "sam", "nora"]);
  assert.deepEqual(names(body["members"], "role_name"), [
    "Product Owner",
    "Back",
    "Contractor",
    "Stakeholder",
    "Support",
  ]);
  assert.deepEqual(names(body["roles"], "slug"), ["product-owner", "back", "contractor", "stakeholder", "support"]);
  assert.deepEqual(names(body["us_statuses"]), ["New", "Ready", "In progress", "Ready for test", "Done"]);
  assert.deepEqual(names(body["task_statuses"]), ["New", "In progress", "Ready for test", "Closed"]);
  assert.deepEqual(names(body["points"]), ["?", "0", "1/2", "1", "2", "3", "5", "8", "13"]);
  assert.deepEqual(body["milestones"], [
    { id: 1, name: "Sprint 4", slug: "sprint-4", closed: true },
    { id: 2, name: "Sprint 5", slug: "sprint-5", closed: false },
    { id: 3, name: "Sprint 6", slug: "sprint-6", closed: false },
  ]);
  assert.deepEqual([body["default_us_status"], body["default_task_status"], body["default_points"]], [1, 1, 1]);
  assert.deepEqual([body["anon_permissions"], body["public_permissions"], body["is_private"]], [[], [], true]);
});

test("roles, statuses and points are lists of their own", async () => {
  const rowsOf = async (path: string) => (await call(taiga, `GET ${path}?project=1`, { as: "bruno" })).rows;
  const [role] = await rowsOf("/roles");
  assert.deepEqual([role?.["slug"], role?.["members_count"], role?.["project"]], ["product-owner", 1, 1]);
  assert.ok((role?.["permissions"] as string[]).includes("delete_us"));
  assert.deepEqual(names(await rowsOf("/userstory-statuses"), "is_closed"), [false, false, false, false, true]);
  assert.deepEqual(names(await rowsOf("/task-statuses"), "slug").at(-1), "closed");
  assert.deepEqual(names(await rowsOf("/points"), "value"), [null, 0, 0.5, 1, 2, 3, 5, 8, 13]);
});

test("users of a project", async () => {
  const inProject = await call(taiga, "GET /users?project=2", { as: "bruno" });
  assert.deepEqual(names(inProject.rows, "username"), ["olivia", "bruno"]);
  assert.equal((await call(taiga, "GET /users/2", { as: "bruno" })).body["full_name"], "Bruno Back");
  assert.equal((await call(taiga, "GET /users/me")).status, 401);
});

test("the resolver gives ids for slugs and references", async () => {
  const resolve = (query: string, as: "bruno" | "nora" | "oscar" = "bruno") =>
    call(taiga, `GET /resolver?${query}`, { as });
  const all = await resolve("project=acme-app&us=1&task=2&milestone=sprint-6");
  assert.deepEqual(all.body, { project: 1, us: 1, task: 1, milestone: 3 });
  assert.deepEqual((await resolve("project=acme-app&ref=2")).body, { project: 1, task: 1 });
  const partly = await resolve("project=acme-app&us=1&task=2&milestone=sprint-6", "nora");
  assert.deepEqual(partly.body, { project: 1, us: 1 });
  assert.equal((await resolve("project=acme-app&us=77")).status, 404);
  assert.equal((await resolve("project=acme-app", "oscar")).status, 403);
  assert.equal((await resolve("project=unknown")).status, 404);
  assert.deepEqual((await resolve("us=1")).body, { project: ["This field is required."] });
});

test("tags of a project with their colours; the first colour of a tag stays", async () => {
  const tag = (...tags: unknown[]) =>
    call(taiga, "POST /userstories", { as: "bruno", body: { project: 1, subject: "Tagged", tags } });
  const first = await tag("New", ["Urgent", "#ff0000"], "new");
  assert.deepEqual(first.body["tags"], [
    ["new", null],
    ["urgent", "#ff0000"],
  ]);
  await tag(["urgent", "#00ff00"], ["new", "#00ff00"]);
  const { body } = await call(taiga, "GET /projects/1/tags_colors", { as: "sam" });
  assert.deepEqual(body, { accounts: null, mobile: null, import: null, new: null, urgent: "#ff0000" });
});
