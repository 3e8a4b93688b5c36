import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { createModels } from "../src/models/registry.ts";
import { type Caller, callerOf } from "../src/protocol/base/callers.ts";
import type { McpServersConfig, McpServerState } from "../src/protocol/agents/mcp-servers.ts";
import type { Database } from "../src/store/driver/database.ts";
import { createMcpCredentials } from "../src/store/secrets/mcp-credentials.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { createUser } from "../src/store/people/users.ts";
import { createMcpSignIns } from "../src/tools/mcp/sign-in/mcp-sign-ins.ts";
import { createSignIns } from "../src/tools/mcp/sign-in/sign-ins.ts";
import { type Protected, signInAs, startProtected } from "./authorization-server.ts";
import { testContext, testServers } from "./mcp-servers.ts";
import { freshDataDirectory } from "./pglite.ts";
import { serve, servicesWith } from "./serve.ts";

const secret = "a secret of tests";
let database: Database;
let ada: Caller;
let bob: Caller;
before(async () => {
  database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(database);
  const [first, second] = [
    await createUser(database.query, { name: "ada", role: "user" }),
    await createUser(database.query, { name: "bob", role: "user" }),
  ];
  [ada, bob] = [callerOf(first, "api-key"), callerOf(second, "api-key")];
});
after(() => database.close());

let mail: Protected;
let node: Awaited<ReturnType<typeof startNode>>;
beforeEach(async () => {
  mail = await startProtected();
  node = await startNode();
});
afterEach(async () => {
  await node.close();
  await mail.close();
  await database.query("delete from mcp_credentials");
});

