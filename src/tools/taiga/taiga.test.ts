import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { deskOf, type DeskOptions } from "../../../test/taiga-desk.ts";
import type { Username } from "../../../test/taiga/sample-data.ts";
import { startTaiga, type Taiga } from "../../../test/taiga/server.ts";
import { newId } from "../../protocol/base/ids.ts";
import { shownName, toolName } from "./tool-names.ts";

let server: Taiga;
const closing: (() => Promise<void>)[] = [];
before(async () => {
  server = await startTaiga();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  server.reset();
});
after(() => server.close());

async function desk(username: Username = "bruno", options: DeskOptions = {}) {
  const made = await deskOf(server, username, options);
  closing.push(made.close);
  return made;
}

const json = ({ content }: { content: string }) => JSON.parse(content) as Record<string, unknown>;

describe("reading", () => {
  test("the project, small", async () => {
    const { call } = await desk();
    const project = json(await call("taiga_get_project"));
    assert.equal(project["slug"], "acme-app");
    assert.deepEqual(project["task_statuses"], ["New", "In progress", "Ready for test", "Closed"]);
    assert.ok(JSON.stringify(project).length < 1500);
  });

  test("sprints by name: letter for letter, in any case, by words; else a question or what there is", async () => {
    const { call } = await desk();
    const find = async (name: string) => call("taiga_get_milestone_by_name", { name });
    const six = json(await find("Sprint 6"));
    assert.deepEqual([six["name"], six["closed"]], ["Sprint 6", false]);
    assert.equal(json(await find("  sprint  6 "))["id"], six["id"]);
    assert.equal(json(await find("6"))["id"], six["id"]);
    assert.equal((await find("Sprint")).ask?.choices?.length, 3);
    const none = await find("Sprint 60");
    assert.match(none.content, /Sprint "Sprint 60" not found.*Sprint 6/);
    assert.equal(none.isError, true);
  });

  test("of two sprints that fit, a person says which", async () => {
    const { call } = await desk("bruno", { project: "acme-site" });
    const { ask } = await call("taiga_get_milestone_by_name", { name: "Sprint 6" });
    assert.equal(ask?.choices?.length, 2);
    const text = ask!.choices![1]!;
    const answered = await call(
      "taiga_get_milestone_by_name",
      { name: "Sprint 6" },
      { answers: [{ decision: "answer", text }] },
    );
    assert.ok(text.endsWith(`id ${String(json(answered)["id"])}`));
    const declined = await call(
      "taiga_get_milestone_by_name",
      { name: "Sprint 6" },
      { answers: [{ decision: "decline" }] },
    );
    assert.equal(declined.isError, true);
  });

  test("stories of a sprint and of the backlog, page by page; one with its description", async () => {
    const { call } = await desk();
    for (let made = 0; made < 120; made++) await call("taiga_create_user_story", { subject: `Story ${made}` });
    const backlog = json(await call("taiga_list_user_stories", { backlog: true }));
    assert.equal((backlog["user_stories"] as unknown[]).length, 100);
    assert.match(String(backlog["more"]), /more/);
    const { milestone } = server.state.story("Sign in with a company account");
    const sprint = json(await call("taiga_list_user_stories", { milestone_id: milestone }));
    assert.equal((sprint["user_stories"] as unknown[]).length, 2);
    const { ref } = server.state.story("Import the list of customers");
    assert.match(String(json(await call("taiga_list_user_stories", { ref }))["description"]), /Copied from/);
  });
});

