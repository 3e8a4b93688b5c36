import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { readFileSync } from "node:fs";
import { createTokens } from "../src/people/tokens.ts";
import { allRoutes } from "../src/http/all-routes.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { scopes, scopesFor } from "../src/protocol/base/scopes.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createApiKey } from "../src/store/people/api-keys.ts";
import { createWebSession } from "../src/store/people/web-sessions.ts";
import { buildPage } from "./build-page.ts";
import { namedBy, namedSecond, otherAnswers, rightRequests } from "./foreign-things.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import type { RouteAccess, Things } from "./access-rows.ts";
import { routeAccess } from "./route-access.ts";

const secret = "a secret of the route table";
const lifeMs = 60 * 60_000;

/** Somebody with an account: an API key, and a token that could be in a cookie. */
type Person = { readonly id: string; readonly key: string; readonly token: string };

let colloquy: Colloquy;
let user: Person;
let other: Person;
let admin: Person;
let disabled: Person;
let expired: string;
let things: Things;

before(async () => {
  buildPage();
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_AUTH__MODE: "accounts",
    COLLOQUY_SECRET: secret,
    COLLOQUY_PROBE: "false",
    // The table asks more in a minute than anybody may.
    COLLOQUY_AUTH__REQUESTS_PER_MINUTE: "0",
    COLLOQUY_PORT: "0",
  };
  colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("routes") }), { log: silentLog });
  [user, other, admin, disabled] = await Promise.all([
    person("user"),
    person("other"),
    person("admin", "admin"),
    person("disabled"),
  ]);
  await json("PATCH", `/api/admin/users/${disabled.id}`, colloquy.token, { disabled: true });
  const session = await createWebSession(colloquy.database.query, { userId: user.id, label: "", lifeMs });
  expired = await tokens().sign({ sessionId: session.id, userId: user.id, expiresAt: new Date(Date.now() - 1000) });
  things = await makeThings();
});
after(() => colloquy.stop());

const tokens = () => createTokens(colloquy.database.query, { secret, lifeMs });

async function json<Body>(method: string, path: string, token: string, body?: unknown): Promise<Body> {
  const response = await fetch(colloquy.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return (await response.json()) as Body;
}

async function person(name: string, role: "admin" | "user" = "user"): Promise<Person> {
  const made = await json<{ user: { id: string }; key: string }>("POST", "/api/admin/users", colloquy.token, {
    name,
    role,
  });
  const { id: userId } = made.user;
  const { id: sessionId, expiresAt } = await createWebSession(colloquy.database.query, { userId, label: "", lifeMs });
  return { id: userId, key: made.key, token: await tokens().sign({ sessionId, userId, expiresAt }) };
}

async function makeThings(): Promise<Things> {
  const make = <Body>(path: string, body: unknown, method = "POST") => json<Body>(method, path, user.key, body);
  const thread = await make<{ id: string }>("/api/threads", {});
  const message = { content: "hi" };
  const run = await make<{ id: string }>(`/api/threads/${thread.id}/runs`, { agent: "assistant", message });
  await (
    await fetch(`${colloquy.url}/api/runs/${run.id}/events`, { headers: { authorization: `Bearer ${user.key}` } })
  ).text();
  const schedule = await make<{ id: string }>("/api/schedules", { agent: "assistant", prompt: "hi", every: "1d" });
  const key = await json<{ key: { id: string } }>("POST", "/api/auth/keys", user.token, {
    label: "made",
    scopes: ["*"],
  });
  const { share } = await make<{ share: { id: string } }>(`/api/threads/${thread.id}/shares`, {});
  const invite = await json<{ id: string }>("POST", "/api/admin/invites", colloquy.token, {});
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new Blob(["some text"], { type: "text/plain" }), "a.txt");
  const uploaded = await fetch(`${colloquy.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.key}` },
    body: form,
  });
  const upload = (await uploaded.json()) as { id: string };
  const login = await createWebSession(colloquy.database.query, { userId: user.id, label: "", lifeMs });
  const grant = newId();
  await colloquy.database.query("insert into grants (id, user_id, tool, pattern) values ($1, $2, 'now', $3::jsonb)", [
    grant,
    user.id,
    JSON.stringify({ exact: "x" }),
  ]);
  const collection = await make<{ id: string }>("/api/rag/collections", { name: "mine" });
  const files = `/api/rag/collections/${collection.id}/documents`;
  const { data: added } = await make<{ data: { document: { id: string } }[] }>(files, { name: "a", text: "a" });
  const document = added[0]!.document.id;
  while ((await json<{ status: string }>("GET", `/api/rag/documents/${document}`, user.key)).status !== "ready");
  const room = await make<{ id: string }>("/api/rooms", { kind: "analysis" });
  const task = await make<{ id: number }>("/api/tasks", { title: "mine" });
  const folder = await make<{ id: string }>("/api/folders", { name: "mine" });
  const conversation = await make<{ id: string }>("/v1/conversations", { items: [{ role: "user", content: "hi" }] });
  const listed = await json<{ first_id: string }>("GET", `/v1/conversations/${conversation.id}/items`, user.key);
  const ids = {
    conversation: conversation.id,
    conversationItem: listed.first_id,
    response: `resp_${run.id.replaceAll("-", "")}_0`,
    room: room.id,
    task: String(task.id),
    folder: folder.id,
    collection: collection.id,
    document,
    thread: thread.id,
    run: run.id,
    schedule: schedule.id,
    key: key.key.id,
    share: share.id,
  };
  await make("/api/rag/query", { question: "a", collections: ["mine"] });
  const { data: traces } = await json<{ data: { id: string }[] }>("GET", "/api/rag/traces", user.key);
  const said = await json<{ data: { id: string; kind: string }[] }>("GET", `/api/threads/${thread.id}/items`, user.key);
  const message0 = said.data.find(({ kind }) => kind === "message")!.id;
  const members = await json<{ you: string }>("GET", `/api/rooms/${room.id}`, user.key);
  const more = { trace: traces[0]!.id, message: message0, item: message0, handle: members.you };
  return { ...ids, ...more, invite: invite.id, upload: upload.id, login: login.id, user: disabled.id, grant };
}

