import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asker, codeOf, machineToken, secret, serveAccounts } from "../../test/accounts.ts";
import {
  browser,
  clientId,
  clientSecret,
  type IdentityProvider,
  startIdentityProvider,
} from "../../test/identity-provider.ts";
import { freshDataDirectory } from "../../test/pglite.ts";
import type { Database } from "../store/driver/database.ts";
import { migrate } from "../store/schema/migrate.ts";
import { openDatabase } from "../store/driver/open.ts";
import { createOidcLogin, type OidcSettings } from "./oidc.ts";
import { logInByOidc, type OidcMapping } from "./log-in-by-oidc.ts";

let database: Database;
let provider: IdentityProvider;
const closing: (() => Promise<void>)[] = [];

before(async () => {
  database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(database);
  provider = await startIdentityProvider();
});
after(async () => {
  for (const close of closing.reverse()) await close();
  await provider.close();
  await database.close();
});

const anybody: OidcMapping = { signup: true, allowedGroups: [], adminGroups: [] };

async function serveWith(mapping: Partial<OidcMapping> = {}, settings: Partial<OidcSettings> = {}) {
  const oidc = createOidcLogin(
    {
      issuer: provider.issuer,
      clientId,
      clientSecret,
      label: "Our login",
      scopes: ["openid", "profile", "email", "groups"],
      nameClaim: "preferred_username",
      groupsClaim: "groups",
      ...settings,
    },
    { secret, enter: logInByOidc(database, { ...anybody, ...mapping }) },
  );
  const server = await serveAccounts(database, { oidc, signup: "open" });
  closing.push(server.close, oidc.close);
  provider.allow(`${server.url}/api/auth/oidc/callback`);
  const loginAt = `${server.url}/api/auth/oidc/login`;
  const callback = `${server.url}/api/auth/oidc/callback`;
  return {
    ...server,
    callback,
    loginAt,
    /** What the server answers when the browser has come back; and who it then is. */
    async enter(name: string, web = browser(), begin = loginAt) {
      const back = await web.logInAs(name, begin, callback);
      const response = await web.ask(back);
      const me = await web.ask(`${server.url}/api/auth/me`);
      return { web, back, response, me: (await me.json()) as Record<string, unknown> };
    },
  };
}

test("whoever the provider knows gets an account, and the same one each time", async () => {
  const server = await serveWith();
  provider.people.set("ada-7", { preferred_username: "Ada L!", groups: [] });
  const first = await server.enter("ada-7", browser(), `${server.loginAt}?return=/docs`);
  assert.equal(first.response.status, 302);
  assert.equal(first.response.headers.get("location"), "/docs");
  assert.deepEqual([first.me["username"], first.me["role"], first.me["via"]], ["Ada-L-", "user", "session"]);
  provider.people.set("ada-7", { preferred_username: "ada.married", groups: [] });
  const again = await server.enter("ada-7");
  assert.equal(again.me["id"], first.me["id"]);
  const { body } = await server.ask("GET", "/api/auth/settings");
  assert.deepEqual(body["oidc"], { label: "Our login" });
  const [page] = [await server.ask<string>("GET", "/login")];
  assert.match(page.body, /<a href="api\/auth\/oidc\/login">Our login<\/a>/);
});

test("what comes back must be of this browser, whole, and of now", async () => {
  const server = await serveWith();
  provider.people.set("bob", { preferred_username: "bob", groups: [] });
  const web = browser();
  const back = await web.logInAs("bob", server.loginAt, server.callback);
  assert.equal(codeOf({ body: await (await browser().ask(back)).json() }), "sign_in_over", "another browser");
  const changed = (name: string, value: string) => {
    const url = new URL(back);
    url.searchParams.set(name, value);
    return url.href;
  };
  for (const [name, value] of [
    ["state", "other"],
    ["code", "other"],
    ["iss", "http://127.0.0.1:1"],
  ] as const) {
    const response = await web.ask(changed(name, value));
    assert.equal(codeOf({ body: await response.json() }), "oidc_failed", name);
    assert.equal(response.headers.get("set-cookie"), null);
  }
  const host = new URL(server.url).host;
  const kept = web.cookies(host).get("colloquy_trip")!;
  assert.ok(!Buffer.from(kept, "base64url").includes("verifier"), "what is kept is sealed");
  web.cookies(host).set("colloquy_trip", `${kept.slice(0, -2)}xx`);
  assert.equal(codeOf({ body: await (await web.ask(back)).json() }), "sign_in_over");
  const fresh = await server.enter("bob");
  assert.equal(fresh.response.status, 302);
  assert.ok(!fresh.web.cookies(host).has("colloquy_trip"));
  const replayed = await fresh.web.ask(fresh.back);
  assert.notEqual(replayed.status, 302, "a way back leads in once");
});

