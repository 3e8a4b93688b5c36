import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const credentials = { type: "normal", username: "bruno", password: "bruno-password" };

test("signing in gives the user with an access and a refresh token", async () => {
  const { status, body } = await call(taiga, "POST /auth", { body: credentials });
  assert.equal(status, 200);
  assert.equal(body["username"], "bruno");
  assert.equal(body["email"], "bruno@acme.example");
  assert.deepEqual(body["roles"], ["Back"]);
  const me = await call(taiga, "GET /users/me", { authorization: `Bearer ${body["auth_token"]}` });
  assert.equal(me.body["id"], body["id"]);
  assert.equal(claimsOf(body["auth_token"]).exp - claimsOf(body["refresh"]).exp, -7 * 24 * 60 * 60);
});

test("the e-mail address is as good as the name", async () => {
  const { status } = await call(taiga, "POST /auth", { body: { ...credentials, username: "bruno@acme.example" } });
  assert.equal(status, 200);
});

test("a wrong password has the shape of sign-in errors", async () => {
  const { status, headers, body } = await call(taiga, "POST /auth", { body: { ...credentials, password: "guess" } });
  assert.equal(status, 401);
  assert.equal(headers.get("www-authenticate"), 'Bearer realm="api"');
  assert.deepEqual(body, {
    detail: "No active account found with the given credentials",
    code: "invalid_credentials",
  });
});

test("missing fields are named, an unknown kind of sign-in is an exception", async () => {
  const missing = await call(taiga, "POST /auth", { body: { type: "normal", username: "bruno" } });
  assert.deepEqual([missing.status, missing.body], [400, { password: ["This field is required."] }]);
  const unknown = await call(taiga, "POST /auth", { body: { ...credentials, type: "github" } });
  assert.equal(unknown.status, 400);
  assert.deepEqual(unknown.body, {
    _error_message: "invalid login type",
    _error_type: "taiga.base.exceptions.BadRequest",
  });
});

test("a refresh gives a new pair and ends the old refresh token", async () => {
  const { refresh } = taiga.tokensOf("bruno");
  const first = await call(taiga, "POST /auth/refresh", { body: { refresh } });
  assert.equal(first.status, 200);
  assert.deepEqual(Object.keys(first.body).sort(), ["auth_token", "refresh"]);
  assert.notEqual(first.body["refresh"], refresh);
  const again = await call(taiga, "POST /auth/refresh", { body: { refresh } });
  assert.equal(again.status, 401);
  assert.deepEqual(again.body, { detail: "Token is invalid or expired", code: "token_not_valid" });
  const next = await call(taiga, "POST /auth/refresh", { body: { refresh: first.body["refresh"] } });
  assert.equal(next.status, 200);
});

test("an access token cannot refresh, a refresh token opens nothing", async () => {
  const { auth_token, refresh } = taiga.tokensOf("bruno");
  assert.equal((await call(taiga, "POST /auth/refresh", { body: { refresh: auth_token } })).status, 401);
  assert.equal((await call(taiga, "GET /users/me", { authorization: `Bearer ${refresh}` })).status, 401);
});

test("an expired token is refused everywhere, even by lists that are open to all", async () => {
  const authorization = `Bearer ${taiga.tokensOf("bruno").auth_token}`;
  taiga.expireTokens({ username: "bruno" });
  for (const path of ["/users/me", "/milestones", "/projects/by_slug?slug=open-docs"]) {
    const { status, body } = await call(taiga, `GET ${path}`, { authorization });
    assert.equal(status, 401);
    assert.equal(body["code"], "token_not_valid");
    assert.equal(body["detail"], "Given token not valid for any token type");
  }
  assert.equal((await call(taiga, "GET /users/me", { as: "bruno" })).status, 200);
});

test("expired tokens of one person leave the others alone, and their refresh tokens too", async () => {
  const [bruno, sam] = [taiga.tokensOf("bruno"), taiga.tokensOf("sam")];
  taiga.expireTokens({ username: "bruno" });
  assert.equal((await call(taiga, "GET /users/me", { authorization: `Bearer ${sam.auth_token}` })).status, 200);
  assert.equal((await call(taiga, "POST /auth/refresh", { body: { refresh: bruno.refresh } })).status, 200);
  taiga.expireTokens({ refresh: true });
  assert.equal((await call(taiga, "POST /auth/refresh", { body: { refresh: sam.refresh } })).status, 401);
});

test("application tokens have a scheme of their own", async () => {
  const authorization = `Application ${taiga.applicationTokenOf("carla")}`;
  assert.equal((await call(taiga, "GET /users/me", { authorization })).body["username"], "carla");
  const wrong = await call(taiga, "GET /users/me", { authorization: "Application guess" });
  assert.equal(wrong.status, 401);
  assert.deepEqual(wrong.body, {
    _error_message: "Invalid token",
    _error_type: "taiga.base.exceptions.NotAuthenticated",
  });
});

test("a header in two halves too many, a forged token, and a scheme nobody knows", async () => {
  const odd = await call(taiga, "GET /users/me", { authorization: "Bearer one two" });
  assert.equal(odd.body["code"], "bad_authorization_header");
  const [header, claims] = taiga.tokensOf("bruno").auth_token.split(".");
  const forged = await call(taiga, "GET /users/me", { authorization: `Bearer ${header}.${claims}.forged` });
  assert.equal(forged.body["code"], "token_not_valid");
  const basic = await call(taiga, "GET /users/me", { authorization: "Basic YTpi" });
  assert.equal(basic.body["_error_message"], "Authentication credentials were not provided.");
});

test("paths end without a slash", async () => {
  const { status, headers } = await call(taiga, "POST /auth/", { body: credentials });
  assert.equal(status, 404);
  assert.equal(headers.get("content-type"), "text/html");
});

function claimsOf(token: unknown): { readonly exp: number } {
  return JSON.parse(Buffer.from(String(token).split(".")[1] ?? "", "base64url").toString()) as { exp: number };
}
