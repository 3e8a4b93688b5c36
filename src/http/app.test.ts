import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance, InjectOptions } from "fastify";
import { owner, servicesWith } from "../../test/serve.ts";
import { createModels } from "../models/registry.ts";
import { createScripted } from "../models/demo/scripted.ts";
import type { Log } from "../protocol/base/log.ts";
import { createApp } from "./app.ts";
import type { SignedInAccount, Services } from "./server/services.ts";

const models = createModels({ models: [], adapters: { hello: createScripted(() => "Hello") } });
const users: Record<string, SignedInAccount> = {
  ck_ann: { id: owner.userId, name: "ann", role: "admin", disabled: false, permissions: ["*"] },
  ck_gone: { id: owner.userId, name: "gone", role: "user", disabled: true, permissions: [] },
};
const lines: { level: string; fields: Record<string, unknown>; text: string }[] = [];
const lineOf = (level: string) => (fields: object, text: string) =>
  void lines.push({ level, fields: { ...fields }, text });
const log: Log = { debug: lineOf("debug"), info: lineOf("info"), warn: lineOf("warn"), error: lineOf("error") };

const services: Services = servicesWith({
  models,
  log,
  health: () => Promise.resolve({ database: "none" }),
  server: { corsOrigins: ["http://localhost:3000"], bodyLimit: 2000 },
});
let local: FastifyInstance;
let accounts: FastifyInstance;

before(async () => {
  local = await createApp(services);
  accounts = await createApp({
    ...services,
    access: { mode: "accounts", findByKey: (key) => Promise.resolve(users[key] && { user: users[key] }) },
  });
});
after(() => Promise.all([local.close(), accounts.close()]));

const chat = { model: "hello", messages: [{ role: "user", content: "hi" }] };

function post(payload: InjectOptions["payload"], headers: Record<string, string> = {}): InjectOptions {
  return { method: "POST", url: "/v1/chat/completions", payload, headers };
}

test("health says ok, and more when asked", async () => {
  assert.deepEqual((await local.inject("/health")).json(), { status: "ok" });
  assert.deepEqual((await local.inject("/health?verbose")).json(), { status: "ok", database: "none" });
  assert.equal((await accounts.inject("/health")).statusCode, 200);
  for (const query of ["verbose", "%76erbose=1", "a=1&verbose="])
    assert.equal((await accounts.inject("/health?" + query)).statusCode, 401);
});

test("a node that can't work says so to probes and to whoever asks for anything of the database", async () => {
  let unready: ReturnType<Services["unready"]>;
  const app = await createApp({ ...services, unready: () => unready });
  const ask = async (url: string) => {
    const { statusCode, headers, body } = await app.inject(url);
    return { status: statusCode, retryAfter: headers["retry-after"], body };
  };
  assert.deepEqual(JSON.parse((await ask("/readyz")).body), { status: "ready" });
  for (const code of ["database_silent", "stopping"] as const) {
    unready = { code, message: "Not now." };
    assert.equal((await ask("/livez")).status, 200);
    assert.equal((await app.inject({ method: "HEAD", url: "/readyz" })).statusCode, 503);
    for (const path of ["/readyz", "/health", "/health?verbose"]) {
      const { status, retryAfter, body } = await ask(path);
      assert.deepEqual([status, retryAfter], [503, "5"], path);
      assert.deepEqual(JSON.parse(body), { status: "unavailable", code, message: "Not now." });
    }
    for (const path of ["/v1/models", "/api/threads", "/api/agents"]) {
      const { status, retryAfter, body } = await ask(path);
      assert.deepEqual([status, retryAfter], [503, "5"], path);
      assert.match(body, new RegExp(`"${code}"`), path);
    }
    // What is only a file is given all the same.
    for (const path of ["/docs", "/openapi.json", "/"]) assert.notEqual((await ask(path)).status, 503, path);
  }
  unready = undefined;
  assert.equal((await ask("/health")).body, '{"status":"ok"}');
  assert.equal((await ask("/v1/models")).status, 200);
  await app.close();
});

test("models and agents are listed, one by one too, with slashes in their names", async () => {
  const { data } = (await local.inject("/v1/models")).json<{ data: { id: string; owned_by: string }[] }>();
  assert.ok(data.some(({ id, owned_by: owner }) => id === "hello" && owner === "scripted"));
  assert.equal((await local.inject("/v1/models/hello")).json<{ id: string }>().id, "hello");
  for (const path of ["/v1/models/some/thing", "/v1/models/some%2Fthing"]) {
    const answer = await local.inject(path);
    assert.equal(answer.statusCode, 404);
    assert.match(answer.json<{ error: { message: string } }>().error.message, /"some\/thing".*hello/);
  }
});

