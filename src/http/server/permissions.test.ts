import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountServices, asker, machineToken } from "../../../test/accounts.ts";
import { connectMcp } from "../../../test/mcp-client.ts";
import { serve, type Serving } from "../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";
import { createClient } from "../../client/client.ts";
import { textOf } from "../../protocol/threads/items.ts";
import { createScripted } from "../../models/demo/scripted.ts";
import { agentSchema } from "../../protocol/agents/agents.ts";
import { createUser } from "../../store/people/users.ts";
import { createApiKey } from "../../store/people/api-keys.ts";

/** The agents `chief` (who has all others for a team), `clerk` and `assistant`, the models `cheap`, `dear` and the rest. */
let backend: AgentServing;
let server: Serving;
let ask: ReturnType<typeof asker>;
let key: string;
let keyWith: (scopes: readonly string[]) => Promise<string>;

before(async () => {
  const agent = (id: string, agents: string[] = []) => agentSchema.parse({ id, model: "script", tools: ["*"], agents });
  backend = await serveAgents(
    ({ tools }) => `offered ${(tools ?? []).map(({ name }) => name).join(" ")}`,
    { cheap: createScripted(() => "cheap"), dear: createScripted(() => "dear") },
    { agents: [agent("chief", ["*"]), agent("clerk")] },
  );
  server = await serve({ ...backend.services, ...(await accountServices(backend.database)) });
  ask = asker(server.url);
  const user = await createUser(backend.database.query, { name: "ann", role: "user" });
  keyWith = async (scopes) =>
    (await createApiKey(backend.database.query, { userId: user.id, label: "test", scopes })).text;
  key = await keyWith(["*"]);
});
after(async () => {
  await server.close();
  await backend.close();
});

async function everyoneMay(...permissions: string[]): Promise<void> {
  const { status } = await ask("PUT", "/api/admin/groups/everyone", { token: machineToken, body: { permissions } });
  assert.equal(status, 200);
}
const idsOf = async (path: string) => {
  const { body } = await ask<{ data: { id?: string; name?: string }[] }>("GET", path, { token: key });
  return body.data.map(({ id, name }) => id ?? name ?? "");
};
const chat = (model: string) =>
  ask<{ choices: { message: { content: string } }[] }>("POST", "/v1/chat/completions", {
    token: key,
    body: { model, messages: [{ role: "user", content: "hi" }] },
  });
const start = async (agent: string, token = key) => {
  const { body } = await ask<{ id: string }>("POST", "/api/threads", { token, body: {} });
  return ask("POST", `/api/threads/${body.id}/runs`, { token, body: { agent, message: { content: "hi" } } });
};

test("at first everybody may use all agents, models and tools", async () => {
  const models = await idsOf("/v1/models");
  for (const id of ["assistant", "chief", "clerk", "cheap", "dear"]) assert.ok(models.includes(id), id);
  assert.equal((await chat("dear")).status, 200);
  assert.equal((await start("chief")).status, 202);
});

test("another model than the agent's own may be chosen, of those that are granted", async () => {
  await everyoneMay("agent:*", "model:cheap", "tool:*");
  const withModel = async (model: string) => {
    const { body } = await ask<{ id: string }>("POST", "/api/threads", { token: key, body: {} });
    return ask<{ id: string; error: { code: string } }>("POST", `/api/threads/${body.id}/runs`, {
      token: key,
      body: { agent: "clerk", message: { content: "hi" }, options: { model } },
    });
  };
  const refused = await withModel("dear");
  assert.deepEqual([refused.status, refused.body.error.code], [404, "model_not_found"]);
  const { status, body } = await withModel("cheap");
  assert.equal(status, 202);
  const events = createClient({ url: server.url, token: key }).follow(body.id);
  const said: string[] = [];
  for await (const { event } of events)
    if (event.type === "message" && event.item.body.role === "assistant") said.push(textOf(event.item.body.content));
  assert.deepEqual(said, ["cheap"]);
});

test("an agent that is not granted is not there: in no list, and in no way to ask it", async () => {
  await everyoneMay("agent:clerk", "agent:chief", "model:cheap", "tool:*");
  assert.deepEqual(await idsOf("/api/agents"), ["chief", "clerk"]);
  assert.deepEqual(await idsOf("/v1/models"), ["chief", "clerk", "cheap"]);
  assert.equal((await start("clerk")).status, 202);
  const refused = await start("assistant");
  assert.equal(refused.status, 404);
  assert.doesNotMatch(JSON.stringify(refused.body), /Known agents:.*assistant/, "nor are its likes told");

  const unknown = await chat("assistant");
  assert.equal(unknown.status, 404);
  assert.equal((await ask("GET", "/v1/models/assistant", { token: key })).status, 404);
  const other = { cron: "0 9 * * *", prompt: "hi" };
  const schedule = (agent: string) => ask("POST", "/api/schedules", { token: key, body: { ...other, agent } });
  assert.equal((await schedule("assistant")).status, 404);
  assert.equal((await schedule("clerk")).status, 201);

  const mcp = await connectMcp(`${server.url}/mcp`, { era: "2026-07-28", token: key });
  const names = (await mcp.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith("ask_"));
  assert.deepEqual(names, ["ask_chief", "ask_clerk"]);
  await mcp.close();
});

test("a model that is not granted is not there; an agent brings its own along", async () => {
  await everyoneMay("agent:clerk", "model:cheap", "tool:*");
  assert.equal((await chat("cheap")).status, 200);
  assert.equal((await chat("dear")).status, 404);
  assert.match((await chat("clerk")).body.choices[0]!.message.content, /^offered /);
});

test("a team has only those whom the caller may ask himself", async () => {
  await everyoneMay("agent:chief", "agent:clerk", "tool:*");
  assert.equal((await chat("chief")).status, 200);
  const offered = backend.model.requests.at(-1)!.tools!.find(({ name }) => name === "delegate")!;
  assert.match(offered.description, /- clerk/);
  assert.doesNotMatch(offered.description, /- assistant/);
  await everyoneMay("agent:chief", "tool:*");
  await chat("chief");
  assert.ok(!backend.model.requests.at(-1)!.tools!.some(({ name }) => name === "delegate"));
});

test("a tool that is not granted is neither offered to agents nor called by hand", async () => {
  await everyoneMay("agent:*", "tool:now");
  assert.deepEqual(await idsOf("/api/tools/list"), ["now"]);
  assert.equal((await chat("clerk")).body.choices[0]!.message.content, "offered now");
  const call = (name: string, body: object) => ask("POST", `/api/tools/${name}/calls`, { token: key, body });
  assert.equal((await call("add_task", { arguments: { title: "x" } })).status, 404);
  assert.equal((await call("now", { arguments: {} })).status, 200);
});

test("a key with scopes sees and may what is among both", async () => {
  await everyoneMay("agent:*", "model:cheap", "tool:*");
  const text = await keyWith(["agents:clerk", "models:*"]);
  const narrow = await ask<{ data: { id: string }[] }>("GET", "/v1/models", { token: text });
  assert.deepEqual(
    narrow.body.data.map(({ id }) => id),
    ["clerk", "cheap"],
  );
  assert.equal((await start("chief", text)).status, 404);
  assert.equal((await start("clerk", text)).status, 202);
});
