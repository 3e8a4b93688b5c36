import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isOtherUsersPort } from "../src/egress/port-owner.ts";
import { probeBackends } from "../src/models/discovery/probe.ts";
import { allRoutes } from "../src/http/all-routes.ts";
import { askerScopes, scopesFor } from "../src/protocol/base/scopes.ts";
import { skipCurl, skipStranger, stranger } from "./left-out.ts";
import { temporaryFolder } from "./pglite.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

let server: ServerProcess;
let folder: string;

before(async () => {
  folder = temporaryFolder("owned");
  server = await startServerProcess({ cwd: folder, env: { COLLOQUY_DATA: join(folder, "data") } });
});
after(() => server.end("SIGTERM"));

type Ask = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};
type Answer = { readonly status: number; readonly text: string };

/** What curl is answered, as this user or as another one of this machine; one after the other in one process. */
function curl(asks: readonly Ask[], as?: { uid: number; gid: number }): Answer[] {
  const mark = "\n<<end>>";
  const config = asks.map(({ method = "GET", path, headers = {}, body }) =>
    [
      `url = "${new URL(path, server.url).href}"`,
      `request = ${method}`,
      "silent",
      "max-time = 20",
      `write-out = "%{http_code}\\n<<end>>"`,
      ...Object.entries(headers).map(([name, value]) => `header = "${name}: ${value}"`),
      ...(body === undefined
        ? []
        : [`header = "content-type: application/json"`, `data = ${JSON.stringify(JSON.stringify(body))}`]),
    ].join("\n"),
  );
  const { stdout, error } = spawnSync("curl", ["-K", "-"], {
    input: config.join("\nnext\n"),
    encoding: "utf8",
    cwd: "/",
    maxBuffer: 64 * 1024 * 1024,
    ...as,
  });
  if (error) throw error;
  return stdout
    .split(mark)
    .slice(0, -1)
    .map((text) => ({ status: Number(text.slice(-3)), text: text.slice(0, -3) }));
}
const one = (ask: Ask, as?: { uid: number; gid: number }) => curl([ask], as)[0]!;
const codeOf = ({ text }: Answer) => (JSON.parse(text) as { error: { code: string } }).error.code;

const token = () => readFileSync(join(folder, "data", "token"), "utf8");
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const runsId = {
  method: "POST",
  path: "/api/admin/mcp-servers/try",
  body: { id: "mine", definition: { command: "id" }, confirm: "id" },
};
const question = { method: "POST", path: "/chat", body: { messages: [{ role: "user", content: "hi" }] } };
const nobody = "018f0000-0000-7000-8000-00000000dead";

/** Every route that asking does not cover, with some id: nothing may come of it. */
const owningRoutes = allRoutes
  .filter(
    ([, , { needs, open }]) =>
      !open &&
      needs !== "nothing" &&
      !scopesFor(needs).some((one) => askerScopes.includes(one)) &&
      !needs.includes("own"),
  )
  .map(([method, path]): Ask => ({
    method: String(method),
    path: path.replaceAll(/:\w+/g, nobody).replace(/\*$/, "file"),
  }));

test("whoever runs as the server's user owns it, with no key and with any", { skip: skipCurl }, () => {
  for (const headers of [{}, bearer("dummy"), { authorization: "Basic b2xsYW1h" }, bearer(token())]) {
    assert.equal(one({ path: "/api/threads", headers }).status, 200, JSON.stringify(headers));
    assert.equal(one({ path: "/api/admin/settings", headers }).status, 200);
  }
});

test("another user of the machine asks, and owns nothing", { skip: skipStranger }, () => {
  assert.match(one(question, stranger).text, /answer/);
  assert.equal(one({ path: "/v1/models", headers: bearer("ollama") }, stranger).status, 200);
  const tried = one(runsId, stranger);
  assert.deepEqual([tried.status, codeOf(tried)], [403, "owner_needed"]);
  assert.match(tried.text, /colloquy open/);
  assert.ok(owningRoutes.length > 120, String(owningRoutes.length));
  for (const [at, { status }] of curl(owningRoutes, stranger).entries())
    assert.equal(status, 403, `${owningRoutes[at]!.method} ${owningRoutes[at]!.path}`);
});