test("local mode answers to loopback names only", async () => {
  for (const host of ["localhost", "127.0.0.1:8000", "127.8.9.1", "[::1]:8000", "LOCALHOST"])
    assert.equal((await local.inject({ url: "/health", headers: { host } })).statusCode, 200, host);
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "10.0.0.1",
    "localhost@evil.example",
  ]) {
    const answer = await local.inject({ url: "/v1/models", headers: { host } });
    assert.equal(answer.statusCode, 403, host);
    assert.equal(answer.json<{ error: { code: string } }>().error.code, "host_refused");
  }
});

test("local mode answers to no page of another origin", async () => {
  const headers = { host: "localhost:8000" };
  for (const origin of ["http://localhost:8000", "http://localhost:3000"])
    assert.equal((await local.inject({ ...post(chat), headers: { ...headers, origin } })).statusCode, 200, origin);
  for (const origin of ["http://evil.example", "null", "http://localhost:3001", "http://localhost:8000.evil.example"])
    assert.equal((await local.inject({ ...post(chat), headers: { ...headers, origin } })).statusCode, 403, origin);
});

test("curl's content type is JSON, but not from another origin, listed or not", async () => {
  const body = JSON.stringify(chat);
  for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
    const headers = { "content-type": type, host: "localhost:8000" };
    assert.equal((await local.inject(post(body, headers))).statusCode, 200);
    assert.equal((await local.inject(post(body, { ...headers, origin: "http://localhost:8000" }))).statusCode, 200);
    assert.equal((await local.inject(post(body, { ...headers, origin: "http://localhost:3000" }))).statusCode, 415);
  }
  assert.equal((await local.inject(post(body, { "content-type": "application/xml" }))).statusCode, 415);
});

test("a listed page gets its CORS headers, with credentials", async () => {
  const headers = { origin: "http://localhost:3000", "access-control-request-method": "POST" };
  const preflight = await local.inject({ method: "OPTIONS", url: "/v1/chat/completions", headers });
  assert.equal(preflight.statusCode, 204);
  assert.equal(preflight.headers["access-control-allow-origin"], "http://localhost:3000");
  assert.equal(preflight.headers["access-control-allow-credentials"], "true");
});

test("accounts mode takes keys and nothing else", async () => {
  const ask = (authorization?: string) =>
    accounts.inject(post(chat, { host: "example.org", ...(authorization && { authorization }) }));
  assert.equal((await ask("Bearer ck_ann")).statusCode, 200);
  const refusals = [
    [undefined, "unauthorized"],
    ["Basic ck_ann", "unauthorized"],
    ["Bearer sk-other", "unauthorized"],
    ["Bearer ck_unknown", "invalid_api_key"],
    ["Bearer ck_gone", "account_disabled"],
  ] as const;
  for (const [authorization, code] of refusals) {
    const answer = await ask(authorization);
    assert.equal(answer.statusCode, 401);
    assert.equal(answer.headers["www-authenticate"], "Bearer");
    assert.deepEqual(
      { ...answer.json<{ error: object }>().error, message: "" },
      { message: "", type: "authentication_error", param: null, code },
    );
  }
});

test("bad bodies are refused in the dialect's form", async () => {
  const headers = { "content-type": "application/json" };
  const broken = await local.inject(post('{"model":', headers));
  assert.equal(broken.statusCode, 400);
  assert.equal(broken.json<{ error: { code: string } }>().error.code, "invalid_json");

  const large = await local.inject(post({ ...chat, user: "x".repeat(3000) }));
  assert.equal(large.statusCode, 413);
  assert.match(large.json<{ error: { message: string } }>().error.message, /2000 bytes/);

  const empty = await local.inject({ method: "POST", url: "/v1/chat/completions" });
  assert.equal(empty.statusCode, 400);
});

test("native errors name the fields, and the request", async () => {
  const answer = await local.inject({
    method: "POST",
    url: "/api/threads",
    payload: { titel: "x" },
    headers: { "x-request-id": "mine-1" },
  });
  assert.equal(answer.statusCode, 400);
  assert.equal(answer.headers["x-request-id"], "mine-1");
  const { error } = answer.json<{ error: { code: string; message: string; requestId: string } }>();
  assert.equal(error.code, "invalid_input");
  assert.equal(error.requestId, "mine-1");
  assert.match(error.message, /titel/);
  assert.equal((await local.inject("/api/threads/not-an-id")).statusCode, 400);
});

