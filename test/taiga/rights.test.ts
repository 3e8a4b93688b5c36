import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { adminPermissions, memberPermissions, viewPermissions } from "./permissions.ts";
import type { Username } from "./sample-data.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

type Who = Username | undefined;

async function permissionsOf(as: Who, slug: string): Promise<readonly string[]> {
  const { body } = await call(taiga, `GET /projects/by_slug?slug=${slug}`, { as });
  return [...(body["my_permissions"] as readonly string[])].sort();
}

test("my_permissions: admins and superusers have all, members their role's", async () => {
  const all = [...memberPermissions, ...adminPermissions].sort();
  assert.deepEqual(await permissionsOf("olivia", "acme-app"), all);
  assert.deepEqual(await permissionsOf("root", "acme-app"), all);
  assert.deepEqual(await permissionsOf("sam", "acme-app"), [...viewPermissions].sort());
  assert.deepEqual(await permissionsOf("nora", "acme-app"), ["comment_us", "view_project", "view_us"]);
  const carla = await permissionsOf("carla", "acme-app");
  assert.ok(carla.includes("add_task") && !carla.some((name) => name.startsWith("delete_")));
  assert.ok((await permissionsOf("bruno", "acme-app")).includes("delete_task"));
});

test("my_permissions of a public project: what it gives to members of the site, and to nobody", async () => {
  assert.deepEqual(await permissionsOf("oscar", "open-docs"), [...viewPermissions].sort());
  assert.deepEqual(await permissionsOf(undefined, "open-docs"), [...viewPermissions].sort());
});

test("a role that changes changes my_permissions and what is allowed", async () => {
  taiga.state.setPermissions("acme-app", "back", ["view_project", "view_us"]);
  assert.deepEqual(await permissionsOf("bruno", "acme-app"), ["view_project", "view_us"]);
  const refused = await call(taiga, "POST /userstories", { as: "bruno", body: { project: 1, subject: "No more" } });
  assert.equal(refused.status, 403);
});

test("the project says who the caller is in it", async () => {
  const flags = async (as: Username) => {
    const { body } = await call(taiga, "GET /projects/1", { as });
    return [body["i_am_owner"], body["i_am_admin"], body["i_am_member"]];
  };
  assert.deepEqual(await flags("olivia"), [true, true, true]);
  assert.deepEqual(await flags("bruno"), [false, false, true]);
  assert.deepEqual(await flags("root"), [false, true, false]);
});

test("a hidden project: 404 by its slug, 403 by its number, 401 for nobody", async () => {
  const bySlug = await call(taiga, "GET /projects/by_slug?slug=acme-app", { as: "oscar" });
  assert.deepEqual([bySlug.status, bySlug.body], [404, { _error_message: "" }]);
  const byNumber = await call(taiga, "GET /projects/1", { as: "oscar" });
  assert.equal(byNumber.status, 403);
  assert.equal(byNumber.body["_error_type"], "taiga.base.exceptions.PermissionDenied");
  assert.equal((await call(taiga, "GET /projects/by_slug?slug=acme-app")).status, 401);
  assert.equal((await call(taiga, "GET /projects/1")).status, 401);
  assert.equal((await call(taiga, "GET /projects/99", { as: "oscar" })).status, 404);
});