/** Only the status: some answers are streams without an end. */
async function statusOf(
  method: string,
  path: string,
  access: RouteAccess,
  headers: Record<string, string>,
): Promise<number> {
  const { body } = access;
  const response = await fetch(colloquy.url + path, {
    method,
    redirect: "manual",
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...access.headers, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("every route has a row here, and no row is of a route that is gone", () => {
  const routes = allRoutes.flatMap(([methods, path]) => [methods].flat().map((method) => `${method} ${path}`));
  const rows = Object.keys(routeAccess);
  const without = routes.filter((route) => !rows.includes(route));
  const gone = rows.filter((row) => !routes.includes(row));
  assert.deepEqual({ without, gone }, { without: [], gone: [] });
});

test("nobody gets or changes what is another's, by any route of the document that takes an id", async () => {
  const { paths } = await json<{ paths: Record<string, Record<string, object>> }>("GET", "/openapi.json", other.token);
  const before = await rowsOf(user.id);
  const [unnamed, wrong]: [string[], string[]] = [[], []];
  for (const [path, operations] of Object.entries(paths).filter(([each]) => each.includes("{"))) {
    const thing = namedBy.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1];
    if (thing === undefined) unnamed.push(path);
    if (thing === undefined || thing === "open") continue;
    const filled = path
      .replace(/\{\w+\}/, things[thing])
      .replaceAll(/\{(\w+)\}/g, (_, name: string) => (namedSecond[name] ? things[namedSecond[name]] : "1"));
    for (const method of Object.keys(operations).filter((each) => each !== "head")) {
      const route = `${method.toUpperCase()} ${path}`;
      const row = routeAccess[route.replaceAll(/\{path\}/g, "*").replaceAll(/\{(\w+)\}/g, ":$1")];
      const request = { for: "owner", ...row, ...rightRequests[route]?.(things) } as const;
      const status = await statusOf(method.toUpperCase(), filled, request, bearer(other.token));
      const isRefused = status === 404 || status === 403 || status === otherAnswers[route];
      if (!isRefused) wrong.push(`${route}: ${status}`);
    }
  }
  assert.deepEqual({ unnamed, wrong }, { unnamed: [], wrong: [] });
  assert.deepEqual(await rowsOf(user.id), before);
});

/** A sum of each table's rows of a user; what is only noted of a look is left out. */
async function rowsOf(userId: string): Promise<Record<string, string | null>> {
  const { query } = colloquy.database;
  const tables = await query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'user_id' order by 1`,
  );
  const sums: Record<string, string | null> = {};
  for (const { name } of tables) {
    const [row] = await query<{ sum: string | null }>(
      `select md5(string_agg(line, ' ' order by line)) as sum from
         (select (to_jsonb(t) - 'last_used_at')::text as line from "${name}" t where user_id = $1) as lines`,
      [userId],
    );
    sums[name] = row!.sum;
  }
  return sums;
}

test("no route lets a key in that has all scopes but those that it needs", async () => {
  const keys = new Map<string, Promise<string>>();
  const keyWithout = (lacked: readonly string[]): Promise<string> => {
    const left = scopes.filter((scope) => !lacked.includes(scope));
    const made = keys.get(left.join()) ?? makeKey(left);
    keys.set(left.join(), made);
    return made;
  };
  const makeKey = async (left: readonly string[]) => {
    const { query } = colloquy.database;
    return (await createApiKey(query, { userId: admin.id, label: "lacks", scopes: left })).text;
  };
  const wrong: string[] = [];
  for (const [methods, path, { needs, open }] of allRoutes) {
    if (needs === "nothing" || (open && open.length === 0)) continue;
    const lacked = [...scopesFor(needs), ...(needs.includes("own") ? ["ask"] : [])];
    for (const method of [methods].flat()) {
      const route = `${method} ${path}`;
      const access = { ...routeAccess[route]!, headers: {} };
      const at = access.path?.(things) ?? path.replaceAll(/:\w+/g, things.thread);
      const status = await statusOf(method, at, access, bearer(await keyWithout(lacked)));
      if (status !== 403) wrong.push(`${route}: ${status}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("the page on security says what each scope opens", () => {
  const rows = [...scopes, "account"].map((scope) => {
    const opened = allRoutes.filter(([, , { needs }]) => (Array.isArray(needs) ? needs : [needs]).includes(scope));
    const told = opened.map(([methods, path, { needs }]) => {
      const mark = needs.includes("own") ? "°" : "";
      return `\`${[methods].flat().join(", ")} ${path.replaceAll(/:(\w+)/g, "{$1}")}\`${mark}`;
    });
    return `| ${scope === "account" ? "none: a login" : `\`${scope}\``} | ${told.join(", ")} |`;
  });
  const page = readFileSync("docs/security.md", "utf8");
  const [, table] = /<!-- scopes -->\n([^]*?)<!-- \/scopes -->/.exec(page) ?? [];
  const normal = (line: string) => line.replaceAll(/ +/g, " ").trim();
  const written = (table ?? "").split("\n").map(normal).filter(Boolean).slice(2);
  assert.deepEqual(written, rows.map(normal), rows.join("\n"));
});

for (const [route, access] of Object.entries(routeAccess)) {
  test(`${route} is for ${access.for}`, async () => {
    const [method = "", ownPath = ""] = route.split(" ");
    const path = access.path?.(things) ?? ownPath;
    const ask = (headers: Record<string, string>) => statusOf(method, path, access, headers);
    const { status = 200 } = access;
    const open = access.for === "everybody";
    const cookie = `colloquy_session=${user.token}`;
    const isSafe = method === "GET";
    const seen = {
      "no login": await ask({}),
      "expired token": await ask(bearer(expired)),
      "disabled user": await ask(bearer(disabled.key)),
      "forged token": await ask(bearer(`${user.token.slice(0, -2)}xx`)),
      ...(!isSafe && {
        "cookie without the header of a page": await ask({ cookie }),
        "cookie from another site's page": await ask({ cookie, "x-colloquy-page": "1", origin: "http://evil.example" }),
      }),
      "other user": await ask(bearer(other.token)),
      // What is deleted goes with the last of these.
      ...(access.for === "admins"
        ? { user: await ask(bearer(user.key)), admin: await ask(bearer(admin.token)) }
        : { admin: await ask(bearer(admin.token)), user: await ask({ cookie, "x-colloquy-page": "1" }) }),
    };
    const outside = open ? status : 401;
    const foreign = { everybody: status, users: status, owner: 404, admins: 403 }[access.for];
    assert.deepEqual(seen, {
      "no login": outside,
      "expired token": outside,
      "disabled user": outside,
      "forged token": outside,
      ...(!isSafe && {
        "cookie without the header of a page": open ? status : 403,
        "cookie from another site's page": open ? status : 403,
      }),
      "other user": foreign,
      ...(access.for === "admins"
        ? { user: 403, admin: status }
        : { admin: access.for === "owner" ? (access.admin ?? 404) : status, user: status }),
    });
  });
}