describe("writing", () => {
  test("a story with its task, marked and shown as artifacts", async () => {
    const { call } = await desk();
    const milestone = server.state.milestone("sprint-6").id;
    const key = newId();
    const made = await call(
      "taiga_create_user_story",
      { subject: "Export orders", milestone_id: milestone, status: "ready", assigned_to: "@carla", tags: ["Export"] },
      { key },
    );
    const story = server.state.story("Export orders");
    assert.deepEqual(server.state.marked(key), [story]);
    assert.deepEqual([story.milestone, story.tags], [milestone, ["export"]]);
    const { artifact } = made.data as { artifact: Record<string, unknown> };
    const url = `${server.url}/project/acme-app/us/${story.ref}`;
    const { id, ref } = story;
    assert.deepEqual(artifact, {
      ...{
        type: "user_story",
        action: "created",
        tool: "taiga.create_user_story",
        id,
        ref,
        subject: "Export orders",
        url,
      },
    });
    await call("taiga_create_task", { subject: "As CSV", user_story_id: id });
    const task = server.state.task("As CSV");
    assert.deepEqual([task.user_story, task.milestone], [id, milestone]);
  });

  test("what the project does not have is told with what it has", async () => {
    const { call } = await desk();
    const make = async (given: object) => (await call("taiga_create_user_story", { subject: "x", ...given })).content;
    assert.match(await make({ status: "Doing" }), /Status "Doing" not found.*New, Ready/);
    assert.match(await make({ assigned_to: "zoe" }), /No member is called "zoe".*bruno/);
    assert.match(await make({ milestone_id: "new:1" }), /only planned/);
    assert.match(await make({ milestone_id: 999 }), /Taiga: the request is not valid \(400\): milestone/);
    assert.match(await make({ color: "red" }), /not valid/);
    assert.equal(server.state.writes.length, 0);
  });

  test("the marker may be a tag, which an update keeps and nobody is shown", async () => {
    const { call, reconcile } = await desk("bruno", { marker: "tag" });
    const key = newId();
    await call("taiga_create_user_story", { subject: "Tagged", tags: ["a"] }, { key });
    const { id } = server.state.story("Tagged");
    const updated = json(await call("taiga_update_user_story", { user_story_id: id, tags: ["b"] }));
    assert.deepEqual(updated["tags"], ["b"]);
    assert.deepEqual(server.state.story(id).tags, ["b", `colloquy:${key}`]);
    assert.equal(typeof (await reconcile("taiga_create_user_story", { subject: "Tagged" }, key)), "object");
  });

  test("nothing of another project is touched", async () => {
    const { call } = await desk("olivia", { project: "acme-site" });
    const { id } = server.state.story("Read orders without a connection");
    assert.match(
      (await call("taiga_update_user_story", { user_story_id: id, subject: "x" })).content,
      /not in this project/,
    );
    assert.match((await call("taiga_delete_user_story", { user_story_id: id })).content, /not in this project/);
    assert.equal(server.state.writes.length, 0);
  });
});

describe("optimistic locking", () => {
  async function changedMeanwhile(fields: object, wanted: object) {
    const { call } = await desk();
    const story = server.state.story("Import the list of customers");
    const pause = server.pause({ method: "PATCH" });
    const result = call("taiga_update_user_story", { user_story_id: story.id, ...wanted });
    await pause.reached;
    server.state.edit(story, fields);
    pause.release();
    return { story, result: await result };
  }

  test("others changed other fields: both changes stand", async () => {
    const { story, result } = await changedMeanwhile({ subject: "Import customers" }, { description: "As a file" });
    assert.equal(result.isError, undefined);
    assert.deepEqual([story.subject, story.description], ["Import customers", "As a file"]);
  });

  test("others changed the same field: nothing is overwritten, and the model is told", async () => {
    const { story, result } = await changedMeanwhile({ subject: "Theirs" }, { subject: "Ours" });
    assert.match(result.content, /Somebody else changed .*subject is now "Theirs"/);
    assert.equal(story.subject, "Theirs");
  });

  test("others made the same change: it is done", async () => {
    const { result } = await changedMeanwhile({ subject: "Same" }, { subject: "Same" });
    assert.equal(result.isError, undefined);
  });
});

