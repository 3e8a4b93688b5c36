import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const create = (subject = "Export orders") =>
  call(taiga, "POST /userstories", { as: "bruno", body: { project: 1, subject } });

test("a connection that breaks before and after the effect", async () => {
  taiga.fail("next", "drop-before");
  await assert.rejects(create());
  assert.deepEqual(taiga.state.counts(), {});
  taiga.fail("next", "drop-after");
  await assert.rejects(create());
  assert.deepEqual(taiga.state.counts(), { "Export orders": 1 });
  assert.deepEqual(
    taiga.state.requests.map(({ status, effect }) => [status, effect]),
    [
      [undefined, false],
      [201, true],
    ],
  );
});

test("errors of the server, before and after the effect, and of the proxy", async () => {
  taiga.fail("next", { kind: "error" });
  const first = await create();
  assert.deepEqual([first.status, first.body], [500, { error: "Server application error" }]);
  taiga.fail("next", { kind: "error", after: true });
  assert.equal((await create()).status, 500);
  assert.deepEqual(taiga.state.counts(), { "Export orders": 1 });
  taiga.fail("next", { kind: "error", status: 502 });
  const proxy = await create();
  assert.deepEqual([proxy.status, proxy.headers.get("content-type")], [502, "text/html"]);
});

test("429 so many times, with the seconds to wait", async () => {
  taiga.fail("next", { kind: "throttled", seconds: 2 }, { times: 2 });
  for (const expected of [429, 429, 201]) {
    const { status, headers, body } = await create();
    assert.equal(status, expected);
    if (status !== 429) continue;
    assert.equal(headers.get("x-throttle-wait-seconds"), "2");
    assert.deepEqual(body, {
      _error_message: "Request was throttled.Expected available in 2 seconds.",
      _error_type: "taiga.base.exceptions.Throttled",
    });
  }
});

test("a rate that is kept for each person and kind of request", async () => {
  taiga.throttle({ requests: 2, seconds: 600, scope: "write" });
  assert.deepEqual([(await create()).status, (await create()).status], [201, 201]);
  const refused = await create();
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("x-throttle-wait-seconds"), "600");
  assert.equal((await call(taiga, "GET /milestones", { as: "bruno" })).status, 200);
  const other = await call(taiga, "POST /userstories", { as: "carla", body: { project: 1, subject: "Mine" } });
  assert.equal(other.status, 201);
  taiga.throttle(undefined);
  assert.equal((await create()).status, 201);
});

test("a token that is over at a chosen request, until it is refreshed", async () => {
  const { auth_token, refresh } = taiga.tokensOf("bruno");
  taiga.fail({ path: "/milestones" }, "expired", { skip: 1 });
  const list = (token: unknown) => call(taiga, "GET /milestones", { authorization: `Bearer ${token}` });
  assert.equal((await list(auth_token)).status, 200);
  assert.equal((await list(auth_token)).status, 401);
  assert.equal((await list(auth_token)).status, 401);
  const renewed = await call(taiga, "POST /auth/refresh", { body: { refresh } });
  assert.equal((await list(renewed.body["auth_token"])).status, 200);
});

test("faults are for the requests that match: method, path, person, and how many pass first", async () => {
  taiga.fail({ method: "write", path: /^\/tasks/, username: "bruno" }, { kind: "error" }, { skip: 1 });
  const task = (as: "bruno" | "carla") => call(taiga, "POST /tasks", { as, body: { project: 1, subject: "A task" } });
  assert.equal((await create()).status, 201);
  assert.equal((await task("carla")).status, 201);
  assert.deepEqual([(await task("bruno")).status, (await task("bruno")).status], [201, 500]);
  assert.equal((await task("bruno")).status, 201);
});

test("a delay comes before the effect", async () => {
  taiga.fail("next", { kind: "delay", ms: 50 });
  const creating = create();
  await taiga.until(() => taiga.state.requests.length === 1);
  assert.deepEqual(taiga.state.counts(), {});
  assert.equal((await creating).status, 201);
});

