import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { serve, type Serving } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { type Client, createClient } from "../../../client/client.ts";
import {
  createApiKey,
  createKeyFinder,
  type KeyFinder,
  listApiKeys,
  revokeApiKey,
} from "../../../store/people/api-keys.ts";
import { newId } from "../../../protocol/base/ids.ts";
import { createUserAdmin } from "../../../store/people/user-admin.ts";
import type { Services } from "../../server/services.ts";
import { changeUser, createUser } from "../../../store/people/users.ts";

let backend: AgentServing;
let server: Serving;
let services: Services;
let keys: KeyFinder;

before(async () => {
  backend = await serveAgents(({ messages }) => `${messages.filter(({ role }) => role === "user").length} so far`);
  keys = createKeyFinder(backend.database.query);
  services = {
    ...backend.services,
    access: {
      mode: "accounts",
      findByKey: keys.findByKey,
      local: { token: "token-of-this-machine", owner: backend.caller },
    },
    users: createUserAdmin(backend.database, keys),
  };
  server = await serve(services);
});
after(async () => {
  await server.close();
  await backend.close();
});

async function account(name: string) {
  const user = await createUser(backend.database.query, { name, role: "user" });
  const { text } = await createApiKey(backend.database.query, { userId: user.id, label: "test", scopes: ["*"] });
  return { user, key: text, client: createClient({ url: server.url, token: text }) };
}

async function finished(client: Client, runId: string): Promise<void> {
  for await (const _ of client.follow(runId));
}

test("nobody sees, follows or stops what is another's", async () => {
  const [ann, bob] = await Promise.all([account("ann"), account("bob")]);
  const thread = await ann.client.createThread();
  const run = await ann.client.startRun(thread.id, { agent: "assistant", content: "hi" });
  await finished(ann.client, run.id);

  const missing = { status: 404 };
  await assert.rejects(bob.client.thread(thread.id), missing);
  await assert.rejects(bob.client.items(thread.id), missing);
  await assert.rejects(bob.client.deleteThread(thread.id), missing);
  await assert.rejects(bob.client.run(run.id), missing);
  await assert.rejects(bob.client.cancel(run.id), missing);
  await assert.rejects(bob.client.startRun(thread.id, { agent: "assistant", content: "me too" }), missing);
  await assert.rejects(finished(bob.client, run.id), missing);
  await assert.rejects(bob.client.followThread(thread.id).next(), missing);
  assert.deepEqual(await bob.client.threads(), []);
  assert.deepEqual(await bob.client.runs({ thread: thread.id }), []);
  assert.equal((await ann.client.items(thread.id)).length, 3);
});

test("the same session name of two users is two sessions", async () => {
  const answers = [];
  for (const { key } of await Promise.all([account("cid"), account("dan")])) {
    const openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: key });
    const messages = [{ role: "user" as const, content: "hi" }];
    const answer = await openai.chat.completions.create({
      model: "assistant",
      messages,
      metadata: { session_id: "s" },
    });
    answers.push(answer.choices[0]?.message.content);
  }
  assert.deepEqual(answers, ["1 so far", "1 so far"]);
});

test("a revoked key and a disabled user stay outside, in OpenAI's own error class too", async () => {
  const { user, key, client } = await account("eve");
  await client.threads();
  const [listed] = await listApiKeys(backend.database.query, user.id);
  await revokeApiKey(backend.database.query, { id: listed!.id });
  keys.forget();
  await assert.rejects(client.threads(), { status: 401, code: "invalid_api_key" });
  await assert.rejects(
    new OpenAI({ baseURL: server.url + "/v1", apiKey: key }).models.list(),
    OpenAI.AuthenticationError,
  );

  const fay = await account("fay");
  await changeUser(backend.database.query, { id: fay.user.id, disabled: true });
  await assert.rejects(fay.client.threads(), { status: 401, code: "account_disabled" });
});

test("an admin disables and enables accounts, gives keys and takes them away", async () => {
  const admin = createClient({ url: server.url, token: "token-of-this-machine" }).users;
  const { user, key } = await admin.add({ name: "jan", role: "user" });
  const jan = (token: string) => createClient({ url: server.url, token });
  await jan(key).threads();

  assert.deepEqual(await admin.change(user.id, { disabled: true }), { ...user, disabled: true });
  await assert.rejects(jan(key).threads(), { status: 401, code: "account_disabled" });
  await admin.change(user.id, { disabled: false });
  await jan(key).threads();

  const { key: second, text } = await admin.addKey(user.id, { label: "laptop", scopes: ["*"] });
  await jan(text).threads();
  await admin.revokeKey(second.id);
  await assert.rejects(jan(text).threads(), { status: 401, code: "invalid_api_key" });
  await jan(key).threads();
  const listed = await admin.keys(user.id);
  assert.deepEqual(
    listed.map(({ label, lastUsedAt, revokedAt }) => [label, lastUsedAt !== null, revokedAt !== null]),
    [
      ["first", true, false],
      ["laptop", true, true],
    ],
  );
  assert.doesNotMatch(JSON.stringify(listed), new RegExp(text.slice(3)));

  await assert.rejects(jan(key).users.change(user.id, { role: "admin" }), { status: 403 });
  await assert.rejects(jan(key).users.keys(user.id), { status: 403 });
  await assert.rejects(jan(key).users.addKey(user.id, { label: "mine", scopes: ["*"] }), { status: 403 });
  await assert.rejects(jan(key).users.revokeKey(second.id), { status: 403 });
  await admin.change(user.id, { role: "admin" });
  await jan(key).users.list();
  await assert.rejects(admin.change(newId(), { disabled: true }), { status: 404 });
  await assert.rejects(admin.addKey(newId(), { label: "x", scopes: ["*"] }), { status: 404 });
  await assert.rejects(admin.revokeKey(newId()), { status: 404 });

  // One admin stays.
  await admin.change(backend.caller.userId, { disabled: true });
  await assert.rejects(admin.change(user.id, { role: "user" }), { status: 409, code: "last_admin" });
  await assert.rejects(admin.change(user.id, { disabled: true }), { status: 409, code: "last_admin" });
  await admin.change(backend.caller.userId, { disabled: false });
  await admin.change(user.id, { disabled: true });
});

