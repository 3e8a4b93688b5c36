import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve, type Serving } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { createClient } from "../../../client/client.ts";
import { newId } from "../../../protocol/base/ids.ts";
import { createApiKey, createKeyFinder } from "../../../store/people/api-keys.ts";
import { examineDatabase } from "../../../store/installation/examine-database.ts";
import { createUser } from "../../../store/people/users.ts";
import { letterTool } from "../../../../test/letters.ts";

const silent = letterTool();

let backend: AgentServing;
let server: Serving;
let userKey: string;

before(async () => {
  backend = await serveAgents(
    ({ messages }) => (messages.at(-1)!.role === "tool" ? "so it is" : [{ call: "send_letter", arguments: {} }]),
    {},
    { tools: [silent] },
  );
  const { database, services, caller } = backend;
  server = await serve({
    ...services,
    examine: () => examineDatabase(database, { dataDirectory: import.meta.dirname }),
    access: {
      mode: "accounts",
      findByKey: createKeyFinder(database.query).findByKey,
      local: { token: "token-of-this-machine", owner: caller },
    },
  });
  const user = await createUser(database.query, { name: "ann", role: "user" });
  userKey = (await createApiKey(database.query, { userId: user.id, label: "test", scopes: ["*"] })).text;
});
after(async () => {
  await server.close();
  await backend.close();
});

async function ask(token: string, path: string, body?: object) {
  const response = await fetch(server.url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}
const admin = (path: string, body?: object) => ask("token-of-this-machine", path, body);

/** A run of the user's that waits, since nobody knows whether its letter was sent. */
async function waitingRun(): Promise<string> {
  const client = createClient({ url: server.url, token: userKey });
  const { id } = await client.createThread();
  const run = await client.startRun(id, { agent: "assistant", content: "send it" });
  for await (const { event } of client.follow(run.id)) if (event.type === "run-wait") break;
  return run.id;
}

test("only admins see and touch the runs of others", async () => {
  const id = newId();
  for (const [path, body] of [
    ["/api/admin/runs"],
    [`/api/admin/runs/${id}`],
    [`/api/admin/runs/${id}/cancel`, {}],
    [`/api/admin/runs/${id}/retry`, {}],
    [`/api/admin/runs/${id}/ledger/1/0`, { status: "done" }],
    ["/api/admin/doctor"],
  ] as const) {
    assert.equal((await ask(userKey, path, body)).status, 403, path);
    assert.equal((await ask("nobody", path, body)).status, 401, path);
  }
  for (const path of [`/api/admin/runs/${id}`, `/api/admin/runs/${id}/retry`, `/api/admin/runs/${id}/ledger/1/0`])
    assert.equal((await admin(path, path.endsWith(id) ? undefined : { status: "done" })).status, 404, path);
});

test("an admin finds a user's waiting run, sees why, and resolves it", async () => {
  const id = await waitingRun();
  const { body: list } = await admin("/api/admin/runs?status=waiting&wait=unknown&user=ann");
  const [listed] = list["data"] as unknown as { id: string; userName: string }[];
  assert.deepEqual([listed!.id, listed!.userName], [id, "ann"]);
  const { body: details } = await admin(`/api/admin/runs/${id}`);
  const { questions, ledger } = details as unknown as {
    questions: { reason: string }[];
    ledger: { tool: string; status: string; step: string; index: number }[];
  };
  assert.equal(questions[0]!.reason, "unknown");
  assert.deepEqual([ledger[0]!.tool, ledger[0]!.status], ["send_letter", "unknown"]);
  const path = `/api/admin/runs/${id}/ledger/${ledger[0]!.step}/${ledger[0]!.index}`;
  assert.equal((await admin(path, { status: "perhaps" })).status, 400);
  const resolved = await admin(path, { status: "done", text: "The post office says so." });
  assert.equal(resolved.status, 200);
  assert.match(JSON.stringify(resolved.body), /"status":"done"/);
  const client = createClient({ url: server.url, token: userKey });
  for await (const _ of client.follow(id));
  assert.equal((await client.run(id)).status, "done");
});

test("an admin cancels a user's run and tries it again: a new run of the user's", async () => {
  const id = await waitingRun();
  assert.equal((await admin(`/api/admin/runs/${id}/cancel`, {})).body["status"], "cancelled");
  const again = await admin(`/api/admin/runs/${id}/retry`, {});
  assert.equal(again.status, 202);
  const client = createClient({ url: server.url, token: userKey });
  assert.notEqual(again.body["id"], id);
  assert.equal((await client.run(again.body["id"]!)).threadId, (await client.run(id)).threadId);
  assert.equal((await admin(`/api/admin/runs/${again.body["id"]}/retry`, {})).status, 409);
});

test("doctor through the API", async () => {
  const findings = await createClient({ url: server.url, token: "token-of-this-machine" }).examine();
  const grades = (about: string) => [
    ...new Set(findings.filter((one) => one.about === about).map(({ grade }) => grade)),
  ];
  assert.deepEqual(grades("rows"), ["ok"]);
  assert.deepEqual(grades("clock"), ["ok"]);
  assert.ok(findings.some(({ text }) => /PostgreSQL \d+/.test(text)));

  const { query } = backend.database;
  await query(
    "insert into deliveries (id, user_id, hook, body, failed_at) select gen_random_uuid(), id, 'ops', '{}', now() from users limit 1",
  );
  await query("update threads set pending = 7 where id = (select id from threads limit 1)");
  const troubles = (await createClient({ url: server.url, token: "token-of-this-machine" }).examine()).filter(
    ({ grade }) => grade === "trouble",
  );
  assert.deepEqual(
    troubles.map(({ text }) => text),
    [
      "a thread's count of waiting messages is right: 1 rows break this",
      "1 signals were given up in the last seven days",
    ],
  );
});