test("what the owner has is not reached by asking, whatever is guessed or known", { skip: skipStranger }, () => {
  const post = (path: string, body: unknown, headers = {}): Ask => ({ method: "POST", path, body, headers });
  const asked = (words: string) => ({ messages: [{ role: "user", content: words }] });
  const session = { "x-session-id": "shopping" };
  const task = post("/v1/chat/completions", { model: "assistant", ...asked("add a task to buy milk") }, session);
  const said = one(task).text;
  assert.match(said, /Buy milk/);
  const threadId = (JSON.parse(one({ path: "/api/threads" }).text) as { data: { id: string }[] }).data[0]!.id;
  const runId = (JSON.parse(one({ path: "/api/runs" }).text) as { data: { id: string }[] }).data[0]!.id;

  const itemsOfOwner = { path: `/api/threads/${threadId}/items` };
  const before = one(itemsOfOwner).text;

  assert.doesNotMatch(one(post("/api/tools/list_tasks", {}), stranger).text, /milk/i);
  assert.doesNotMatch(one({ ...task, ...asksFor("list my tasks") }, stranger).text, /milk/i);
  one({ ...task, ...asksFor("delete task 1") }, stranger);
  one(post("/api/tools/delete_task", { task_id: 1 }), stranger);
  assert.doesNotMatch(one({ path: "/api/tasks" }, stranger).text, /milk/i);
  assert.match(one({ path: "/api/tasks" }).text, /Buy milk/);

  const history = one({ path: "/api/chat/history?session_id=shopping" }, stranger);
  assert.doesNotMatch(history.text, /milk/i);
  for (const path of [`/api/threads/${threadId}`, `/api/threads/${threadId}/items`, `/api/threads/${threadId}/files`])
    assert.equal(one({ path }, stranger).status, 404, path);
  for (const path of [`/api/runs/${runId}`, `/api/runs/${runId}/events`, `/api/runs/${runId}/details`])
    assert.equal(one({ path }, stranger).status, 404, path);
  assert.equal(one({ path: `/api/threads/${threadId}/export` }, stranger).status, 403);
  const adds = post(`/api/threads/${threadId}/runs`, { agent: "assistant", message: { content: "hi" } });
  assert.equal(one(adds, stranger).status, 404);
  assert.equal(one(post(`/api/runs/${runId}/cancel`, {}), stranger).status, 404);
  assert.equal(one(itemsOfOwner).text, before, "nothing was added to the owner's conversation");

  function asksFor(words: string): Pick<Ask, "body"> {
    return { body: { model: "assistant", ...asked(words) } };
  }
});

test(
  "a file is shown by its link where a browser can send no key, and to nobody without it",
  { skip: skipStranger },
  () => {
    const { id } = JSON.parse(one({ method: "POST", path: "/api/threads", body: {} }).text) as { id: string };
    const path = `/api/threads/${id}/files/note.txt`;
    const { url } = JSON.parse(one({ method: "PUT", path, body: "hi" }).text) as { url: string };
    assert.equal(one({ path: url }, stranger).status, 200);
    assert.equal(one({ path }, stranger).status, 404);
  },
);

test("a page that may only ask works with the todo agent, on a list of its own", { skip: skipCurl }, () => {
  const headers = { origin: "http://localhost:3000", "sec-fetch-site": "same-site" };
  const body = { conversation_id: 7, message: "add a task to water the plants" };
  const told = one({ method: "POST", path: "/chatkit", headers, body }).text;
  assert.match(told, /message_complete/);
  assert.match(
    one({ path: "/api/tasks", headers }).text + one({ path: "/api/tasks" }, stranger).text,
    /Water the plants/,
  );
  assert.doesNotMatch(one({ path: "/api/tasks" }).text, /plants/i);
});