test("where one is sent afterwards is a place of this server", async () => {
  const server = await serveWith();
  for (const place of ["//evil.example", "https://evil.example", "/\\evil.example", "docs", ""])
    assert.equal(
      (await server.ask("GET", `/api/auth/oidc/login?return=${encodeURIComponent(place)}`)).status,
      400,
      place,
    );
});

test("groups there give roles and groups here, at each login", async () => {
  const server = await serveWith({ adminGroups: ["it"], allowedGroups: ["staff", "it"] });
  await server.ask("PUT", "/api/admin/groups/writers", { token: machineToken, body: { permissions: ["mail"] } });
  const seen = async (groups: string[]) => {
    provider.people.set("eve", { preferred_username: "eve", groups });
    const { me, response } = await server.enter("eve");
    return response.status === 302 ? [me["role"], me["groups"]] : codeOf({ body: await response.json() });
  };
  assert.equal(await seen(["guests"]), "group_refused");
  assert.deepEqual(await seen(["staff", "writers", "unknown"]), ["user", ["writers"]]);
  assert.deepEqual(await seen(["it"]), ["admin", []]);
  assert.deepEqual(await seen(["staff"]), ["user", []]);
});

test("a group that an admin has put somebody into stays, whatever the provider says", async () => {
  const server = await serveWith();
  provider.people.set("fay", { preferred_username: "fay", groups: ["readers"] });
  for (const name of ["readers", "team"])
    await server.ask("PUT", `/api/admin/groups/${name}`, { token: machineToken, body: { permissions: [] } });
  const { me } = await server.enter("fay");
  await server.ask("PUT", `/api/admin/groups/team/members/${String(me["id"])}`, { token: machineToken });
  provider.people.set("fay", { preferred_username: "fay", groups: [] });
  assert.deepEqual((await server.enter("fay")).me["groups"], ["team"]);
});

test("nobody takes over an account by choosing its name there; its owner connects the two", async () => {
  const server = await serveWith();
  const { username, token, id } = await server.signUp();
  provider.people.set("gus", { preferred_username: username, groups: [] });
  const taken = await server.enter("gus");
  assert.equal(codeOf({ body: await taken.response.json() }), "user_exists");

  const web = browser();
  const connecting = await web.ask(`${server.url}/api/auth/oidc/connect`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  const { url } = (await connecting.json()) as { url: string };
  assert.equal((await server.enter("gus", web, url)).me["id"], id);
  assert.equal((await server.enter("gus")).me["id"], id);

  const other = await server.signUp();
  const second = browser();
  const again = await second.ask(`${server.url}/api/auth/oidc/connect`, {
    method: "POST",
    headers: { authorization: `Bearer ${other.token}` },
  });
  const refused = await server.enter("gus", second, ((await again.json()) as { url: string }).url);
  assert.equal(codeOf({ body: await refused.response.json() }), "identity_taken");
});

test("without sign-up only those come in who have an account, and none who is disabled", async () => {
  const closed = await serveWith({ signup: false });
  provider.people.set("hal", { preferred_username: "hal", groups: [] });
  assert.equal(codeOf({ body: await (await closed.enter("hal")).response.json() }), "signup_closed");
  const open = await serveWith();
  const { me } = await open.enter("hal");
  assert.equal((await closed.enter("hal")).response.status, 302);
  await open.ask("PATCH", `/api/admin/users/${String(me["id"])}`, { token: machineToken, body: { disabled: true } });
  assert.equal(codeOf({ body: await (await open.enter("hal")).response.json() }), "account_disabled");
});

test("a provider that is not there is said to be, and asked again", async () => {
  const server = await serveWith({}, { issuer: "http://127.0.0.1:9" });
  const { status, body } = await asker(server.url)("GET", "/api/auth/oidc/login");
  assert.deepEqual([status, codeOf({ body })], [503, "oidc_failed"]);
  const wrong = await serveWith({}, { clientSecret: "wrong" });
  provider.people.set("ida", { preferred_username: "ida", groups: [] });
  const { response } = await wrong.enter("ida");
  assert.equal(codeOf({ body: await response.json() }), "oidc_failed");
});