test("a body that is nested without end is refused, whatever its size", async () => {
  const app = await createApp({ ...services, server: { corsOrigins: [] } });
  const send = (payload: string) =>
    app.inject({ method: "POST", url: "/api/threads", payload, headers: { "content-type": "application/json" } });
  const nested = (levels: number, open = "[", close = "]") =>
    `{"title":"x","deep":${open.repeat(levels)}1${close.repeat(levels)}}`;
  for (const body of [nested(201), nested(400_000), nested(100_000, '{"a":', "}")]) {
    const answer = await send(body);
    assert.equal(answer.statusCode, 400);
    assert.equal(answer.json<{ error: { code: string } }>().error.code, "body_too_deep");
  }
  // as deep as it may be: refused for what it is
  assert.match((await send(nested(199))).body, /Unrecognized key/);
  await app.close();
});

test("what nobody foresaw is a 500 without its inside, but with a log line that has it", async () => {
  lines.length = 0;
  const answer = await local.inject("/api/runs");
  assert.equal(answer.statusCode, 500);
  assert.doesNotMatch(answer.body, /this server has no runs/);
  const line = lines.find(({ level }) => level === "error");
  assert.match(String(line?.fields["err"]), /this server has no runs/);
  assert.equal(line?.fields["requestId"], answer.headers["x-request-id"]);
});

test("the root leads to the docs", async () => {
  const answer = await accounts.inject("/");
  assert.equal(answer.statusCode, 302);
  assert.equal(answer.headers["location"], "/docs");
});

test("an unfit request id is replaced", async () => {
  const answer = await local.inject({ url: "/health", headers: { "x-request-id": "a b\t<script>" } });
  assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/);
});

test("unknown routes point to the docs, in the dialect's form", async () => {
  const native = await local.inject("/api/nothing?key=secret");
  assert.equal(native.statusCode, 404);
  assert.match(native.body, /Route GET \/api\/nothing not found\. GET \/docs/);
  const foreign = (await local.inject("/v1/nothing")).json<{ error: { type: string } }>();
  assert.equal(foreign.error.type, "invalid_request_error");
});

test("a path that can't be decoded is a client's error", async () => {
  const answer = await local.inject("/v1/models/%zz");
  assert.equal(answer.statusCode, 400);
  assert.equal(answer.json<{ error: { type: string } }>().error.type, "invalid_request_error");
});

test("no secret gets into the log", async () => {
  lines.length = 0;
  await accounts.inject({ url: "/v1/models?token=ck_ann", headers: { authorization: "Bearer ck_ann" } });
  await accounts.inject({ url: "/v1/models", headers: { authorization: "Bearer ck_wrong" } });
  for (const method of ["GET", "HEAD"] as const)
    for (const url of ["/shared/ck_link", "/api/shared/ck_link", "/shared/ck_link/x?y=ck_z", "//shared/ck_link"])
      for (const asked of [url, url.replace("shared", "%73hare%64")]) await accounts.inject({ method, url: asked });
  assert.equal(lines.filter(({ text }) => text === "request").length, 18);
  assert.doesNotMatch(JSON.stringify(lines), /ck_/);
});

test("where a person watches, a request that went well is told to who debugs alone", async () => {
  const watched = await createApp({ ...services, server: { ...services.server, quiet: true } });
  lines.length = 0;
  for (const url of ["/health", "/api/nothing"]) await watched.inject(url);
  await watched.close();
  const told = lines.filter(({ text }) => text === "request");
  assert.deepEqual(
    told.map(({ level, fields }) => [level, fields["path"]]),
    [
      ["debug", "/health"],
      ["info", "/api/nothing"],
    ],
  );
});

test("the document describes every route, and the page shows it without a script", async () => {
  const document = (await accounts.inject("/openapi.json")).json<{
    paths: Record<string, Record<string, { summary: string }>>;
  }>();
  assert.ok(document.paths["/v1/models/{id}"]);
  assert.ok(document.paths["/api/runs/{id}/events"]?.["get"]);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  assert.ok(operations.every(({ summary }) => summary.length > 0));
  const page = await accounts.inject("/docs");
  for (const url of ["/docs", "/openapi.json", "/health"]) {
    const head = await accounts.inject({ method: "HEAD", url });
    assert.deepEqual([head.statusCode, head.body], [200, ""], url);
  }
  assert.match(String(page.headers["content-type"]), /^text\/html/);
  assert.match(String(page.headers["content-security-policy"]), /^default-src 'none'; style-src 'sha256-/);
  for (const { summary } of operations) assert.ok(page.body.includes(summary), summary);
  assert.doesNotMatch(page.body, /<script|https?:\/\//);
  assert.match(page.body, /its <code>event<\/code> and <code>id<\/code>/);
});