test("where the database is, admins are told alone", async () => {
  const details = { version: "1", models: [], database: "postgres at db.internal:5432", files: "alone", active: 0 };
  const verbose = await serve({ ...services, health: () => Promise.resolve(details) });
  const { key } = await account("kim");
  const seenBy = (token: string) => createClient({ url: verbose.url, token }).health();
  assert.deepEqual(await seenBy(key), { status: "ok", version: "1", models: [] });
  assert.deepEqual(await seenBy("token-of-this-machine"), { status: "ok", ...details });
  await verbose.close();
});

test("a stream that is open ends when the key of its reader is revoked", async () => {
  const { user, client, key } = await account("ida");
  const thread = await client.createThread();
  const listening = await serve({
    ...services,
    server: { corsOrigins: [], graceMs: 1000, recheckMs: 20 },
  });
  const response = await fetch(`${listening.url}/api/threads/${thread.id}/events`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const [listed] = await listApiKeys(backend.database.query, user.id);
  await revokeApiKey(backend.database.query, { id: listed!.id });
  keys.forget();
  assert.match(await response.text(), /event: denied\ndata: .*invalid_api_key/);
  await listening.close();
});

test("who holds too many streams open gets no more of any kind, begins nothing by asking, and others get theirs", async (t) => {
  const [kay, leo] = await Promise.all([account("kay"), account("leo")]);
  const thread = await kay.client.createThread();
  const narrow = await serve({ ...services, server: { corsOrigins: [], graceMs: 1000, streamsPerUser: 1 } });
  t.after(narrow.close);
  const ask = (key: string, path: string, body?: object) => {
    const leave = new AbortController();
    const answer = fetch(narrow.url + path, {
      method: body ? "POST" : "GET",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json, text/event-stream",
        ...(body && { "content-type": "application/json" }),
      },
      body: body && JSON.stringify(body),
      signal: leave.signal,
    });
    return answer.then((response) => ({ response, leave: () => leave.abort() }));
  };
  const path = `/api/threads/${thread.id}/events`;
  const first = await ask(kay.key, path);
  assert.equal(first.response.status, 200);

  const message = [{ role: "user", content: "hi" }];
  const refused: readonly [string, object?][] = [
    [path],
    ["/api/tasks/events"],
    ["/v1/chat/completions", { model: "assistant", messages: message, stream: true }],
    ["/chat", { messages: message }],
    ["/chatkit", { message: "hi" }],
    ["/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
  ];
  for (const [where, body] of refused) {
    const { response } = await ask(kay.key, where, body);
    assert.equal(response.status, 429, where);
    assert.match(await response.text(), /No more than 1 event streams of one user.*Close some/, where);
    assert.equal(response.headers.get("retry-after"), "5");
  }
  assert.deepEqual(await kay.client.runs(), []);
  const whole = await ask(kay.key, "/v1/chat/completions", { model: "assistant", messages: message });
  assert.match(await whole.response.text(), /1 so far/);

  const others = await ask(leo.key, "/api/tasks/events");
  assert.equal(others.response.status, 200);
  others.leave();

  first.leave();
  for (;;) {
    // The server hears of it a moment later.
    const { response, leave } = await ask(kay.key, path);
    if (response.status === 200) return leave();
    await response.text();
  }
});

test("accounts are made by admins, and by commands on this machine", async () => {
  const ask = (token: string, body?: object) =>
    fetch(server.url + "/api/admin/users", {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
  const made = await ask("token-of-this-machine", { name: "gus" });
  assert.equal(made.status, 201);
  const { user, key } = (await made.json()) as { user: { role: string }; key: string };
  assert.equal(user.role, "user");
  await createClient({ url: server.url, token: key }).threads();

  assert.equal((await ask(key, { name: "hal" })).status, 403);
  assert.equal((await ask(key)).status, 403);
  assert.equal((await ask("token-of-another", { name: "hal" })).status, 401);
  assert.equal((await ask("token-of-this-machine", { name: "gus" })).status, 409);
  assert.match(await (await ask("token-of-this-machine")).text(), /"gus"/);
});