test("lists leave out what the caller may not see, with 200", async () => {
  const counts = async (as: Who, project = 1) => {
    const paths = ["milestones", "userstories", "tasks", "roles", "userstory-statuses", "task-statuses", "points"];
    const answers = await Promise.all(paths.map((path) => call(taiga, `GET /${path}?project=${project}`, { as })));
    assert.ok(answers.every(({ status }) => status === 200));
    return answers.map(({ rows }) => rows.length);
  };
  assert.deepEqual(await counts("sam"), [3, 3, 3, 5, 5, 4, 9]);
  assert.deepEqual(await counts("nora"), [0, 3, 0, 5, 5, 4, 9]);
  assert.deepEqual(await counts("oscar"), [0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(await counts(undefined), [0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual((await counts(undefined, 3)).slice(0, 3), [0, 1, 0]);
});

test("milestones show their stories also to who may not see stories", async () => {
  taiga.state.setPermissions("acme-app", "stakeholder", ["view_project", "view_milestones"]);
  assert.equal((await call(taiga, "GET /userstories?project=1", { as: "sam" })).rows.length, 0);
  const { body } = await call(taiga, "GET /milestones/2", { as: "sam" });
  assert.equal((body["user_stories"] as unknown[]).length, 2);
});

test("projects: the list has what the caller may see", async () => {
  const slugs = async (as: Who) => (await call(taiga, "GET /projects", { as })).rows.map((project) => project["slug"]);
  assert.deepEqual(await slugs("olivia"), ["acme-app", "acme-site", "old-shop", "open-docs"]);
  assert.deepEqual(await slugs("oscar"), ["open-docs"]);
  assert.deepEqual(await slugs(undefined), ["open-docs"]);
  const mine = await call(taiga, "GET /projects?member=3", { as: "carla" });
  assert.deepEqual(
    mine.rows.map((project) => project["slug"]),
    ["acme-app"],
  );
});

test("writes by role: each is done or refused as the permissions say", async () => {
  const attempts = {
    add_us: { what: "POST /userstories", body: { project: 1, subject: "A story" }, done: 201 },
    add_task: { what: "POST /tasks", body: { project: 1, subject: "A task" }, done: 201 },
    modify_us: { what: "PATCH /userstories/1", body: { subject: "Renamed", version: 1 }, done: 200 },
    modify_task: { what: "PATCH /tasks/1", body: { subject: "Renamed", version: 1 }, done: 200 },
    modify_milestone: { what: "PATCH /milestones/2", body: { name: "Sprint five" }, done: 200 },
    delete_us: { what: "DELETE /userstories/3", body: undefined, done: 204 },
    delete_task: { what: "DELETE /tasks/2", body: undefined, done: 204 },
    delete_milestone: { what: "DELETE /milestones/1", body: undefined, done: 204 },
  };
  for (const as of ["olivia", "bruno", "carla", "sam", "nora", "oscar", "root", undefined] as const) {
    taiga.reset();
    const mine = as === "oscar" || as === undefined ? [] : await permissionsOf(as, "acme-app");
    for (const [permission, { what, body, done }] of Object.entries(attempts)) {
      const { status } = await call(taiga, what, { as, body });
      const refused = as === undefined ? 401 : 403;
      assert.equal(status, mine.includes(permission) ? done : refused, `${as} ${what}`);
    }
    assert.equal(taiga.state.writes.length, mine.filter((name) => name in attempts).length);
  }
});

test("a change of nothing but a comment needs comment_us; with anything else modify_us", async () => {
  const only = await call(taiga, "PATCH /userstories/1", { as: "nora", body: { comment: "Seen.", version: 1 } });
  assert.deepEqual([only.status, only.body["version"], only.body["total_comments"]], [200, 2, 1]);
  const more = await call(taiga, "PATCH /userstories/1", {
    as: "nora",
    body: { comment: "Seen.", subject: "Changed", version: 2 },
  });
  assert.equal(more.status, 403);
});

test("a story may also be created with add_us_to_project", async () => {
  taiga.state.setPermissions("acme-app", "support", ["view_project", "view_us", "add_us_to_project"]);
  const made = await call(taiga, "POST /userstories", { as: "nora", body: { project: 1, subject: "From outside" } });
  assert.equal(made.status, 201);
});

test("reading tells 403 from 404; changing what is not there or not seen is refused, but to a superuser", async () => {
  assert.equal((await call(taiga, "GET /userstories/1", { as: "oscar" })).status, 403);
  assert.equal((await call(taiga, "GET /userstories/1")).status, 401);
  const unknown = await call(taiga, "GET /userstories/99", { as: "oscar" });
  assert.deepEqual([unknown.status, unknown.body], [404, { _error_message: "No UserStory matches the given query." }]);
  const statusOf = async (as: Who) =>
    (await call(taiga, "PATCH /userstories/99", { as, body: { subject: "?", version: 1 } })).status;
  assert.equal(await statusOf("olivia"), 403);
  assert.equal(await statusOf(undefined), 401);
  assert.equal(await statusOf("root"), 404);
  assert.equal((await call(taiga, "DELETE /tasks/99", { as: "olivia" })).status, 403);
});

test("nothing can be saved in a blocked project", async () => {
  const story = { project: 4, subject: "Too late" };
  for (const [what, body] of [
    ["POST /userstories", story],
    ["PATCH /userstories/5", { subject: "Too late", version: 1 }],
    ["DELETE /userstories/5", undefined],
    ["POST /userstories/bulk_create", { project_id: 4, bulk_stories: "Too late" }],
  ] as const) {
    const { status, body: error } = await call(taiga, what, { as: "bruno", body });
    assert.equal(status, 451, what);
    assert.deepEqual(error, { _error_message: "Blocked element", _error_type: "taiga.base.exceptions.Blocked" });
  }
  assert.equal((await call(taiga, "GET /userstories/5", { as: "bruno" })).status, 200);
});
