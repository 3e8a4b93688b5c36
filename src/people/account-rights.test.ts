import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  accountServices,
  asker,
  codeOf,
  type LoginBody,
  machineToken,
  password,
  serveAccounts,
} from "../../test/accounts.ts";
import { anyDatabase } from "../../test/databases.ts";
import { serve, servicesWith } from "../../test/serve.ts";
import { createModels } from "../models/registry.ts";
import { newId } from "../protocol/base/ids.ts";
import type { Database } from "../store/driver/database.ts";

anyDatabase((databases) => {
  let database: Database;
  let server: Awaited<ReturnType<typeof serveAccounts>>;
  let ask: typeof server.ask;
  const signUp = (name?: string) => server.signUp(name);
  const logIn = (name: string, text?: string) => server.logIn(name, text);
  const me = (token: string) => server.me(token);

  before(async () => {
    database = await databases.open();
    server = await serveAccounts(database);
    ({ ask } = server);
  });
  after(() => server.close());
  // Of the same address, or this file would soon have to wait.
  beforeEach(() => database.query("delete from login_failures"));

  describe("passwords", () => {
    test("are changed with the old one; all other logins end", async () => {
      const { username, token } = await signUp();
      const { access_token: other } = (await logIn(username)).body;
      const change = (current: string, next: string) =>
        ask("POST", "/api/auth/password", { token, body: { current, password: next } });
      assert.equal(codeOf(await change("wrong horse", "battery staple")), "wrong_login");
      assert.equal(codeOf(await change(password, "密".repeat(25))), "password_too_long");
      assert.equal(codeOf(await change(password, password)), "same_password");
      assert.equal((await change(password, "battery staple")).status, 204);
      assert.deepEqual([await me(token), await me(other)], [200, 401]);
      assert.equal((await logIn(username)).status, 401);
      assert.equal((await logIn(username, "battery staple")).status, 200);
    });

    test("are changed, and links of before set no other", async () => {
      const { id, token } = await signUp();
      const link = await ask<{ token: string }>("POST", `/api/admin/users/${id}/reset`, { token: machineToken });
      const body = { current: password, password: "battery staple" };
      assert.equal((await ask("POST", "/api/auth/password", { token, body })).status, 204);
      const late = { token: link.body.token, password: "of a thief" };
      assert.equal(codeOf(await ask("POST", "/api/auth/reset", { body: late })), "link_over");
    });

    test("are reset by an admin's link: once, and a newer link takes its place", async () => {
      const { username, id, token } = await signUp();
      const link = async () =>
        (await ask<{ url: string; token: string }>("POST", `/api/admin/users/${id}/reset`, { token: machineToken }))
          .body;
      const [older, newer] = [await link(), await link()];
      assert.equal(newer.url, `${server.url}/reset#${newer.token}`);
      const reset = (linked: string, text = "battery staple") =>
        ask("POST", "/api/auth/reset", { body: { token: linked, password: text } });
      for (let tries = 0; tries < 5; tries++) await logIn(username, "wrong horse");
      assert.equal(codeOf(await reset(older.token)), "link_over");
      assert.equal(codeOf(await reset(newer.token, "short")), "password_too_short");
      assert.equal((await reset(newer.token)).status, 204);
      assert.equal(codeOf(await reset(newer.token)), "link_over");
      assert.equal(await me(token), 401);
      assert.equal((await logIn(username, "battery staple")).status, 200, "and who was locked out is let in");
      assert.equal((await ask("POST", `/api/admin/users/${newId()}/reset`, { token: machineToken })).status, 404);
    });
  });

  describe("signing up", () => {
    const signUpAt = (url: string, body: object) => asker(url)<LoginBody>("POST", "/api/auth/signup", { body });

    test("names are taken whatever their case, and are not just anything", async () => {
      await signUp("Grace");
      const again = await ask("POST", "/api/auth/signup", { body: { username: "grace", password } });
      assert.deepEqual([again.status, codeOf(again)], [409, "user_exists"]);
      for (const username of ["", " ada", "a b", "a/b", "-a", "x".repeat(65), "a\nb"])
        assert.equal((await ask("POST", "/api/auth/signup", { body: { username, password } })).status, 400, username);
      assert.equal((await ask("POST", "/api/auth/signup", { body: { username: "李雷", password } })).status, 201);
      assert.equal((await logIn("GRACE")).body.user.username, "Grace");
    });

    test("closed: for nobody; by invitation: once, with the role and groups of it", async () => {
      await ask("PUT", "/api/admin/groups/writers", { token: machineToken, body: { permissions: ["mail"] } });
      const invite = (body: object) =>
        ask<{ id: string; url: string; token: string }>("POST", "/api/admin/invites", { token: machineToken, body });
      const { token, url } = (await invite({ groups: ["writers"], role: "admin" })).body;
      assert.equal(url, `${server.url}/signup#${token}`);
      assert.equal((await invite({ groups: ["nobodys"] })).status, 404);
      const [closed, invited] = [
        await serveAccounts(database, { signup: "closed" }),
        await serveAccounts(database, { signup: "invite" }),
      ];
      const username = `invited-${newId()}`;
      assert.equal(codeOf(await signUpAt(closed.url, { username, password, invite: token })), "signup_closed");
      assert.equal(codeOf(await signUpAt(invited.url, { username, password })), "signup_closed");
      assert.equal(codeOf(await signUpAt(invited.url, { username, password, invite: `${token}x` })), "link_over");
      const { body } = await signUpAt(invited.url, { username, password, invite: token });
      const { body: seen } = await ask("GET", "/api/auth/me", { token: body.access_token });
      assert.deepEqual([seen["role"], seen["groups"]], ["admin", ["writers"]]);
      assert.equal(codeOf(await signUpAt(invited.url, { username: "other", password, invite: token })), "link_over");

      const withdrawn = (await invite({})).body;
      const listed = (await ask<{ data: { id: string }[] }>("GET", "/api/admin/invites", { token: machineToken })).body;
      assert.ok(listed.data.some(({ id }) => id === withdrawn.id));
      assert.equal((await ask("DELETE", `/api/admin/invites/${withdrawn.id}`, { token: machineToken })).status, 204);
      assert.equal(
        codeOf(await signUpAt(invited.url, { username: "other", password, invite: withdrawn.token })),
        "link_over",
      );
      await Promise.all([closed.close(), invited.close()]);
    });

    test("from one place few may sign up in an hour", async () => {
      for (let count = 0; count < 20; count++) await signUp();
      const more = await ask("POST", "/api/auth/signup", { body: { username: "one-more", password } });
      assert.deepEqual([more.status, codeOf(more)], [429, "too_many_tries"]);
    });

    test("what logging in needs is told to everybody", async () => {
      const { body } = await ask("GET", "/api/auth/settings");
      assert.deepEqual(body, { mode: "accounts", signup: "open", oidc: null });
    });
  });

  describe("API keys of one's own", () => {
    test("are made, used, listed and revoked; nobody revokes another's", async () => {
      const [ann, bob] = [await signUp(), await signUp()];
      const made = await ask<{ key: { id: string }; text: string }>("POST", "/api/auth/keys", {
        token: ann.token,
        body: { label: "laptop", scopes: ["*"] },
      });
      assert.equal(made.status, 201);
      const { key, text } = made.body;
      assert.equal(await me(text), 200);
      assert.equal((await ask("DELETE", `/api/auth/keys/${key.id}`, { token: bob.token })).status, 404);
      assert.equal((await ask("DELETE", `/api/auth/keys/${key.id}`, { token: text })).status, 403, "no key makes keys");
      assert.equal((await ask("DELETE", `/api/auth/keys/${key.id}`, { token: ann.token })).status, 204);
      assert.equal(await me(text), 401);
      const { body } = await ask<{ data: { label: string; revokedAt: string | null }[] }>("GET", "/api/auth/keys", {
        token: ann.token,
      });
      assert.deepEqual(
        body.data.map(({ label, revokedAt }) => [label, revokedAt !== null]),
        [["laptop", true]],
      );
    });

    test("end at their time, also while they are remembered", async () => {
      const { token } = await signUp();
      const { body } = await ask<{ key: { id: string }; text: string }>("POST", "/api/auth/keys", {
        token,
        body: { label: "short", scopes: ["*"], expiresInDays: 1 },
      });
      assert.equal(await me(body.text), 200);
      await database.query("update api_keys set expires_at = now() where id = $1", [body.key.id]);
      const fresh = await serveAccounts(database);
      assert.equal((await asker(fresh.url)("GET", "/api/auth/me", { token: body.text })).status, 401);
      await fresh.close();
      const soon = await ask<{ text: string }>("POST", "/api/auth/keys", {
        token,
        body: { label: "soon", scopes: ["*"], expiresInDays: 0.5 / 86_400 },
      });
      let status = 200;
      while (status === 200) status = await me(soon.body.text);
      assert.equal(status, 401);
    });

    test("with scopes they may less, and can make nothing that may more", async () => {
      const { token } = await signUp();
      const make = (body: object, by = token) =>
        ask<{ text: string }>("POST", "/api/auth/keys", { token: by, body: { label: "narrow", ...body } });
      const { text } = (await make({ scopes: ["model:gpt-*", "agent:chat"] })).body;
      const { body } = await ask("GET", "/api/auth/me", { token: text });
      assert.deepEqual(body["permissions"], ["model:gpt-*", "agent:chat"]);
      assert.equal(codeOf(await make({ scopes: ["*"] }, text)), "key_scoped");
      const change = await ask("POST", "/api/auth/password", {
        token: text,
        body: { current: password, password: "battery staple" },
      });
      assert.equal(codeOf(change), "key_scoped");
      for (const scopes of [undefined, [], [" "], ["a b"], [""], ["threads"], ["threads:reed"], ["thread:read"]])
        assert.equal((await make({ scopes })).status, 400);
    });

    test("an admin's key is an admin's only if it says so", async () => {
      const { id, token } = await signUp();
      await ask("PATCH", `/api/admin/users/${id}`, { token: machineToken, body: { role: "admin" } });
      const keyWith = async (...scopes: string[]) =>
        (await ask<{ text: string }>("POST", "/api/auth/keys", { token, body: { label: "k", scopes } })).body.text;
      const users = async (by: string) => (await ask("GET", "/api/admin/users", { token: by })).status;
      assert.deepEqual(
        [await users(token), await users(await keyWith("admin")), await users(await keyWith("*"))],
        [200, 200, 200],
      );
      assert.equal(await users(await keyWith("agent:*", "tool:*", "model:*")), 403);

      const narrow = await keyWith("admin", "model:gpt-*");
      const other = await signUp();
      const as = (method: string, path: string, body?: object) =>
        ask(method, `/api/admin${path}`, { token: narrow, ...(body && { body }) });
      const waysIn = [
        await as("POST", "/users", { name: `boss-${newId()}`, role: "admin" }),
        await as("POST", "/invites", { role: "admin" }),
        await as("PATCH", `/users/${other.id}`, { role: "admin" }),
        await as("POST", `/users/${id}/keys`, { label: "whole", scopes: ["*"] }),
        await as("POST", `/users/${id}/reset`),
      ];
      assert.deepEqual(waysIn.map(codeOf), Array<string>(5).fill("key_scoped"), "no way in that may more than it does");
      assert.equal((await as("POST", `/users/${other.id}/reset`)).status, 201, "of users it keeps the accounts");
      assert.equal((await as("POST", "/users", { name: `user-${newId()}` })).status, 201);
      await ask("PATCH", `/api/admin/users/${id}`, { token: machineToken, body: { role: "user" } });
    });
  });

  describe("groups", () => {
    const all = ["agent:*", "collection:*", "model:*", "room:*", "tool:*"];
    const admin = <Body = Record<string, unknown>>(method: string, path: string, body?: object) =>
      ask<Body>(method, `/api/admin/groups${path}`, { token: machineToken, ...(body && { body }) });
    const permissionsOf = async (token: string) =>
      (await ask<{ permissions: string[] }>("GET", "/api/auth/me", { token })).body.permissions;

    test("grant permissions to their members, at once", async () => {
      const { id, token } = await signUp();
      assert.deepEqual(await permissionsOf(token), all);
      assert.equal((await admin("PUT", "/mailers", { permissions: ["mail", "mail"] })).status, 200);
      assert.equal((await admin("PUT", `/mailers/members/${id}`)).status, 204);
      assert.deepEqual(await permissionsOf(token), [...all, "mail"].sort());
      assert.deepEqual((await admin("GET", "/mailers/members")).body["data"], [
        { id, name: (await ask("GET", "/api/auth/me", { token })).body["username"] },
      ]);
      assert.equal((await admin("DELETE", `/mailers/members/${id}`)).status, 204);
      assert.deepEqual(await permissionsOf(token), all);
      assert.equal((await admin("PUT", `/mailers/members/${newId()}`)).status, 404);
      assert.equal((await admin("PUT", `/nobodys/members/${id}`)).status, 404);
      assert.equal((await admin("PUT", `/everyone/members/${id}`)).status, 404);
      assert.equal((await admin("DELETE", "/mailers")).status, 204);
      assert.equal((await admin("DELETE", "/mailers")).status, 404);
      assert.equal((await admin("PUT", "/mailers", { permissions: ["two words"] })).status, 400);
    });

    test("everyone is in everyone, which may grant less than it did at first", async () => {
      const { token } = await signUp();
      type Listed = { data: { name: string; permissions: string[]; members: number }[] };
      assert.deepEqual((await admin<Listed>("GET", "")).body.data[0], {
        name: "everyone",
        permissions: all,
        members: 0,
      });
      await admin("PUT", "/everyone", { permissions: ["agent:chat"] });
      assert.deepEqual(await permissionsOf(token), ["agent:chat"]);
      assert.deepEqual((await admin<Listed>("GET", "")).body.data.filter(({ name }) => name === "everyone").length, 1);
      await admin("PUT", "/everyone", { permissions: [] });
      assert.deepEqual(await permissionsOf(token), []);
      await admin("DELETE", "/everyone");
      assert.deepEqual(await permissionsOf(token), all);
    });
  });

  test("in local mode nobody logs in, and nobody has to", async () => {
    const local = await serve(
      servicesWith({ models: createModels({ models: [] }), users: (await accountServices(database)).users }),
    );
    const askLocal = asker(local.url);
    assert.equal((await askLocal("GET", "/api/auth/me")).body["username"], "owner");
    assert.deepEqual((await askLocal("GET", "/api/auth/settings")).body, {
      mode: "local",
      signup: "closed",
      oidc: null,
    });
    for (const path of ["/api/auth/login", "/api/auth/signup"])
      assert.equal(codeOf(await askLocal("POST", path, { body: { username: "ada", password } })), "no_login");
    assert.equal((await askLocal("GET", "/login")).status, 404);
    assert.equal((await askLocal("GET", "/api/auth/me")).headers.get("ratelimit-limit"), null);
    await local.close();
  });
});
