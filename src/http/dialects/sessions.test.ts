import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";

let server: AgentServing;
before(async () => {
  server = await serveAgents(() => "hello");
});
after(() => server.close());

type SessionJson = { readonly session_id: string; readonly title: string; readonly message_count: number };
type SessionHistory = { readonly session_id: string; readonly messages: readonly { role: string; content: string }[] };

async function send<Answer>(method: string, path: string, body?: object): Promise<{ status: number; json: Answer }> {
  const response = await fetch(server.url + path, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? undefined : JSON.parse(text)) as Answer };
}

const chat = (session: string, content: string) =>
  send("POST", "/v1/chat/completions", {
    model: "assistant",
    session_id: session,
    messages: [{ role: "user", content }],
  });
const list = async (query = "") =>
  (await send<{ sessions: readonly SessionJson[] }>("GET", `/api/chat/sessions${query}`)).json.sessions;

test("a chat with a session_id is a session: listed with its count, read, renamed, archived, deleted", async () => {
  await chat("work/1", "hi");
  await chat("work/1", "again");
  await chat("play", "hi");
  assert.deepEqual(
    (await list()).map(({ session_id: id, message_count: count }) => [id, count]),
    [
      ["play", 2],
      ["work/1", 4],
    ],
  );
  const path = encodeURIComponent("work/1");
  for (const address of [`/api/chat/history/${path}`, `/api/chat/history?session_id=${path}`]) {
    const { json } = await send<SessionHistory>("GET", address);
    assert.equal(json.session_id, "work/1");
    assert.deepEqual(
      json.messages.map(({ role, content }) => [role, content]),
      [
        ["user", "hi"],
        ["assistant", "hello"],
        ["user", "again"],
        ["assistant", "hello"],
      ],
    );
  }
  const changed = await send<SessionJson>("PATCH", `/api/chat/sessions/${path}`, { title: "Work", archived: true });
  assert.equal(changed.json.title, "Work");
  assert.deepEqual([(await list()).length, (await list("?archived=true")).length], [1, 1]);
  assert.equal((await send("DELETE", `/api/chat/sessions/${path}`)).status, 204);
  assert.equal((await send("GET", `/api/chat/history/${path}`)).status, 404);
});

test("a session may be begun before anything is said; its name is taken once", async () => {
  const made = await send<SessionJson>("POST", "/api/chat/sessions", { session_id: "plans", title: "Plans" });
  assert.deepEqual([made.status, made.json.session_id, made.json.message_count], [201, "plans", 0]);
  assert.equal((await send("POST", "/api/chat/sessions", { session_id: "plans" })).status, 409);
  await chat("plans", "hi");
  assert.equal((await send<SessionHistory>("GET", "/api/chat/history/plans")).json.messages.length, 2);

  const unnamed = await send<SessionJson>("POST", "/api/chat/sessions");
  assert.equal(unnamed.status, 201);
  await chat(unnamed.json.session_id, "hi");
  const { json } = await send<SessionHistory>("GET", `/api/chat/history/${unnamed.json.session_id}`);
  assert.equal(json.messages.length, 2);
  assert.equal((await send("GET", "/api/chat/history")).status, 400);
  assert.equal((await send("GET", "/api/chat/history/%00")).status, 404);
});