/** What a process of ours has of this, with its routes; users log in by `ck_<name>`. */
async function startNode(servers: McpServersConfig = configOf()) {
  let url = "";
  const base = () => url;
  const signIns = createSignIns({ credentials: createMcpCredentials(database.query, secret), secret, base });
  const mcpServers = testServers(servers, { credentialsFor: signIns.credentialsFor });
  const models = createModels({ models: [] });
  const serving = await serve(
    servicesWith({
      models,
      mcp: createMcpSignIns(mcpServers, signIns, base),
      access: {
        mode: "accounts",
        findByKey: async (key) => {
          const user = [ada, bob].find(({ name }) => key === `ck_${name}`);
          return user && { user: { ...user, id: user.userId, disabled: false } };
        },
      },
    }),
  );
  url = serving.url;
  const request = (caller: Caller, method: string, path: string) =>
    fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ck_${caller.name}` } });
  const [source] = mcpServers.sources.filter(({ name }) => name === "mail");
  const toolsOf = async (caller: Caller) => {
    await source!.ready(caller, AbortSignal.timeout(5000));
    return source!.tools(caller);
  };
  return {
    url,
    request,
    toolsOf,
    names: async (caller: Caller) => (await toolsOf(caller)).map(({ name }) => name),
    async call(caller: Caller, name: string) {
      const tool = (await toolsOf(caller)).find((each) => each.name === name);
      assert.ok(tool, name);
      return tool.execute({}, { ...testContext, caller });
    },
    async state(caller: Caller): Promise<McpServerState> {
      const { data } = (await (await request(caller, "GET", "/api/mcp/servers")).json()) as { data: McpServerState[] };
      return data.find(({ name }) => name === "mail")!;
    },
    async signIn(caller: Caller, user = caller.name): Promise<Response> {
      const answer = await request(caller, "POST", "/api/mcp/servers/mail/sign-in");
      assert.equal(answer.status, 200, await answer.clone().text());
      const { url: address } = (await answer.json()) as { url: string };
      const there = await fetch(`${address}&as=${user}`, { redirect: "manual" });
      return fetch(there.headers.get("location") ?? "");
    },
    async close() {
      await serving.close();
      await mcpServers.close();
      await models.close();
    },
  };
}

function configOf(): McpServersConfig {
  return { mail: { url: mail.url, auth: { type: "oauth", issuer: mail.issuer } } };
}

async function signOut(user: Caller): Promise<{ readonly revoked: boolean; readonly reason?: string }> {
  const answer = await node.request(user, "DELETE", "/api/mcp/servers/mail/sign-in");
  return (await answer.json()) as { readonly revoked: boolean; readonly reason?: string };
}

test("who has not signed in is told where to; a link from there leads to tools of their own", async () => {
  const before = await node.state(ada);
  assert.equal(before.state, "sign-in needed");
  assert.match(before.signIn ?? "", /\/api\/mcp\/sign-in\?ticket=/);
  assert.deepEqual(await node.names(ada), ["mail_sign_in"]);
  const told = await node.call(ada, "mail_sign_in");
  const { url } = told.data as { url: string };
  assert.ok(told.content.includes(url));
  const page = await signInAs("ada", url);
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(await page.text(), /You are signed in to mail\. You may close this page\./);
  assert.deepEqual(await node.names(ada), ["mail_letters_of_ada"]);
  assert.deepEqual(await node.call(ada, "mail_letters_of_ada"), { content: "letters of ada" });
  const now = await node.state(ada);
  assert.deepEqual([now.state, now.signIn, now.tools], ["ready", undefined, 1]);
  assert.deepEqual(mail.faults, []);
});

test("two users have their own tokens and their own tools; signing out takes them away", async () => {
  await node.signIn(ada);
  assert.equal((await node.state(bob)).state, "sign-in needed");
  await node.signIn(bob);
  assert.deepEqual(await node.names(ada), ["mail_letters_of_ada"]);
  assert.deepEqual(await node.names(bob), ["mail_letters_of_bob"]);
  assert.equal((await node.call(bob, "mail_letters_of_bob")).content, "letters of bob");
  assert.deepEqual(await signOut(ada), { revoked: true });
  assert.deepEqual([mail.tokensOf("ada"), mail.tokensOf("bob")], [0, 2]);
  assert.deepEqual(await node.names(ada), ["mail_sign_in"]);
  assert.deepEqual(await node.names(bob), ["mail_letters_of_bob"]);
});

test("signing out holds here, whether or not the other side takes the login back", async () => {
  await node.signIn(ada);
  mail.behaviour.isDown = true;
  const failed = await signOut(ada);
  assert.equal(failed.revoked, false);
  assert.match(failed.reason ?? "", /did not take the refresh_token back \(HTTP 503\)/);
  assert.deepEqual(await node.names(ada), ["mail_sign_in"]);
  assert.match((await signOut(ada)).reason ?? "", /You were not signed in/);
  mail.behaviour.isDown = false;
  mail.behaviour.revokes = false;
  await node.signIn(bob);
  assert.match((await signOut(bob)).reason ?? "", /takes no login back/);
  assert.deepEqual(await node.names(bob), ["mail_sign_in"]);
});

test("what is stored is sealed, outlives the process, and opens for no other address", async () => {
  await node.signIn(ada);
  const [row] = await database.query<{ login: string; sign_in: string | null }>("select * from mcp_credentials");
  assert.equal(row?.sign_in, null);
  assert.ok(!/token/.test(Buffer.from(row?.login ?? "", "base64url").toString("latin1")));
  await node.close();
  node = await startNode();
  assert.deepEqual(await node.names(ada), ["mail_letters_of_ada"]);
  await node.close();
  const other = await startProtected();
  node = await startNode({ mail: { url: other.url, auth: { type: "oauth", issuer: other.issuer } } });
  assert.deepEqual(await node.names(ada), ["mail_sign_in"]);
  await other.close();
});

test("tokens are renewed before they end, by one at a time, each refresh token once", async () => {
  // The next one lives for an hour.
  mail.behaviour.expiresIn = 0;
  await node.signIn(ada);
  mail.behaviour.expiresIn = 3600;
  await Promise.all([node.names(ada), node.names(ada)]);
  assert.deepEqual(await node.names(ada), ["mail_letters_of_ada"]);
  assert.equal(mail.counts.renewals, 1);
  assert.deepEqual(mail.faults, []);
});

test("nodes don't renew the same token twice", async () => {
  mail.behaviour.expiresIn = 0;
  await node.signIn(ada);
  mail.behaviour.expiresIn = 3600;
  const other = await startNode();
  const names = await Promise.all([node.names(ada), other.names(ada)]);
  assert.deepEqual(names, [["mail_letters_of_ada"], ["mail_letters_of_ada"]]);
  assert.equal(mail.counts.renewals, 1);
  assert.deepEqual(mail.faults, []);
  await other.close();
});

test("a token that the server refuses before its end is renewed once, unseen", async () => {
  await node.signIn(ada);
  await node.names(ada);
  mail.revoke("ada", "access");
  const calls = await Promise.all([1, 2, 3].map(() => node.call(ada, "mail_letters_of_ada")));
  assert.deepEqual(
    calls.map(({ content }) => content),
    ["letters of ada", "letters of ada", "letters of ada"],
  );
  assert.equal(mail.counts.renewals, 1);
});

test("a login that is revoked ends in a word about where to sign in; the tools stay in view", async () => {
  await node.signIn(ada);
  await node.names(ada);
  mail.revoke("ada", "all");
  const { content, isError } = await node.call(ada, "mail_letters_of_ada");
  assert.equal(isError, true);
  assert.match(content, /mail did not do letters_of_ada: .*The user must sign in first, at http:\S+ticket=/);
  const [row] = await database.query<{ login: string | null }>("select login from mcp_credentials");
  assert.equal(row?.login, null);
  assert.equal((await node.state(ada)).state, "sign-in needed");
  await node.signIn(ada);
  assert.equal((await node.call(ada, "mail_letters_of_ada")).content, "letters of ada");
});

test("a server that refuses every token is left in peace", async () => {
  await node.signIn(ada);
  await node.names(ada);
  mail.behaviour.refusesAll = true;
  const before = mail.counts.requests;
  const answers = [];
  for (let n = 0; n < 30; n++) answers.push(await node.call(ada, "mail_letters_of_ada"));
  assert.ok(answers.every(({ isError }) => isError));
  assert.match(answers.at(-1)?.content ?? "", /must sign in first/);
  assert.equal(mail.counts.renewals, 1);
  assert.ok(mail.counts.requests - before < 30, `${mail.counts.requests - before} requests`);
});

test("an authorization server that is away takes no login away", async () => {
  await node.signIn(ada);
  await node.names(ada);
  mail.behaviour.isDown = true;
  mail.revoke("ada", "access");
  assert.equal((await node.call(ada, "mail_letters_of_ada")).isError, true);
  const [row] = await database.query<{ login: string | null; renewed_by: Date | null }>(
    "select * from mcp_credentials",
  );
  assert.ok(row?.login);
  assert.equal(row?.renewed_by, null);
});

test("an authorization server that is not what it says, or not the one that was asked, gets no code", async () => {
  mail.behaviour.returnedIssuer = "https://evil.example";
  const back = await node.signIn(ada);
  assert.equal(back.status, 503);
  assert.match(await back.text(), /Sign-in to mail failed/);
  mail.behaviour.returnedIssuer = undefined;
  mail.behaviour.issuer = "https://evil.example";
  const begun = await node.request(ada, "POST", "/api/mcp/servers/mail/sign-in");
  assert.equal(begun.status, 503);
  assert.equal(mail.counts.exchanges, 0);
  assert.equal((await node.state(ada)).state, "sign-in needed");
});

test("a way back counts once, for the sign-in that was begun last, and not if it was forged", async () => {
  const begin = async () =>
    ((await (await node.request(ada, "POST", "/api/mcp/servers/mail/sign-in")).json()) as { url: string }).url;
  const backOf = async (address: string) =>
    (await fetch(`${address}&as=ada`, { redirect: "manual" })).headers.get("location") ?? "";
  const older = await backOf(await begin());
  const newer = await backOf(await begin());
  const forged = new URL(newer);
  const [body = ""] = (forged.searchParams.get("state") ?? "").split(".");
  const ticket = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
  const changed = Buffer.from(JSON.stringify({ ...ticket, userId: bob.userId })).toString("base64url");
  forged.searchParams.set("state", `${changed}.${(forged.searchParams.get("state") ?? "").split(".")[1]}`);
  assert.equal((await fetch(forged)).status, 400);
  assert.equal((await fetch(newer)).status, 200);
  assert.equal((await fetch(newer)).status, 400);
  assert.equal((await fetch(older)).status, 400);
  const denied = new URL(await backOf(await begin()));
  denied.searchParams.delete("code");
  denied.searchParams.set("error", "<b>access_denied");
  const page = await fetch(denied);
  assert.equal(page.status, 400);
  assert.match(await page.text(), /did not sign you in: &#60;b&#62;access_denied/);
});

test("where nobody signs in, or nothing is, that is said", async () => {
  assert.equal((await node.request(ada, "POST", "/api/mcp/servers/mcp_trader/sign-in")).status, 400);
  assert.equal((await node.request(ada, "POST", "/api/mcp/servers/nothing/sign-in")).status, 404);
  assert.equal((await fetch(`${node.url}/api/mcp/servers`)).status, 401);
});
