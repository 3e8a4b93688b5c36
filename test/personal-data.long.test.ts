import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { anyDatabase, type TestDatabases } from "./databases.ts";
import { temporaryFolder } from "./pglite.ts";
import { until } from "./run-suite.ts";
import { password } from "./accounts.ts";

type Person = { readonly id: string; readonly key: string };
type Erasure = { id: string; step: string; problem: string | null; doneAt: string | null };

// Within a suite of its own, which ends before its database does.
anyDatabase((databases) => describe("a server", () => suite(databases)));

function suite(databases: TestDatabases): void {
  let colloquy: Colloquy;
  let data: string;
  before(async () => {
    const { url, dataDirectory } = await databases.place();
    data = dataDirectory;
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: dataDirectory,
      ...(url === undefined ? {} : { DATABASE_URL: url }),
      COLLOQUY_AUTH__MODE: "accounts",
      COLLOQUY_SESSIONS__MIRROR: "true",
      COLLOQUY_PROBE: "false",
      COLLOQUY_PORT: "0",
    };
    colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("personal") }), { log: silentLog });
  });
  after(() => colloquy.stop());

  const ask = (person: Pick<Person, "key">, method: string, path: string, body?: unknown) =>
    fetch(colloquy.url + path, {
      method,
      headers: {
        authorization: `Bearer ${person.key}`,
        ...(body instanceof FormData || body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
  async function json<Body>(person: Pick<Person, "key">, method: string, path: string, body?: unknown): Promise<Body> {
    const response = await ask(person, method, path, body);
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as Body;
  }
  const root = () => ({ key: colloquy.token });
  async function person(name: string, role: "admin" | "user" = "user"): Promise<Person> {
    const { user } = await json<{ user: { id: string } }>(root(), "POST", "/api/admin/users", { name, role });
    const { token } = await json<{ token: string }>(root(), "POST", `/api/admin/users/${user.id}/reset`);
    await json(root(), "POST", "/api/auth/reset", { token, password });
    const login = { username: name, password };
    // A login: no key may all that a person may.
    const { access_token: key } = await json<{ access_token: string }>(root(), "POST", "/api/auth/login", login);
    return { id: user.id, key };
  }
  const query = () => colloquy.database.query;

  /** An account with something of everything. */
  async function busyPerson(name: string) {
    const who = await person(name);
    await json(root(), "PUT", "/api/admin/budgets", { user: who.id, period: "month", tokens: 1_000_000 });
    const thread = await json<{ id: string }>(who, "POST", "/api/threads", { title: `${name}'s thread` });
    const form = new FormData();
    form.append("file", new Blob([`a file of ${name}`], { type: "text/plain" }), "näme (1).txt");
    const { data: files } = await json<{ data: { id: string }[] }>(who, "POST", "/api/uploads", form);
    const run = await json<{ id: string }>(who, "POST", `/api/threads/${thread.id}/runs`, {
      agent: "assistant",
      message: { content: `List the tasks of ${name}`, files: [files[0]!.id] },
    });
    await (await ask(who, "GET", `/api/runs/${run.id}/events`)).text();
    const made = new FormData();
    made.append("file", new Blob(["x".repeat(100_000)]), "long.txt");
    await json(who, "POST", `/api/threads/${thread.id}/files`, made);
    await json(who, "POST", "/api/schedules", { agent: "assistant", prompt: "hi", every: "1d" });
    await json(who, "POST", `/api/threads/${thread.id}/shares`, {});
    await json(who, "POST", "/api/auth/keys", { label: `${name}'s laptop`, scopes: ["*"] });
    await json(who, "POST", "/api/rag/collections", { name: `${name}s`, embeddingModel: "none" });
    await query()("insert into grants (id, user_id, tool, pattern) values ($1, $2, 'now', $3::jsonb)", [
      newId(),
      who.id,
      JSON.stringify({ exact: "x" }),
    ]);
    await query()(
      "insert into rag_traces (id, user_id, collection_ids, run_id, question, trace) values ($1, $2, '{}', $3, 'what now?', '{}')",
      [newId(), who.id, run.id],
    );
    await query()(
      "insert into deliveries (id, user_id, hook, body, next_try) values ($1, $2, 'https://hook.example/private', $3::jsonb, 'infinity')",
      [newId(), who.id, JSON.stringify({ type: "run.done", run: run.id })],
    );
    await query()("insert into room_callers (message_id, thread_id, user_id, caller) values ($1, $2, $3, $4::jsonb)", [
      newId(),
      thread.id,
      who.id,
      JSON.stringify({ userId: who.id, name, role: "user" }),
    ]);
    return { ...who, thread: thread.id, run: run.id, upload: files[0]!.id };
  }

  test("a person saves all that there is of them, and nobody else does but an admin", async () => {
    const ann = await busyPerson("ann");
    const other = await person("otto");
    const folder = temporaryFolder("export");
    const unpack = async (response: Response) => {
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "application/gzip");
      const archive = join(folder, "all.tar.gz");
      writeFileSync(archive, Buffer.from(await response.arrayBuffer()));
      await promisify(execFile)("tar", ["-xzf", archive, "-C", folder]);
    };
    await unpack(await ask(ann, "GET", "/api/auth/me/export"));
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    const rows = (name: string) =>
      read(`${name}-00001.jsonl`)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const account = JSON.parse(read("account.json")) as { account: { name: string; hasPassword: boolean } };
    assert.deepEqual([account.account.name, account.account.hasPassword], ["ann", true]);
    assert.deepEqual(
      rows(`threads/${ann.thread}/items`).map(({ seq, kind }) => [seq, kind]),
      ["message", "message", "call", "result", "message", "state"].map((kind, at) => [at + 1, kind]),
    );
    assert.equal(read(`threads/${ann.thread}/files/long.txt`).length, 100_000);
    assert.equal(read(`uploads/${ann.upload}/näme (1).txt`), "a file of ann");
    assert.deepEqual(
      rows("keys").map(({ label }) => label),
      ["first", "ann's laptop"],
    );
    for (const name of [
      "threads",
      "runs",
      "uploads",
      "schedules",
      "shares",
      "grants",
      "model-calls",
      "budgets",
      "audit",
      "collections",
      "limits",
      "spending",
      "questions",
      "signals",
      "room-messages",
    ])
      assert.ok(rows(name).length > 0, name);
    const everything = globSync("**/*.{json,jsonl}", { cwd: folder }).map(read).join("\n");
    const secrets = await query()<{ secret: string }>(
      "select hash as secret from api_keys union all select token_hash from shares",
    );
    for (const { secret } of secrets) assert.ok(!everything.includes(secret), "a hash");
    assert.ok(!everything.includes(ann.key));
    assert.ok(!everything.includes("hook.example"));

    assert.equal((await ask(other, "GET", `/api/admin/users/${ann.id}/export`)).status, 403);
    const byAdmin = await ask(root(), "GET", `/api/admin/users/${ann.id}/export`);
    await unpack(byAdmin);
    await until(async () => {
      const { data: rows } = await json<{ data: { path: string }[] }>(root(), "GET", "/api/admin/audit?limit=100");
      return rows.some(({ path }) => path === `/api/admin/users/${ann.id}/export`);
    }, "the row of the audit log");
    assert.equal((await ask(root(), "GET", `/api/admin/users/${newId()}/export`)).status, 404);
    const scoped = await json<{ text: string }>(ann, "POST", "/api/auth/keys", { label: "s", scopes: ["*"] });
    assert.equal((await ask({ key: scoped.text }, "GET", "/api/auth/me/export")).status, 403);
  });

  test("an export of two thousand items and of a thread that goes meanwhile comes to its end", async () => {
    const who = await person("long");
    const thread = await json<{ id: string }>(who, "POST", "/api/threads", {});
    await query()("update threads set next_seq = 2001 where id = $1", [thread.id]);
    await query()(
      `insert into items (thread_id, seq, id, user_id, kind, body)
       select $1, n, gen_random_uuid(), $2, 'message', jsonb_build_object('role', 'user', 'content', repeat('x', 3000))
       from generate_series(1, 2000) n`,
      [thread.id, who.id],
    );
    const response = await ask(who, "GET", "/api/auth/me/export");
    assert.equal((await ask(who, "GET", "/api/auth/me/export")).status, 409);
    const folder = temporaryFolder("export");
    writeFileSync(join(folder, "a.tar.gz"), Buffer.from(await response.arrayBuffer()));
    await promisify(execFile)("tar", ["-xzf", join(folder, "a.tar.gz"), "-C", folder]);
    const pages = globSync(`threads/${thread.id}/items-*.jsonl`, { cwd: folder });
    assert.ok(pages.length >= 4);
    const lines = pages.flatMap((page) => readFileSync(join(folder, page), "utf8").trim().split("\n"));
    assert.equal(lines.length, 2000);
    // Who goes away in the midst of it may come again.
    await (await ask(who, "GET", "/api/auth/me/export")).body?.cancel();
    await until(
      async () => (await ask(who, "GET", "/api/auth/me/export").then((again) => again.arrayBuffer())).byteLength > 1000,
    );
  });

  test("a person is erased: all that is theirs goes, what others hold keeps its order, the audit log keeps what happened", async () => {
    const eve = await busyPerson("eve");
    const otto = await person("kept");
    const theirs = await json<{ id: string }>(otto, "POST", "/api/threads", { title: "kept" });
    const run = await json<{ id: string }>(otto, "POST", `/api/threads/${theirs.id}/runs`, {
      agent: "assistant",
      message: { content: "hi" },
    });
    await (await ask(otto, "GET", `/api/runs/${run.id}/events`)).text();
    const [counter] = await query()<{ next: number }>(
      "update threads set next_seq = next_seq + 2 where id = $1 returning next_seq - 2 as next",
      [theirs.id],
    );
    const said = newId();
    await query()(
      `insert into items (thread_id, seq, id, user_id, kind, author, body) values
       ($1, $2, $3, $4, 'message', 'eve', '{"role": "user", "content": "eve was here"}'),
       ($1, $2::bigint + 1, $5, $6, 'summary', null, jsonb_build_object('content', 'eve said things', 'upToSeq', $2::bigint))`,
      [theirs.id, counter!.next, said, eve.id, newId(), otto.id],
    );
    // A run of hers in a thread of somebody else, as in a room, which wrote something.
    const written = newId();
    await query()(
      `insert into runs (id, thread_id, user_id, agent, status, root_run, definition_hash, caller, ended_at)
       select $1, thread_id, $2, agent, status, $1, definition_hash, caller || '{"name": "eve"}', ended_at
       from runs where id = $3`,
      [written, eve.id, run.id],
    );
    await query()(
      `insert into budgets (root_run, user_id, steps_max, calls_max, writes_max, left_ms) values ($1, $2, 1, 1, 1, 0)`,
      [written, eve.id],
    );
    await query()(
      `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, result)
       values ($1, '1', 0, $2, 'post', 'unknown', $3, '', '{"content": "eve wrote this"}')`,
      [written, eve.id, newId()],
    );
    // One at work, and one that waits behind it.
    const waiting = await json<{ id: string }>(eve, "POST", "/api/threads", {});
    for (const content of ["use the tool now", "and then?"])
      await json(eve, "POST", `/api/threads/${waiting.id}/runs`, { agent: "assistant", message: { content } });
    const file = globSync(`uploads/**/${eve.upload}-*`, { cwd: data })[0]!;
    assert.ok(existsSync(join(data, file)));
    await until(() => existsSync(join(data, "sessions", `${eve.thread}.json`)));

    const erase = (confirm: string, id = eve.id) => ask(root(), "POST", `/api/admin/users/${id}/erase`, { confirm });
    assert.equal((await erase("Eve")).status, 400);
    assert.equal((await ask(otto, "POST", `/api/admin/users/${eve.id}/erase`, { confirm: "eve" })).status, 403);
    const { data: users } = await json<{ data: { id: string; name: string }[] }>(root(), "GET", "/api/admin/users");
    const owner = users.find(({ name }) => name === "owner")!;
    assert.equal((await erase("owner", owner.id)).status, 409);
    assert.equal((await ask(eve, "GET", "/api/auth/me")).status, 200);

    const begun = await erase("eve");
    assert.equal(begun.status, 202);
    const { id } = (await begun.json()) as Erasure;
    const state = () => json<Erasure>(root(), "GET", `/api/admin/erasures/${id}`);
    await until(async () => (await state()).doneAt !== null, "the erasure").catch(async () =>
      assert.fail(JSON.stringify(await state())),
    );
    assert.equal((await ask(eve, "GET", "/api/auth/me")).status, 401);
    assert.equal((await erase("eve")).status, 404);

    // Nothing in any table but the record of it, and the id on what others hold.
    const tables = await query()<{ table: string; column: string }>(
      `select c.table_name as "table", c.column_name as "column" from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = 'public' and c.column_name = 'user_id' and t.table_type = 'BASE TABLE'`,
    );
    for (const { table } of tables) {
      const rows = await query()<{ id: string }>(`select * from ${table} where user_id = $1`, [eve.id]);
      const left = table === "erasures" || table === "items" ? 1 : 0;
      assert.equal(rows.length, left, `${table}: ${JSON.stringify(rows[0])}`);
    }
    assert.deepEqual(await query()("select user_id as of, result from ledger where run_id = $1", [written]), [
      { of: otto.id, result: { content: "" } },
    ]);
    assert.deepEqual(await query()("select user_id as of from budgets where root_run = $1", [written]), [
      { of: otto.id },
    ]);
    const named = await query()<{ count: number }>(
      "select count(*)::integer as count from audit_log where user_name = 'eve'",
    );
    assert.equal(named[0]!.count, 0);
    const [noted] = await query()<{ count: number }>(
      "select count(*)::integer as count from audit_log where path = $1 and status = 202",
      [`/api/admin/users/${eve.id}/erase`],
    );
    assert.equal(noted!.count, 1);

    const { data: items } = await json<{
      data: { seq: number; id: string; kind: string; author: unknown; body: unknown }[];
    }>(otto, "GET", `/api/threads/${theirs.id}/items`);
    assert.deepEqual(
      items.map(({ seq }) => seq),
      items.map((_, at) => at + 1),
    );
    const erased = items.find((item) => item.id === said)!;
    assert.deepEqual([erased.kind, erased.author, erased.body], ["message", null, { erased: true }]);
    assert.deepEqual(items.at(-1)!.body, { erased: true });
    const found = await json<{ data: unknown[] }>(otto, "GET", "/api/threads?search=eve%20was").catch(() => ({
      data: [],
    }));
    assert.ok(Array.isArray(found.data));
    assert.equal(existsSync(join(data, file)), false);
    for (const folder of ["sessions", "scratch"])
      assert.deepEqual(
        globSync(`${folder}/*`, { cwd: data }).filter((name) => name.includes(eve.thread) || name.includes(waiting.id)),
        [],
      );
    assert.ok(!readFileSync(join(data, "sessions", `${theirs.id}.json`), "utf8").includes("eve"));
    for (const { name, broken } of await checkInvariants(query())) assert.equal(broken, 0, name);
    // The conversation goes on.
    const more = await json<{ id: string }>(otto, "POST", `/api/threads/${theirs.id}/runs`, {
      agent: "assistant",
      message: { content: "go on" },
    });
    assert.match(await (await ask(otto, "GET", `/api/runs/${more.id}/events`)).text(), /"status":"done"/);
  });
}