test("a model server of another person is not taken for one's own", { skip: skipStranger }, async () => {
  const code = `require("http").createServer((_, response) => response.end('{"models":[{"name":"theirs"}]}')).listen(11434, "127.0.0.1", () => console.log("up"))`;
  const theirs = spawn("/usr/bin/env", ["node", "-e", code], {
    stdio: ["ignore", "pipe", "ignore"],
    cwd: "/",
    ...stranger,
  });
  try {
    await once(theirs.stdout, "data");
    const probed = await probeBackends({ ownPort: 0, isAnothers: isOtherUsersPort });
    const { outcome, detail } = probed.find(({ kind }) => kind === "ollama")!;
    assert.equal(outcome, "not-it");
    assert.match(detail, /another user of this machine/);
  } finally {
    theirs.kill();
  }
});

test(
  "what guests may is looked up again: the owner takes it from all of them, and gives it back",
  { skip: skipStranger },
  () => {
    const model = { model: "demo", messages: [{ role: "user", content: "hi" }] };
    const asked = { method: "POST", path: "/v1/chat/completions", body: model };
    const guest = (
      JSON.parse(one({ path: "/api/admin/users" }).text) as { data: { id: string; name: string }[] }
    ).data.find(({ name }) => name === "guest")!;
    const disable = (disabled: boolean) =>
      one({ method: "PATCH", path: `/api/admin/users/${guest.id}`, body: { disabled } }).status;
    assert.equal(one(asked, stranger).status, 200);
    assert.equal(disable(true), 200);
    const refused = one(asked, stranger);
    assert.deepEqual([refused.status, codeOf(refused)], [403, "account_disabled"]);
    assert.equal(one({ path: "/api/threads" }).status, 200, "the owner is no guest");
    assert.equal(disable(false), 200);
    assert.equal(one(asked, stranger).status, 200);
  },
);

test("whoever asks goes on with, reads and stops what was asked for here", { skip: skipStranger }, () => {
  const ask = (path: string, body?: unknown) =>
    one({ path, ...(body === undefined ? {} : { method: "POST", body }) }, stranger);
  const { id } = JSON.parse(ask("/api/threads", { title: "Mine" }).text) as { id: string };
  const began = ask(`/api/threads/${id}/runs`, { agent: "assistant", message: { content: "add a task to rest" } });
  const run = (JSON.parse(began.text) as { id: string }).id;
  assert.equal(began.status, 202);
  assert.match(ask(`/api/runs/${run}/events`).text, /run-end/);
  assert.match(ask(`/api/threads/${id}/items`).text, /Rest/);
  assert.equal(ask(`/api/runs/${run}/cancel`, {}).status, 200);
  assert.equal(ask(`/api/threads/${id}/export`).status, 403);
  assert.equal(codeOf(ask(`/api/threads/${id}/messages`, { message: { content: "hi" } })), "owner_needed");
  assert.doesNotMatch(one({ path: "/api/threads" }).text, /Mine/);
});

test("another user shows a key of the owner's, or is refused with one that is none", { skip: skipStranger }, () => {
  const made = one({ method: "POST", path: "/api/auth/keys", body: { label: "for another user", scopes: ["*"] } });
  const { text } = JSON.parse(made.text) as { text: string };
  for (const key of [text, token()])
    assert.equal(one({ path: "/api/threads", headers: bearer(key) }, stranger).status, 200);
  for (const key of [`${text}x`, "ck_none", "cb_none", "ct_none"])
    for (const as of [undefined, stranger])
      assert.equal(one({ ...question, headers: bearer(key) }, as).status, 401, key);
});

test("a proxy that runs as the owner speaks for others", { skip: skipCurl }, () => {
  for (const headers of [
    { "x-forwarded-for": "203.0.113.7" },
    { forwarded: "for=203.0.113.7" },
    { via: "1.1 gate" },
    { "x-real-ip": "203.0.113.7" },
  ] as Record<string, string>[])
    assert.equal(one({ ...runsId, headers }).status, 403, JSON.stringify(headers));
});