describe("a write whose answer was lost", () => {
  const make = "taiga_create_task";
  test("is found by its marker, and not sent again", async () => {
    const { call } = await desk();
    server.fail({ method: "POST", path: "/tasks" }, "drop-after");
    const result = await call(make, { subject: "Once", milestone_id: server.state.milestone("sprint-6").id });
    assert.equal(result.isError, undefined);
    assert.equal(json(result)["subject"], "Once");
    assert.deepEqual(server.state.counts(), { Once: 1 });
  });

  test("and that can't be found, is unknown and not failed", async () => {
    const { call } = await desk();
    server.fail({ method: "POST", path: "/tasks" }, { kind: "error", status: 502 });
    const stop = new AbortController();
    const result = call(make, { subject: "Never" }, { signal: stop.signal });
    await server.until(() => server.state.requests.at(-1)?.method === "GET");
    stop.abort(new Error("enough"));
    await assert.rejects(result, /enough/);
  });

  test("reconcile: made, not made, and not to be told without the right to look", async () => {
    const { call, reconcile } = await desk();
    const [made, never] = [newId(), newId()];
    const given = { subject: "Once", milestone_id: server.state.milestone("sprint-6").id };
    await call(make, given, { key: made });
    const found = await reconcile(make, given, made);
    assert.ok(typeof found === "object" && !found.isError);
    assert.equal(await reconcile(make, given, never), "not-done");
    const { id } = server.state.task("Once");
    assert.equal(await reconcile("taiga_update_task", { task_id: id, subject: "Twice" }, never), "not-done");
    assert.equal(await reconcile("taiga_delete_task", { task_id: id }, never), "not-done");
    await call("taiga_delete_task", { task_id: id });
    assert.equal(typeof (await reconcile("taiga_delete_task", { task_id: id }, never)), "object");

    server.state.setPermissions("acme-app", "back", ["view_project", "add_task"]);
    const blind = await desk();
    assert.equal(await blind.reconcile(make, given, newId()), undefined);
  });
});

describe("signing in", () => {
  test("by token, by application token, by name and password", async () => {
    const tokens = [server.tokensOf("bruno").auth_token, `Application ${server.applicationTokenOf("bruno")}`];
    for (const token of tokens) assert.equal((await desk("bruno", { token: { token } })).names().length, 10);
    const operator = await desk("bruno", { login: { username: "bruno", password: "bruno-password" } });
    const { standing } = await operator.access.enter(undefined, "acme-app", AbortSignal.timeout(5000));
    assert.deepEqual(standing, { place: "acme-app" });
  });

  test("a token that ran out is renewed once, for all that wait; a used-up one says so", async () => {
    const { auth_token: token, refresh } = server.tokensOf("bruno");
    const { call } = await desk("bruno", { token: { token, refresh } });
    server.expireTokens({ username: "bruno" });
    const results = await Promise.all(
      [1, 2, 3].map((each) => call("taiga_create_user_story", { subject: `S${each}` })),
    );
    assert.deepEqual(
      results.map(({ isError }) => isError),
      [undefined, undefined, undefined],
    );
    assert.equal(server.state.requests.filter(({ path }) => path === "/auth/refresh").length, 1);

    server.expireTokens({ username: "bruno", refresh: true });
    assert.match((await call("taiga_list_user_stories")).content, /login is not valid, or not any more \(401\)/);
  });

  test("a login that is refused, a project that is not there or not to be seen", async () => {
    await assert.rejects(desk("bruno", { token: { token: "x" } }), { status: 401 });
    await assert.rejects(desk("oscar"), { status: 404, message: /no project "acme-app", or you may not see it/ });
    await assert.rejects(desk("bruno", { project: "none" }), { status: 404 });
  });
});

describe("throttling", () => {
  test("a short wait is waited for; of a long one the model is told, and nothing was done", async () => {
    const { call } = await desk();
    server.fail({ method: "POST" }, { kind: "throttled", seconds: 1 });
    assert.equal((await call("taiga_create_user_story", { subject: "Patient" })).isError, undefined);
    server.fail({ method: "POST" }, { kind: "throttled", seconds: 90 });
    assert.match(
      (await call("taiga_create_user_story", { subject: "Hasty" })).content,
      /accepts no requests for 90 seconds/,
    );
    assert.deepEqual(server.state.counts(), { Patient: 1 });
  });
});

