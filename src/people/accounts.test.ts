import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  accountServices,
  asker,
  codeOf,
  type LoginBody,
  machineToken,
  password,
  secret,
  serveAccounts,
} from "../../test/accounts.ts";
import { anyDatabase } from "../../test/databases.ts";
import { serve, servicesWith } from "../../test/serve.ts";
import { createModels } from "../models/registry.ts";
import { newId } from "../protocol/base/ids.ts";
import { ensureSetupLink, linkToken } from "../store/people/account-links.ts";
import type { Database } from "../store/driver/database.ts";
import { lacksAdmin } from "../store/people/users.ts";

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

  describe("the first admin", () => {
    test("is made of the owner by a link that works once, and keeps what local mode had", async () => {
      assert.equal(await lacksAdmin(database.query), true);
      const [owner] = await database.query<{ id: string }>("select id from users where is_owner");
      await database.query("insert into threads (id, user_id) values ($1, $2)", [newId(), owner!.id]);
      const setup = () => database.transaction((query) => ensureSetupLink(query, 60_000));
      const token = linkToken(secret, await setup());
      assert.equal(linkToken(secret, await setup()), token, "the same until it is used");

      const make = (body: object) => ask<LoginBody>("POST", "/api/auth/setup", { body });
      const taken = await signUp();
      assert.equal(codeOf(await make({ token, username: taken.username, password })), "user_exists");
      assert.equal(codeOf(await make({ token, username: "ada", password: "short" })), "password_too_short");
      for (const wrong of [`${token}x`, token.slice(0, -1) + (token.endsWith("A") ? "B" : "A"), "", "nonsense"])
        assert.equal(codeOf(await make({ token: wrong, username: "ada", password })), "link_over");
      const tries = await Promise.all([1, 2, 3].map(() => make({ token, username: "ada", password })));
      assert.deepEqual(tries.map(({ status }) => status).sort(), [201, 400, 400]);
      const { body } = tries.find(({ status }) => status === 201)!;
      assert.equal(body.user.id, owner!.id);
      assert.equal(await lacksAdmin(database.query), false);
      const { body: seen } = await ask("GET", "/api/auth/me", { token: body.access_token });
      assert.deepEqual(
        [seen["username"], seen["role"], seen["permissions"], seen["via"]],
        ["ada", "admin", ["*"], "session"],
      );
    });

    test("a link that is over makes nobody an admin", async () => {
      const link = await database.transaction((query) => ensureSetupLink(query, -1000));
      const body = { token: linkToken(secret, link), username: "late", password };
      assert.equal(codeOf(await ask("POST", "/api/auth/setup", { body })), "link_over");
      await database.query("delete from account_links");
    });
  });

  describe("logging in", () => {
    test("by name and password, in JSON or as an OAuth2 form; the token opens what it should", async () => {
      const { username, id } = await signUp();
      const { status, body, headers } = await logIn(username);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), ["access_token", "expires_in", "token_type", "user"]);
      assert.deepEqual([body.token_type, body.user], ["bearer", { id, username, role: "user" }]);
      assert.ok(body.expires_in > 3590 && body.expires_in <= 3600);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("set-cookie"), null);
      const form = await ask<LoginBody>("POST", "/api/auth/login", {
        body: String(new URLSearchParams({ grant_type: "password", username, password, scope: "" })),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      assert.equal(form.status, 200);
      for (const token of [body.access_token, form.body.access_token]) assert.equal(await me(token), 200);
    });

    test("an unknown name, a wrong password and an account without one get the same answer", async () => {
      const { username } = await signUp();
      const { body: made } = await ask<{ user: { name: string } }>("POST", "/api/admin/users", {
        token: machineToken,
        body: { name: `key-only-${newId()}` },
      });
      const answers = [
        await logIn(username, "wrong horse"),
        await logIn(username, "密".repeat(100)),
        await logIn(`nobody-${newId()}`),
        await logIn(made.user.name),
      ];
      for (const { status, body } of answers) {
        assert.equal(status, 401);
        const { code, message } = (body as unknown as { error: { code: string; message: string } }).error;
        assert.deepEqual([code, message], ["wrong_login", "Wrong name or password."]);
      }
    });

    test("after several failures one must wait, also with the right password; a success forgets them", async () => {
      const [{ username }, other] = [await signUp(), await signUp()];
      for (let tries = 0; tries < 4; tries++) assert.equal((await logIn(username, "wrong horse")).status, 401);
      assert.equal((await logIn(username)).status, 200);
      for (let tries = 0; tries < 5; tries++) assert.equal((await logIn(username, "wrong horse")).status, 401);
      const refused = await logIn(username.toUpperCase());
      assert.deepEqual([refused.status, codeOf(refused)], [429, "too_many_tries"]);
      const refusedRight = await logIn(username);
      const seconds = Number(refusedRight.headers.get("retry-after"));
      assert.ok(seconds > 0 && seconds <= 15, `wait ${seconds} s`);
      assert.equal((await logIn(other.username)).status, 200, "others are let in");
      await database.query("update login_failures set last_at = last_at - interval '20 seconds'");
      assert.equal((await logIn(username, "wrong horse")).status, 401);
      assert.ok(Number((await logIn(username)).headers.get("retry-after")) > 15, "the wait doubles");
      await database.query("update login_failures set last_at = last_at - interval '1 hour'");
      assert.equal((await logIn(username)).status, 200);
    });

    test("who tries many names from one place must wait as well", async () => {
      const { username } = await signUp();
      await database.query("delete from login_failures");
      for (let tries = 0; tries < 50; tries++) assert.equal((await logIn(`nobody-${tries}`)).status, 401);
      assert.equal(codeOf(await logIn(username)), "too_many_tries");
      const rows = await database.query<{ key: string }>("select key from login_failures");
      assert.ok(
        rows.every(({ key }) => /^[\w-]{43}$/.test(key)),
        "no name stands in the table",
      );
      await database.query("delete from login_failures");
    });

    test("a disabled account is logged out and can't log in; who does not know the password is not told", async () => {
      const { username, id, token } = await signUp();
      const disable = (disabled: boolean) =>
        ask("PATCH", `/api/admin/users/${id}`, { token: machineToken, body: { disabled } });
      assert.equal((await disable(true)).status, 200);
      assert.equal(await me(token), 401);
      assert.equal(codeOf(await logIn(username)), "account_disabled");
      assert.equal(codeOf(await logIn(username, "wrong horse")), "wrong_login");
      await disable(false);
      assert.equal(await me(token), 401, "a login that has ended does not come back");
      assert.equal((await logIn(username)).status, 200);
    });
  });

  describe("logins", () => {
    test("end by logging out, one by one, all others, and by an admin", async () => {
      const { username, id, token: first } = await signUp();
      const tokens: string[] = [];
      for (let count = 0; count < 3; count++) tokens.push((await logIn(username)).body.access_token);
      const [second = "", third = "", fourth = ""] = tokens;
      const { body } = await ask<{ data: { id: string; current: boolean; label: string }[] }>(
        "GET",
        "/api/auth/sessions",
        {
          token: second,
        },
      );
      assert.equal(body.data.length, 4);
      assert.equal(body.data.filter(({ current }) => current).length, 1);
      assert.equal((await ask("POST", "/api/auth/logout", { token: first })).status, 204);
      assert.deepEqual([await me(first), await me(second)], [401, 200]);
      const own = body.data.find(({ current }) => current)!;
      const stranger = await signUp();
      const end = (token: string, path = `/${own.id}`) => ask("DELETE", `/api/auth/sessions${path}`, { token });
      assert.equal((await end(stranger.token)).status, 404);
      assert.equal((await end(third)).status, 204);
      assert.deepEqual([await me(second), await me(third)], [401, 200]);
      assert.equal((await end(third, "")).status, 204);
      assert.deepEqual([await me(third), await me(fourth)], [200, 401]);
      assert.equal((await ask("DELETE", `/api/admin/users/${id}/sessions`, { token: machineToken })).status, 204);
      assert.equal(await me(third), 401);
    });

    test("of one account are a hundred at most", async () => {
      const { username, id } = await signUp();
      await database.query(
        `insert into web_sessions (id, user_id, label, expires_at, last_used_at)
         select gen_random_uuid(), $1, '', now() + interval '1 hour', now() - interval '1 hour' from generate_series(1, 150)`,
        [id],
      );
      const { body } = await logIn(username);
      const [row] = await database.query<{ count: number }>("select count(*) from web_sessions where user_id = $1", [
        id,
      ]);
      assert.equal(row!.count, 100);
      assert.equal(await me(body.access_token), 200);
    });
  });

  test("a token that was just used counts no longer than it says", async (t) => {
    const short = await serveAccounts(database, { tokenLifeMs: 5000 });
    t.after(short.close);
    const { username } = await short.signUp();
    const { access_token: token } = (await short.logIn(username)).body;
    const until = performance.now() + 25_000;
    assert.equal(await short.me(token), 200);
    while ((await short.me(token)) === 200) assert.ok(performance.now() < until, "it is still good");
  });

  test("a name that no text of the database may be is nobody's", async () => {
    const { status, body } = await ask("POST", "/api/auth/login", { body: { username: "a\0b", password } });
    assert.deepEqual([status, codeOf({ body })], [400, "invalid_text"]);
  });

  describe("in a browser", () => {
    const page = { "x-colloquy-page": "1" };
    const cookieOf = (headers: Headers) => /^colloquy_session=([^;]*)/.exec(headers.get("set-cookie") ?? "")?.[1] ?? "";

    test("the token is in a cookie that no script reads, and nothing in the answer", async () => {
      const { username } = await signUp();
      const body = { username, password, cookie: true };
      const { status, headers, body: answer } = await ask("POST", "/api/auth/login", { body, headers: page });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(answer).sort(), ["expires_in", "user"]);
      assert.match(
        headers.get("set-cookie")!,
        /^colloquy_session=[\w.-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/,
      );
      const cookie = `other=1; colloquy_session=${cookieOf(headers)}`;
      assert.equal((await ask("GET", "/api/auth/me", { headers: { cookie } })).status, 200);
      const behindProxy = { cookie, authorization: "Basic dXNlcjpwYXNz" };
      assert.equal((await ask("GET", "/api/auth/me", { headers: behindProxy })).status, 200, "a proxy's own login");
      const withToken = { cookie, authorization: "Bearer no-token" };
      assert.equal((await ask("GET", "/api/auth/me", { headers: withToken })).status, 401, "a token counts before it");
      const out = await ask("POST", "/api/auth/logout", { headers: { cookie, ...page } });
      assert.match(out.headers.get("set-cookie")!, /^colloquy_session=; Path=\/; Max-Age=0;/);
      assert.equal((await ask("GET", "/api/auth/me", { headers: { cookie } })).status, 401);
    });

    test("what changes something comes from a page of ours, or is refused", async () => {
      const { username } = await signUp();
      const body = { username, password, cookie: true };
      const { headers } = await ask("POST", "/api/auth/login", { body, headers: page });
      const cookie = `colloquy_session=${cookieOf(headers)}`;
      const change = async (more: Record<string, string>, method = "POST") =>
        (
          await ask(method, "/api/auth/keys", {
            headers: { cookie, ...more },
            ...(method === "POST" && { body: { label: "from a page", scopes: ["*"] } }),
          })
        ).status;
      assert.equal(await change(page), 201);
      assert.equal(await change({ ...page, origin: server.url }), 201);
      assert.equal(await change({}), 403, "without the header: a form of another site");
      assert.equal(await change({ origin: server.url }), 403);
      assert.equal(await change({ ...page, origin: "http://evil.example" }), 403);
      assert.equal(await change({ ...page, origin: "null" }), 403);
      assert.equal(
        await change({ origin: "http://evil.example" }, "GET"),
        200,
        "the browser shows the answer to nobody",
      );
      assert.equal(
        (await ask("POST", "/api/auth/login", { body, headers: { ...page, origin: "http://evil.example" } })).status,
        403,
        "nor does another site log anybody in",
      );
      const made = { username: `made-${newId()}`, password, cookie: true };
      const signUpThere = (more: object) =>
        ask("POST", "/api/auth/signup", { body: made, headers: { ...page, ...more } });
      assert.equal((await signUpThere({ origin: "http://evil.example" })).status, 403);
      assert.equal((await signUpThere({})).status, 201, "what was refused has made nothing");
    });

    test("behind TLS the cookie is sent over TLS only, and under the base path", async () => {
      const { username } = await signUp();
      const place = { corsOrigins: [], graceMs: 1000, publicUrl: "https://chat.example", basePath: "/colloquy" };
      const based = await serve(
        servicesWith({ models: createModels({ models: [] }), ...(await accountServices(database)), server: place }),
      );
      const askBased = asker(based.url);
      const body = { username, password, cookie: true };
      for (const prefix of ["", "/colloquy"]) {
        const { headers } = await askBased("POST", `${prefix}/api/auth/login`, {
          body,
          headers: { ...page, origin: "https://chat.example" },
        });
        assert.match(headers.get("set-cookie")!, /; Path=\/colloquy; .*; Secure$/);
      }
      assert.equal((await askBased("GET", "/colloquy")).headers.get("location"), "/colloquy/docs");
      assert.equal((await askBased("GET", "/colloquyx")).status, 404);
      const invited = await askBased<{ url: string }>("POST", "/colloquy/api/admin/invites", {
        token: machineToken,
        body: {},
      });
      assert.match(invited.body.url, /^https:\/\/chat\.example\/colloquy\/signup#/);
      await based.close();
    });

    test("the pages run one script of ours and nothing else", async () => {
      for (const path of ["/login", "/setup", "/signup", "/reset"]) {
        const { status, headers, body } = await ask<string>("GET", path);
        assert.equal(status, 200);
        assert.match(
          headers.get("content-security-policy")!,
          /^default-src 'none'; script-src 'sha256-[^ ']+'; style-src 'sha256-/,
        );
        assert.match(body, /<form method="post" data-post="api\/auth\//);
        // Or Firefox asks for /favicon.ico, which the policy forbids.
        assert.match(body, /<link rel="icon" href="mark.svg"/);
        assert.match(headers.get("content-security-policy")!, /; img-src 'self';/);
      }
    });
  });
});
