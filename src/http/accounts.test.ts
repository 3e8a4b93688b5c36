import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { serve, type Serving } from "../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../test/serve-agents.ts";
import { type Client, createClient } from "../client/client.ts";
import { createApiKey, createKeyFinder, type KeyFinder, listApiKeys, revokeApiKey } from "../store/api-keys.ts";
import { createUser, listUsers, setDisabled } from "../store/users.ts";

let backend: AgentServing;
let server: Serving;
let keys: KeyFinder;

before(async () => {
  backend = await serveAgents(({ messages }) => `${messages.filter(({ role }) => role === "user").length} so far`);
  keys = createKeyFinder(backend.database.query);
  const { query } = backend.database;
  server = await serve({
    ...backend.services,
    access: {
      mode: "accounts",
      findByKey: keys.findByKey,
      local: { token: "token-of-this-machine", owner: backend.caller },
    },
    users: {
      list: () => listUsers(query),
      async add(input) {
        const user = await createUser(query, input);
        return { user, key: (await createApiKey(query, { userId: user.id, label: "first" })).text };
      },
    },
  });
});
after(async () => {
  await server.close();
  await backend.close();
});

async function account(name: string) {
  const user = await createUser(backend.database.query, { name, role: "user" });
  const { text } = await createApiKey(backend.database.query, { userId: user.id, label: "test" });
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
  await revokeApiKey(backend.database.query, { userId: user.id, id: listed!.id });
  keys.forget();
  await assert.rejects(client.threads(), { status: 401, code: "invalid_api_key" });
  await assert.rejects(
    new OpenAI({ baseURL: server.url + "/v1", apiKey: key }).models.list(),
    OpenAI.AuthenticationError,
  );

  const fay = await account("fay");
  await setDisabled(backend.database.query, { id: fay.user.id, disabled: true });
  await assert.rejects(fay.client.threads(), { status: 401, code: "account_disabled" });
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
