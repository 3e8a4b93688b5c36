import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { createApiKey, createKeyFinder } from "../src/store/people/api-keys.ts";
import { createUser } from "../src/store/people/users.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { connectMcp, eras, modernCall } from "./mcp-client.ts";
import { serve, type Serving } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const secret = defineTool({
  name: "secret",
  description: "Only for those who may.",
  input: z.object({}),
  effect: "read",
  permissions: ["secrets"],
  execute: () => "hush",
});

/** In local mode. */
let backend: AgentServing;
let accounts: Serving;
before(async () => {
  backend = await serveAgents(() => "an answer", {}, { tools: [secret] });
  const { findByKey } = createKeyFinder(backend.database.query);
  accounts = await serve({ ...backend.services, access: { mode: "accounts", findByKey } });
});
after(async () => {
  await accounts.close();
  await backend.close();
});

async function account(name: string): Promise<{ token: string; id: string }> {
  const { id } = await createUser(backend.database.query, { name, role: "user" });
  const { text } = await createApiKey(backend.database.query, { userId: id, label: "test", scopes: ["*"] });
  return { token: text, id };
}

test("with accounts a login is asked for, and where to read how is said", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(`${accounts.url}/mcp`, { method: "POST", headers, body });
  assert.equal(response.status, 401);
  const metadata = /resource_metadata="([^"]+)"/.exec(response.headers.get("www-authenticate")!)![1]!;
  assert.equal(metadata, `${accounts.url}/.well-known/oauth-protected-resource/mcp`);
  const described = (await (await fetch(metadata)).json()) as { resource: string; bearer_methods_supported: string[] };
  assert.equal(described.resource, `${accounts.url}/mcp`);
  assert.deepEqual(described.bearer_methods_supported, ["header"]);
  assert.equal((await fetch(`${backend.url}/.well-known/oauth-protected-resource/mcp`)).status, 404);

  const { token } = await account("page");
  const foreign = await fetch(`${accounts.url}/mcp`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${token}`, origin: "http://evil.example" },
    body,
  });
  assert.equal(foreign.status, 403);
});

test("pages of other sites, other names of this machine, and what is no JSON are refused", async () => {
  const post = async (headers: Record<string, string>, body = "{}") => {
    const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
    const { statusCode, json } = await backend.app.inject({ method: "POST", url: "/mcp", headers: all, payload: body });
    return { status: statusCode, code: json<{ error: { code: number } }>().error.code };
  };
  const host = new URL(backend.url).host;
  assert.equal((await post({ host, origin: "http://evil.example" })).status, 403);
  assert.equal((await post({ host: "evil.example" })).status, 403);
  assert.deepEqual(await post({ host }, "{"), { status: 400, code: -32700 });
  assert.equal((await post({ host, "content-type": "text/plain" })).status, 415);
  assert.equal((await post({ host }, JSON.stringify({ text: "x".repeat(11_000_000) }))).status, 413);
  for (const method of ["GET", "DELETE"] as const) {
    const response = await fetch(`${backend.url}/mcp`, { method });
    assert.equal(response.status, 405);
    await response.text();
  }
});

test("two users see their own tools and threads only", async () => {
  const [ann, bob] = await Promise.all([account("ann"), account("bob")]);
  for (const era of eras) {
    const [first, second] = await Promise.all(
      [ann, bob].map(({ token }) => connectMcp(`${accounts.url}/mcp`, { era, token })),
    );
    const asked = await first!.callTool({ name: "ask_assistant", arguments: { message: "mine" } });
    const { thread, run } = asked.structuredContent as { thread: string; run: string };
    const { resources } = await second!.listResources();
    assert.deepEqual(resources, []);
    await assert.rejects(second!.readResource({ uri: `colloquy://threads/${thread}` }));
    for (const call of [
      { name: "ask_assistant", arguments: { message: "mine too", thread } },
      { name: "run_result", arguments: { run } },
    ])
      assert.equal((await second!.callTool(call)).isError, true);
    const names = (await first!.listTools()).tools.map(({ name }) => name);
    assert.equal(names.includes("secret"), false);
    await assert.rejects(first!.callTool({ name: "secret", arguments: {} }), { code: -32602 });
    await Promise.all([first!.close(), second!.close()]);
  }
});

test("lists may not be kept for others", async () => {
  const response = await modernCall(`${backend.url}/mcp`, "tools/list", {});
  const { result } = (await response.json()) as { result: { cacheScope: string } };
  assert.equal(result.cacheScope, "private");
});
