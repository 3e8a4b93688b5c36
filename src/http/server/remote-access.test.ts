import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountServices, asker, codeOf, machineToken, serveAccounts } from "../../../test/accounts.ts";
import { freshDataDirectory } from "../../../test/pglite.ts";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";
import type { Log } from "../../protocol/base/log.ts";
import { createApiKey } from "../../store/people/api-keys.ts";
import type { Database } from "../../store/driver/database.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";
import { createUser } from "../../store/people/users.ts";
import type { ServerSettings } from "./services.ts";

let database: Database;
const open: Serving[] = [];
const lines: { readonly fields: Record<string, unknown>; readonly text: string }[] = [];
const note = (fields: object, text: string) => void lines.push({ fields: { ...fields }, text });
const log: Log = { debug: note, info: note, warn: note, error: note };

before(async () => {
  database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(database);
});
after(async () => {
  await Promise.all(open.map((server) => server.close()));
  await database.close();
});

async function serveAt(settings: Partial<ServerSettings>) {
  const server = await serve(
    servicesWith({
      models: createModels({ models: [] }),
      ...(await accountServices(database)),
      server: { corsOrigins: ["http://page.example"], graceMs: 1000, ...settings },
      log,
    }),
  );
  open.push(server);
  return { ...server, ask: asker(server.url) };
}

async function keyOf(name: string): Promise<{ readonly id: string; readonly keys: readonly string[] }> {
  const { id } = await createUser(database.query, { name, role: "user" });
  const made = [1, 2].map((label) => createApiKey(database.query, { userId: id, label: String(label), scopes: ["*"] }));
  return { id, keys: (await Promise.all(made)).map(({ text }) => text) };
}

test("requests of a user and of a key are counted, and told in the standard headers", async () => {
  const { ask } = await serveAt({ requestsPerMinute: 3 });
  const { keys } = await keyOf("ann");
  const [one = "", two = ""] = keys;
  const me = (token: string) => ask("GET", "/api/auth/me", { token });
  const seen = [await me(one), await me(one), await me(two), await me(two), await me(one)];
  assert.deepEqual(
    seen.map(({ status, headers }) => [status, headers.get("ratelimit-limit"), headers.get("ratelimit-remaining")]),
    [
      [200, "3", "2"],
      [200, "3", "1"],
      [200, "3", "0"],
      [429, "3", "0"],
      [429, "3", "0"],
    ],
  );
  const refused = seen[3]!;
  const seconds = Number(refused.headers.get("retry-after"));
  assert.ok(seconds > 0 && seconds <= 60 && String(seconds) === refused.headers.get("ratelimit-reset"));
  assert.equal(codeOf(refused), "rate_limited");
  const other = await keyOf("bob");
  assert.equal((await me(other.keys[0]!)).status, 200);
  for (let count = 0; count < 5; count++)
    assert.equal((await me(machineToken)).status, 200, "commands on this machine");
});

test("whoever has no login, or a wrong one, is counted by the address", async () => {
  const { ask } = await serveAt({ requestsPerMinute: 3 });
  assert.equal((await ask("GET", "/health")).status, 200);
  assert.equal((await ask("GET", "/api/auth/me", { token: "ck_guessed" })).status, 401);
  assert.equal((await ask("GET", "/api/auth/me")).status, 401);
  assert.equal((await ask("GET", "/api/auth/me", { token: "ck_guessed" })).status, 429);
  assert.equal((await ask("POST", "/api/auth/login", { body: { username: "ann", password: "x" } })).status, 429);
});