test("a page of another origin asks where one asks, and owns nothing, whatever it shows", { skip: skipCurl }, () => {
  const from = (origin: string, more = {}) => ({ origin, "sec-fetch-site": "same-site", ...more });
  const page = "http://localhost:3000";
  const asked = one({ ...question, headers: from(page) });
  assert.equal(asked.status, 200);
  for (const headers of [from(page), from(page, bearer(token())), from("http://localhost:3001"), from("null")]) {
    assert.equal(one({ ...runsId, headers }).status, 403);
    const ask = owningRoutes.map((route) => ({ ...route, headers }));
    for (const [at, { status }] of curl(ask).entries())
      assert.equal(status, 403, `${headers.origin} ${ask[at]!.method} ${ask[at]!.path}`);
  }
  assert.equal(one({ ...question, headers: from("http://localhost:3001") }).status, 403);
  const elsewhere = one({ path: "/api/agents", headers: from(page) });
  assert.deepEqual([elsewhere.status, codeOf(elsewhere)], [403, "origin_refused"]);
  const operation = { method: "POST", path: "/chatkit", body: { type: "threads.list", params: {} } };
  for (const headers of [from(page), from(page, bearer(token())), { origin: page }])
    assert.equal(codeOf(one({ ...operation, headers })), "owner_needed", JSON.stringify(headers));
});

test("what a browser sends without an Origin for another page is no owner's", { skip: skipCurl }, () => {
  const cases: readonly (readonly [Record<string, string>, number])[] = [
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "same-origin" }, 200],
    [{ "sec-fetch-site": "none" }, 200],
  ];
  for (const [headers, status] of cases)
    assert.equal(one({ path: "/api/threads", headers }).status, status, JSON.stringify(headers));
  const old = { "user-agent": "Mozilla/5.0 (old)" };
  const write = { method: "POST", path: "/api/auth/keys", body: { label: "of an old browser", scopes: ["*"] } };
  assert.equal(one({ ...write, headers: old }).status, 403);
  assert.equal(one({ ...write, headers: { ...old, "x-colloquy-page": "1" } }).status, 201);
});

test("a program is run only once its exact command line is confirmed", { skip: skipCurl }, () => {
  const { confirm: _confirm, ...unconfirmed } = runsId.body;
  const refused = one({ ...runsId, body: unconfirmed });
  assert.deepEqual([refused.status, codeOf(refused)], [400, "command_unconfirmed"]);
  const definition = { command: "id", args: ["-u; x"], env: { A: "b c" } };
  const made = (confirm: string) =>
    one({ method: "POST", path: "/api/admin/mcp-servers", body: { id: "mine", definition, confirm } });
  assert.equal(codeOf(made("id '-u; x'")), "command_unconfirmed");
  assert.equal(made("A='b c' id '-u; x'").status, 201);
  assert.equal(one(runsId).status, 200);
});

test("a code lets one browser in, once, and its key is listed and taken back", { skip: skipStranger }, () => {
  const { code } = JSON.parse(one({ method: "POST", path: "/api/auth/open-codes" }).text) as { code: string };
  const enter = (given: string, headers: Record<string, string> = { "x-colloquy-page": "1" }) =>
    one({ method: "POST", path: "/api/auth/open", body: { code: given }, headers }, stranger);
  assert.equal(enter(code, {}).status, 403);
  assert.equal(enter(code, { "x-colloquy-page": "1", origin: "http://localhost:3000" }).status, 403);
  assert.equal(codeOf(enter(code.replace(/.$/, (last) => (last === "A" ? "B" : "A")))), "link_over");
  const entered = enter(code);
  assert.equal(entered.status, 201);
  assert.equal(codeOf(enter(code)), "link_over");
  const { token: key } = JSON.parse(entered.text) as { token: string };
  const as = (path: string, method = "GET") => one({ path, method, headers: bearer(key) }, stranger);
  assert.equal(as("/api/admin/settings").status, 200);
  const [login] = (JSON.parse(as("/api/auth/sessions").text) as { data: { id: string; current: boolean }[] }).data;
  assert.equal(login?.current, true);
  assert.equal(one({ path: `/api/auth/sessions/${login.id}`, method: "DELETE" }).status, 204);
  assert.equal(as("/api/admin/settings").status, 401);
  assert.ok(!server.output().includes(code) && !server.output().includes(key));
});