describe("rights", () => {
  const all = {
    taiga_get_project: ["view_project"],
    taiga_list_milestones: ["view_milestones"],
    taiga_get_milestone_by_name: ["view_milestones"],
    taiga_list_user_stories: ["view_us"],
    taiga_create_user_story: ["add_us"],
    taiga_create_task: ["add_task"],
    taiga_update_user_story: ["modify_us", "view_us"],
    taiga_update_task: ["modify_task", "view_tasks"],
    taiga_delete_user_story: ["delete_us", "view_us"],
    taiga_delete_task: ["delete_task", "view_tasks"],
  };
  const reads = [
    "taiga_get_project",
    "taiga_list_milestones",
    "taiga_get_milestone_by_name",
    "taiga_list_user_stories",
  ];
  const expected: Partial<Record<Username, readonly string[]>> = {
    olivia: Object.keys(all),
    bruno: Object.keys(all),
    root: Object.keys(all),
    carla: Object.keys(all).filter((name) => !name.includes("delete")),
    sam: reads,
    nora: ["taiga_get_project", "taiga_list_user_stories"],
  };
  for (const [username, names] of Object.entries(expected))
    test(`${username} is shown ${names.length} tools, each for its permissions`, async () => {
      const { names: shown, registry } = await desk(username as Username);
      assert.deepEqual(shown(), [...names].sort());
      for (const tool of registry.list()) assert.deepEqual(tool.permissions, all[tool.name as keyof typeof all]);
    });

  test("whoever works on no project has none of them, whatever he may do here", async () => {
    const { registry, caller } = await desk();
    const { elsewhere: _elsewhere, ...admin } = { ...caller, role: "admin" as const, permissions: ["*"] };
    assert.deepEqual(registry.select(["*"], admin), []);
  });

  test("with the operator's login an administrator works in the configured project, and nobody else", async () => {
    const login = { username: "sam", password: "sam-password" };
    const { registry, caller } = await desk("bruno", { login, configuredProject: "acme-app" });
    const { elsewhere: _elsewhere, ...user } = caller;
    const admin = { ...user, role: "admin" as const };
    await registry.prepare(["*"], admin);
    assert.deepEqual(
      registry.select(["*"], admin).map(({ name }) => name),
      reads.toSorted(),
    );
    await registry.prepare(["*"], user);
    assert.deepEqual(registry.select(["*"], user), []);
  });

  test("a right that is taken away: Taiga refuses, and the tool is gone from then on", async () => {
    const { call, names } = await desk();
    server.state.setPermissions("acme-app", "back", ["view_project", "view_us"]);
    assert.ok(names().includes("taiga_create_task"));
    assert.match((await call("taiga_create_task", { subject: "x" })).content, /you may not do this \(403\)/);
    assert.deepEqual(names(), ["taiga_get_project", "taiga_list_user_stories"]);
  });

  test("a Taiga that is down takes no rights away, and gives none", async () => {
    const { registry, caller, names, access } = await desk("bruno", { freshMs: 0 });
    const { signal } = new AbortController();
    server.fail({ path: "/projects/by_slug" }, { kind: "error", status: 503 });
    await registry.renew(["taiga_create_task"], caller, { signal, tell: () => {} });
    assert.equal(names().length, 10);
    const other = { ...caller, elsewhere: { taiga: { place: "acme-app", as: "unknown" } } };
    await registry.renew(["taiga_create_task"], other, { signal, tell: () => {} });
    assert.deepEqual(registry.select(["*"], other), []);
    assert.match(access.problem(other) ?? "", /token of this run is gone/);
  });
});

test("names are mapped both ways", () => {
  assert.equal(shownName("taiga_create_task"), "taiga.create_task");
  assert.equal(toolName("taiga.create_task"), "taiga_create_task");
  assert.equal(shownName("add_task"), "add_task");
});