test("who asks is what a trusted proxy says, and nobody else's word counts", async () => {
  const forwarded = (address: string) => ({
    "x-forwarded-for": address,
    "x-forwarded-proto": "https",
    "x-forwarded-host": "chat.example",
  });
  const trusting = await serveAt({ requestsPerMinute: 1, trustProxy: ["loopback"] });
  for (const address of ["192.0.2.1", "192.0.2.2", "203.0.113.9, 192.0.2.3"])
    assert.equal((await trusting.ask("GET", "/health", { headers: forwarded(address) })).status, 200, address);
  assert.equal((await trusting.ask("GET", "/health", { headers: forwarded("203.0.113.10, 192.0.2.3") })).status, 429);
  const described = await trusting.ask("GET", "/.well-known/oauth-protected-resource/mcp", {
    headers: forwarded("192.0.2.4"),
  });
  assert.equal(described.body["resource"], "https://chat.example/mcp");

  const wary = await serveAt({ requestsPerMinute: 1 });
  assert.equal((await wary.ask("GET", "/health", { headers: forwarded("192.0.2.1") })).status, 200);
  assert.equal((await wary.ask("GET", "/health", { headers: forwarded("192.0.2.2") })).status, 429);
});

test("under a base path all is there, with and without it, and links have it", async () => {
  const { ask } = await serveAt({ basePath: "/ai/colloquy", publicUrl: "https://chat.example" });
  for (const prefix of ["", "/ai/colloquy"]) assert.equal((await ask("GET", `${prefix}/health`)).status, 200);
  assert.equal((await ask("GET", "/ai/colloquy?x=1")).headers.get("location"), "/ai/colloquy/docs");
  assert.equal((await ask("GET", "/ai/colloquyhealth")).status, 404);
  const document = await ask<{ servers: unknown }>("GET", "/ai/colloquy/openapi.json");
  assert.deepEqual(document.body.servers, [{ url: "/ai/colloquy" }]);
  const refused = await ask("POST", "/ai/colloquy/mcp", { body: {} });
  assert.match(refused.headers.get("www-authenticate")!, /"https:\/\/chat\.example\/ai\/colloquy\/\.well-known\//);
  const described = await ask("GET", "/ai/colloquy/.well-known/oauth-protected-resource/mcp");
  assert.equal(described.body["resource"], "https://chat.example/ai/colloquy/mcp");
});

test("the request's id is in the answer, in errors and in each line of the log", async () => {
  const { ask } = await serveAt({});
  lines.length = 0;
  const headers = { "x-request-id": "asked-7" };
  const native = await ask<{ error: { requestId: string } }>("GET", "/api/nothing", { headers });
  assert.equal(native.body.error.requestId, "asked-7");
  const mcp = await ask<{ error: { data: { requestId: string } } }>("POST", "/mcp", { headers, body: {} });
  assert.equal(mcp.body.error.data.requestId, "asked-7");
  const openAi = await ask("GET", "/v1/models", { headers });
  assert.equal(openAi.headers.get("x-request-id"), "asked-7");
  assert.equal(lines.length, 3);
  assert.ok(lines.every(({ fields }) => fields["requestId"] === "asked-7"));
  const minted = await ask("GET", "/health", { headers: { "x-request-id": "two words\u0009" } });
  assert.match(minted.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/);
});

test("answers carry the headers that keep browsers from doing what they should not", async () => {
  const { ask } = await serveAt({});
  const { headers } = await ask("GET", "/health");
  const expected = {
    "content-security-policy": "default-src 'none';frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name);
  const page = { origin: "http://page.example", "access-control-request-method": "POST" };
  const preflight = await ask("OPTIONS", "/api/auth/keys", { headers: page });
  assert.equal(preflight.headers.get("access-control-allow-origin"), "http://page.example");
  const stranger = await ask("OPTIONS", "/api/auth/keys", { headers: { ...page, origin: "http://evil.example" } });
  assert.equal(stranger.headers.get("access-control-allow-origin"), null);
});

test("a page of another origin that is listed may use its cookie", async () => {
  const server = await serveAccounts(database);
  const { username } = await server.signUp();
  await server.close();
  const { ask } = await serveAt({});
  const headers = { "x-colloquy-page": "1", origin: "http://page.example" };
  const body = { username, password: "correct horse", cookie: true };
  const login = await ask("POST", "/api/auth/login", { body, headers });
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  assert.equal((await ask("POST", "/api/auth/logout", { headers: { ...headers, cookie } })).status, 204);
});
