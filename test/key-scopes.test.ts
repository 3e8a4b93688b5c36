import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newId } from "../src/protocol/base/ids.ts";
import { examineDatabase } from "../src/store/installation/examine-database.ts";
import { createApiKey } from "../src/store/people/api-keys.ts";
import { createUser } from "../src/store/people/users.ts";
import { accountServices, asker, codeOf, type LoginBody, machineToken, password } from "./accounts.ts";
import { connectMcp } from "./mcp-client.ts";
import { serve, type Serving } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

let backend: AgentServing;
let server: Serving;
let ask: ReturnType<typeof asker>;
let userId: string;
let login: string;
/** All that ann may; a key of hers that names one agent; another one. */
let whole: string;
let narrow: string;
let second: string;
/** Begun with the whole key. */
let thread: string;
let run: string;

const hi = { agent: "assistant", message: { content: "hi" } };

async function keyWith(...scopes: string[]): Promise<string> {
  const made = await ask<{ text: string }>("POST", `/api/admin/users/${userId}/keys`, {
    token: machineToken,
    body: { label: scopes.join(" "), scopes },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.text;
}

const idOf = async (token: string, path: string, body: object) => {
  const made = await ask<{ id: string }>("POST", path, { token, body });
  assert.ok(made.status < 300, `${path}: ${made.status} ${JSON.stringify(made.body)}`);
  return made.body.id;
};

/** What the run says until it ends. */
async function heard(token: string, id: string): Promise<string> {
  return (await ask<string>("GET", `/api/runs/${id}/events`, { token })).body;
}

before(async () => {
  backend = await serveAgents(() => "said");
  server = await serve({ ...backend.services, ...(await accountServices(backend.database)) });
  ask = asker(server.url);
  const { body } = await ask<LoginBody>("POST", "/api/auth/signup", { body: { username: "ann", password } });
  [userId, login] = [body.user.id, body.access_token];
  [whole, narrow, second] = [await keyWith("*"), await keyWith("agents:assistant"), await keyWith("agents:*")];
  thread = await idOf(whole, "/api/threads", { title: "Secret plans" });
  run = await idOf(whole, `/api/threads/${thread}/runs`, hi);
  await heard(whole, run);
});
after(async () => {
  await server.close();
  await backend.close();
});

test("a key for an agent asks it in each dialect, and reads, follows and cancels what came of it", async () => {
  const own = await idOf(narrow, "/api/threads", {});
  const ownRun = await idOf(narrow, `/api/threads/${own}/runs`, hi);
  assert.match(await heard(narrow, ownRun), /said[^]*event: run-end/);
  for (const path of [
    `/api/threads/${own}`,
    `/api/threads/${own}/items`,
    `/api/runs/${ownRun}`,
    `/api/runs/${ownRun}/details`,
    `/api/chat/history/${own}`,
    "/v1/models",
  ])
    assert.equal((await ask("GET", path, { token: narrow })).status, 200, path);
  const body = { model: "assistant", messages: [{ role: "user", content: "hi" }] };
  const headers = { "x-session-id": "of the narrow key" };
  for (const turn of ["first", "second"])
    assert.equal((await ask("POST", "/v1/chat/completions", { token: narrow, body, headers })).status, 200, turn);
  assert.equal((await ask("POST", `/api/runs/${ownRun}/cancel`, { token: narrow })).status, 200);
  const mcp = await connectMcp(`${server.url}/mcp`, { era: "2026-07-28", token: narrow });
  const asked = await mcp.callTool({ name: "ask_assistant", arguments: { message: "hi" } });
  assert.match(JSON.stringify(asked.content), /said/);
  await mcp.close();
});

test("an admin's key in one area reaches no admin's account, and starts no program", async () => {
  const { query } = backend.database;
  const admin = await createUser(query, { name: "root", role: "admin" });
  const keyFor = (scope: string) => createApiKey(query, { userId: admin.id, label: scope, scopes: [scope] });
  const { text: people, key } = await keyFor("admin:users");
  const refused = [
    ["GET", `/api/admin/users/${admin.id}/export`],
    ["DELETE", `/api/admin/keys/${key.id}`],
    ["DELETE", `/api/admin/users/${admin.id}/sessions`],
    ["POST", `/api/admin/users/${admin.id}/reset`],
    ["PATCH", `/api/admin/users/${admin.id}`, { disabled: true }],
    ["POST", `/api/admin/users/${admin.id}/erase`, { confirm: "root" }],
  ] as const;
  for (const [method, path, given] of refused) {
    const answer = await ask(method, path, { token: people, ...(given && { body: given }) });
    assert.deepEqual([answer.status, codeOf(answer)], [403, "key_scoped"], path);
  }
  assert.equal(
    (await ask("GET", `/api/admin/users/${userId}/keys`, { token: people })).status,
    200,
    "of people it is for",
  );
  const { text: definitions } = await keyFor("admin:definitions");
  const program = { id: "mine", definition: { command: "id" }, confirm: "id" };
  for (const path of ["/api/admin/mcp-servers/try", "/api/admin/mcp-servers"]) {
    const answer = await ask("POST", path, { token: definitions, body: program });
    assert.deepEqual([answer.status, codeOf(answer)], [403, "key_scoped"], path);
  }
});

test("it touches nothing that others of its account began, whichever way it asks", async () => {
  const refused = [
    ["GET", "/api/threads"],
    ["GET", "/api/runs"],
    ["GET", "/api/questions"],
    ["GET", `/api/threads/${thread}`],
    ["GET", `/api/threads/${thread}/items`],
    ["GET", `/api/threads/${thread}/events`],
    ["GET", `/api/threads/${thread}/pending`],
    ["GET", `/api/runs/${run}`],
    ["GET", `/api/runs/${run}/events`],
    ["GET", `/api/runs/${run}/details`],
    ["GET", `/api/runs/${run}/questions`],
    ["GET", `/agent/run/${run}`],
    ["GET", `/chat/${thread}/stream`],
    ["GET", `/api/chat/history/${thread}`],
    ["POST", `/api/threads/${thread}/runs`, hi],
    ["POST", `/api/threads/${thread}/runs`, { ...hi, mode: "steer" }],
    ["POST", `/api/runs/${run}/cancel`],
    ["POST", `/api/runs/${run}/resume`, {}],
    ["POST", `/api/runs/${run}/steer`, { content: "stop" }],
    ["POST", `/api/runs/${run}/results`, { results: [{ call: run, content: "x" }] }],
    ["POST", `/api/threads/${thread}/shares`, {}],
    ["DELETE", `/api/threads/${thread}`],
    ["GET", "/api/auth/keys"],
    ["POST", "/api/auth/keys", { label: "more", scopes: ["*"] }],
    ["GET", "/api/admin/users"],
  ] as const;
  for (const [method, path, body] of refused) {
    const answer = await ask(method, path, { token: narrow, ...(body && { body }) });
    assert.equal(answer.status, 403, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    assert.match(codeOf(answer), /^(insufficient_scope|key_scoped)$/, path);
  }
  const completion = { model: "assistant", messages: [{ role: "user", content: "hi" }] };
  const headers = { "x-session-id": thread };
  const completed = await ask("POST", "/v1/chat/completions", { token: narrow, body: completion, headers });
  assert.equal(completed.status, 403);
  assert.equal((await ask("GET", `/api/threads/${thread}`, { token: second })).status, 403, "nor what another key did");
  assert.equal((await ask("GET", `/api/threads/${thread}`, { token: whole })).status, 200);
});

test("what is not there and what is not the key's own are told alike", async () => {
  const nowhere = "018f0000-0000-7000-8000-00000000dead";
  for (const path of ["/api/threads/", "/api/runs/"]) {
    const [there, not] = [path + (path.includes("runs") ? run : thread), path + nowhere];
    const [a, b] = [await ask("GET", there, { token: narrow }), await ask("GET", not, { token: narrow })];
    assert.deepEqual([a.status, codeOf(a)], [b.status, codeOf(b)]);
  }
});

test("an Idempotency-Key or a message's id of another key gives nothing of its run away", async () => {
  const headers = { "idempotency-key": "the same for both" };
  const message = { id: "018f0000-0000-7000-8000-000000000001", content: "hi" };
  const send = async (token: string, into: string, of: object, more = {}) =>
    ask<{ id: string }>("POST", `/api/threads/${into}/runs`, { token, body: { ...hi, ...of }, ...more });
  const first = await send(whole, thread, { message }, { headers });
  const own = await idOf(narrow, "/api/threads", {});
  const keyed = await send(narrow, own, {}, { headers });
  assert.deepEqual([keyed.status, keyed.body.id === first.body.id], [202, false]);
  assert.equal((await send(narrow, own, { message })).status, 422);
});

test("each scope opens what it names, and of others' things only that", async () => {
  const may = async (scopes: string[], method: string, path: string, body?: object) =>
    (await ask(method, path, { token: await keyWith(...scopes), ...(body && { body }) })).status;
  assert.equal(await may(["threads:read"], "GET", `/api/threads/${thread}/items`), 200);
  assert.equal(await may(["threads:read"], "GET", "/api/threads"), 403);
  assert.equal(await may(["threads:read", "agents:*"], "POST", `/api/threads/${thread}/runs`, hi), 403);
  assert.equal(await may(["threads:write", "agents:*"], "POST", `/api/threads/${thread}/runs`, hi), 202);
  assert.equal(await may(["threads:*"], "GET", "/api/threads"), 200);
  assert.equal(await may(["threads:share"], "POST", `/api/threads/${thread}/shares`, {}), 201);
  assert.equal(await may(["tasks:read"], "POST", "/api/tasks", { title: "x" }), 403);
  assert.equal(await may(["admin:*"], "GET", "/api/admin/users"), 403, "no more than the account");
});

test("an attached file is read, so a key that asks about one needs to be let read files", async () => {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new Blob(["secret"], { type: "text/plain" }), "a.txt");
  const headers = { authorization: `Bearer ${whole}` };
  const uploaded = await fetch(`${server.url}/v1/files`, { method: "POST", headers, body: form });
  const { id } = (await uploaded.json()) as { id: string };
  const send = async (token: string) => {
    const into = await idOf(token, "/api/threads", {});
    const body = { ...hi, message: { content: "hi", files: [id] } };
    return (await ask("POST", `/api/threads/${into}/runs`, { token, body })).status;
  };
  assert.equal(await send(narrow), 403);
  assert.equal(await send(await keyWith("agents:assistant", "files:read")), 202);
});

test("what a key schedules is done with the key's rights", async () => {
  const token = await keyWith("agents:assistant", "schedules:*");
  const schedule = { agent: "assistant", prompt: "hi", every: "1d" };
  assert.equal((await ask("POST", "/api/schedules", { token, body: { ...schedule, threadId: thread } })).status, 403);
  const id = await idOf(token, "/api/schedules", schedule);
  const kept = async () => {
    const rows = await backend.database.query<{ scopes: string[] }>("select scopes from schedules where id = $1", [id]);
    return rows[0]!.scopes;
  };
  assert.deepEqual(await kept(), ["agents:assistant", "schedules:*"]);
  const started = await ask<{ id: string }>("POST", `/api/schedules/${id}/run`, { token });
  assert.equal(started.status, 202);
  assert.match(await heard(token, started.body.id), /run-end/);
  assert.equal((await ask("PATCH", `/api/schedules/${id}`, { token: whole, body: { prompt: "hello" } })).status, 200);
  assert.deepEqual(await kept(), ["*"]);
});

test("a key from before there were scopes keeps what it had for 90 days, says so with each answer, and is chosen for", async () => {
  const { query } = backend.database;
  const { key, text } = await createApiKey(query, { userId, label: "old laptop", scopes: ["*"] });
  const keepUntil = (until: string, scopes: readonly string[] | null) =>
    query(`update api_keys set scopes = $2::jsonb, unscoped_until = now() + $3::interval where id = $1`, [
      key.id,
      scopes && JSON.stringify(scopes),
      until,
    ]);
  await keepUntil("89 days", ["agent:assistant"]);
  const found = await ask("GET", `/api/threads/${thread}`, { token: text });
  assert.equal(found.status, 200);
  assert.match(found.headers.get("deprecation")!, /^@\d{10}$/);
  const daysLeft = (Date.parse(found.headers.get("sunset")!) - Date.now()) / 86_400_000;
  assert.ok(daysLeft > 88 && daysLeft < 90, String(daysLeft));
  assert.match(found.headers.get("x-colloquy-warning")!, /has no scopes and expires on \d{4}-/);
  assert.equal((await ask("GET", "/api/threads", { token: whole })).headers.get("x-colloquy-warning"), null);
  const findings = await examineDatabase(backend.database, { dataDirectory: process.cwd() });
  const told = findings.filter(({ about }) => about === "keys");
  assert.match(told[0]!.text, new RegExp(`"old laptop" of ann .${key.id}. is from before .* ends on`));

  await keepUntil("89 days", null);
  for (const [method, path] of [
    ["GET", "/api/auth/keys"],
    ["GET", "/api/auth/me/export"],
  ] as const)
    assert.equal(codeOf(await ask(method, path, { token: text })), "key_scoped", path);
  await keepUntil("89 days", ["agent:assistant"]);

  const late = await createApiKey(query, { userId, label: "late", scopes: ["*"] });
  await query("update api_keys set scopes = null, unscoped_until = now() where id = $1", [late.key.id]);
  const refused = await ask("GET", "/api/threads", { token: late.text });
  assert.deepEqual([refused.status, codeOf(refused)], [401, "key_unscoped"]);
  assert.match(JSON.stringify(refused.body), /PATCH \/api\/auth\/keys/);

  const change = (id: string, token: string, body: object) =>
    ask<{ scopes: string[]; unscopedUntil: string | null }>("PATCH", `/api/auth/keys/${id}`, { token, body });
  await query("update api_keys set scopes = null where id = $1", [key.id]);
  const chosen = await change(key.id, login, { scopes: ["agents:assistant"], label: "laptop" });
  assert.deepEqual([chosen.status, chosen.body.scopes, chosen.body.unscopedUntil], [200, ["agents:assistant"], null]);
  const after = await ask("GET", `/api/threads/${thread}`, { token: text });
  assert.deepEqual([after.status, after.headers.get("sunset")], [403, null]);
  assert.equal((await change(late.key.id, login, { scopes: ["*"] })).status, 200);
  assert.equal((await ask("GET", "/api/threads", { token: late.text })).status, 200, "after its end too");
  assert.equal((await change(late.key.id, text, { scopes: ["*"] })).status, 403, "no key does this");
});

test("what was a key before the update is one with an end, whatever brings it in", async () => {
  const { query } = backend.database;
  const [row] = await query<{ days: number }>(
    `insert into api_keys (id, user_id, label, hash) values ($1, $2, 'from before', 'x')
     returning extract(day from unscoped_until - now())::int as days`,
    [newId(), userId],
  );
  assert.ok(row!.days >= 89);
  const endless = "insert into api_keys (id, user_id, label, hash, unscoped_until) values ($1, $2, '', 'y', null)";
  await assert.rejects(query(endless, [newId(), userId]), /api_keys_name_scopes/);
});
