import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asker } from "../../../test/accounts.ts";
import { connectMcp } from "../../../test/mcp-client.ts";
import { serve, type Serving } from "../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";
import { callerOf } from "../../protocol/base/callers.ts";
import { askerScopes } from "../../protocol/base/scopes.ts";
import { ensureOwner } from "../../store/people/users.ts";
import { allRoutes } from "../all-routes.ts";

/** The same account twice: whole, and as whoever may only ask. */
let backend: AgentServing;
let whole: Serving;
let asking: Serving;
let owner: ReturnType<typeof asker>;
let ask: ReturnType<typeof asker>;

before(async () => {
  backend = await serveAgents(() => "said");
  const user = await ensureOwner(backend.database.query);
  whole = await serve({
    ...backend.services,
    access: { mode: "local", owner: callerOf(user, "local"), owning: "open" },
  });
  asking = await serve({
    ...backend.services,
    access: { mode: "local", owner: callerOf(user, "local", askerScopes), owning: "open" },
  });
  owner = asker(whole.url);
  ask = asker(asking.url);
});
after(async () => {
  await asking.close();
  await whole.close();
  await backend.close();
});

const idOf = async (asks: ReturnType<typeof asker>, path: string, body: object) =>
  (await asks<{ id: string }>("POST", path, { body })).body.id;

test("who may only ask begins a thread, asks, and hears the run and the thread that it names", async () => {
  const thread = await idOf(ask, "/api/threads", {});
  const run = await idOf(ask, `/api/threads/${thread}/runs`, { agent: "assistant", message: { content: "hi" } });
  const heard = await fetch(`${asking.url}/api/runs/${run}/events`);
  assert.match(await heard.text(), /said[^]*event: run-end/);
  for (const path of [`/api/threads/${thread}/items`, `/api/runs/${run}`, `/api/chat/history/${thread}`, "/v1/models"])
    assert.equal((await ask("GET", path)).status, 200, path);
});

test("it never lists, decides, shares, deletes or manages, and is refused before its body is looked at", async () => {
  const thread = await idOf(owner, "/api/threads", {});
  const refused = [
    ["GET", "/api/threads"],
    ["GET", "/api/runs"],
    ["GET", "/api/questions"],
    ["POST", `/api/runs/${thread}/decisions/${thread}`],
    ["PATCH", `/api/threads/${thread}`],
    ["POST", `/api/threads/${thread}/shares`],
    ["DELETE", `/api/threads/${thread}`],
    ["DELETE", `/api/chat/sessions/${thread}`],
    ["GET", "/api/auth/keys"],
    ["GET", "/api/auth/me/export"],
    ["POST", "/api/admin/mcp-servers/try"],
    ["GET", "/api/admin/settings"],
  ] as const;
  for (const [method, path] of refused) {
    const body = method === "GET" || method === "DELETE" ? {} : { body: "no JSON {" };
    assert.equal((await ask(method, path, body)).status, 403, `${method} ${path}`);
  }
  const operation = (type: string, params: object) => ask("POST", "/chatkit", { body: { type, params } });
  assert.equal((await operation("threads.list", {})).status, 403);
  assert.equal((await operation("threads.delete", { thread_id: thread })).status, 403);
  assert.equal((await operation("threads.get_by_id", { thread_id: thread })).status, 200);
  assert.equal((await owner("GET", `/api/threads/${thread}`)).status, 200);
});

test("as an MCP client it asks agents, and reads a thread of its account of which it knows the id", async () => {
  const thread = await idOf(owner, "/api/threads", { title: "Secret plans" });
  const mcp = await connectMcp(`${asking.url}/mcp`, { era: "2026-07-28" });
  assert.ok((await mcp.listTools()).tools.some(({ name }) => name === "ask_assistant"));
  assert.deepEqual((await mcp.listResources()).resources, []);
  assert.match(JSON.stringify(await mcp.readResource({ uri: `colloquy://threads/${thread}` })), /Secret plans/);
  await mcp.close();
});

test("what is open needs nothing, and nothing else is given away without a scope", () => {
  const given = allRoutes.filter(([, , { needs, open }]) => needs === "nothing" && open === undefined);
  assert.deepEqual(
    given.map(([method, path]) => `${method} ${path}`),
    ["POST /api/auth/logout", "GET /api/auth/me"],
  );
  const closed = allRoutes.filter(([, , { needs, open }]) => needs !== "nothing" && open?.length === 0);
  assert.deepEqual(closed, []);
});