test("a request stands before its effect until it is let go", async () => {
  const pause = taiga.pause({ method: "write" });
  const creating = create();
  const standing = await pause.reached;
  assert.deepEqual([standing.method, standing.path, standing.username], ["POST", "/userstories", "bruno"]);
  assert.deepEqual(taiga.state.counts(), {});
  pause.release();
  assert.equal((await creating).status, 201);
});

test("a request stands after its effect; its client may be gone meanwhile", async () => {
  const pause = taiga.pause({ method: "write" }, { when: "after", skip: 1 });
  await create("First");
  const controller = new AbortController();
  const leaving = fetch(`${taiga.api}/userstories`, {
    method: "POST",
    headers: { authorization: `Bearer ${taiga.tokensOf("bruno").auth_token}`, "content-type": "application/json" },
    body: JSON.stringify({ project: 1, subject: "Second" }),
    signal: controller.signal,
  });
  await pause.reached;
  controller.abort();
  await assert.rejects(leaving);
  pause.release();
  assert.deepEqual(taiga.state.counts(), { First: 1, Second: 1 });
});

test("a paused request whose client is gone is done when it goes on, and not when it is dropped", async () => {
  for (const [end, count] of [
    ["release", 1],
    ["drop", 0],
  ] as const) {
    taiga.reset();
    const pause = taiga.pause("next");
    const creating = create();
    await pause.reached;
    pause[end]();
    await creating.catch(() => undefined);
    assert.equal(taiga.state.created.stories.length, count);
  }
});

test("a process is killed while its request stands", async () => {
  const pause = taiga.pause({ method: "write" }, { when: "after" });
  const headers = { authorization: `Bearer ${taiga.tokensOf("bruno").auth_token}`, "content-type": "application/json" };
  const body = JSON.stringify({ project: 1, subject: "Export orders" });
  const send = `await fetch("${taiga.api}/userstories", ${JSON.stringify({ method: "POST", headers, body })})`;
  const client = spawn(process.execPath, ["--input-type=module", "--eval", send], { stdio: "ignore" });
  await pause.reached;
  client.kill("SIGKILL");
  await once(client, "exit");
  pause.drop();
  assert.deepEqual(taiga.state.counts(), { "Export orders": 1 });
});

test("errors of requests themselves: methods, media types, what is no JSON", async () => {
  const put = await call(taiga, "PUT /userstories", { as: "bruno", body: {} });
  assert.deepEqual(put.body, {
    _error_message: "Method 'PUT' not allowed.",
    _error_type: "taiga.base.exceptions.MethodNotAllowed",
  });
  assert.equal(put.status, 405);
  assert.equal((await call(taiga, "DELETE /userstories/by_ref", { as: "bruno" })).status, 405);
  const headers = { "content-type": "text/plain" };
  const plain = await call(taiga, "POST /userstories", { as: "bruno", body: "{}", headers });
  assert.deepEqual([plain.status, plain.body["_error_type"]], [415, "taiga.base.exceptions.UnsupportedMediaType"]);
  const broken = await call(taiga, "POST /userstories", { as: "bruno", body: "{" });
  assert.deepEqual([broken.status, broken.body["_error_type"]], [400, "taiga.base.exceptions.ParseError"]);
  assert.equal((await call(taiga, "GET /epics-of-old", { as: "bruno" })).status, 404);
});

test("a reset brings the sample back; ids begin again, tokens stay good", async () => {
  const { auth_token } = taiga.tokensOf("bruno");
  const first = await create();
  taiga.fail("next", "drop-before");
  taiga.reset();
  assert.deepEqual([taiga.state.requests.length, taiga.state.counts()], [0, {}]);
  assert.equal((await create()).body["id"], first.body["id"]);
  assert.equal((await call(taiga, "GET /users/me", { authorization: `Bearer ${auth_token}` })).status, 200);
});
