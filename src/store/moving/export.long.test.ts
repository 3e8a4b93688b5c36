import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { skipDatabase } from "../../../test/left-out.ts";
import { freshDataDirectory, temporaryFolder } from "../../../test/pglite.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Database } from "../driver/database.ts";
import { exportAll } from "./export.ts";
import { importAll, refuseHalfImported } from "./import.ts";
import { setMeta } from "../schema/meta.ts";
import { migrate } from "../schema/migrate.ts";
import { movedTables, tableRules } from "./moved-tables.ts";
import { openDatabase } from "../driver/open.ts";
import { createUser } from "../people/users.ts";

const strange = 'line\u2028separator, \u00e4, \ud83d\ude00, \\u0041, tab\t, quote" and\nline feed';

const skip = skipDatabase("postgres");
let server: PostgresServer;
const open: Database[] = [];
before(async () => {
  if (skip) return;
  server = await startPostgres();
});
after(async () => {
  await Promise.all(open.map((database) => database.close()));
  await server?.stop();
});

type DatabaseKind = Database["kind"];

async function opened(place: { readonly url?: string; readonly dataDirectory: string }): Promise<Database> {
  const database = await openDatabase(place);
  open.push(database);
  return database;
}

async function newPlace(kind: DatabaseKind): Promise<{ readonly database: Database; readonly dataDirectory: string }> {
  const dataDirectory = kind === "pglite" ? await freshDataDirectory() : temporaryFolder("data");
  const url = kind === "postgres" ? { url: await server.createDatabase() } : {};
  return { database: await opened({ dataDirectory, ...url }), dataDirectory };
}

/** A database with something in the tables whose rows are hard to move, and files. */
async function filled(kind: DatabaseKind) {
  const place = await newPlace(kind);
  const { database, dataDirectory } = place;
  await migrate(database);
  const { query } = database;
  await setMeta(query, "data_marker", "stays behind");
  const user = await createUser(query, { name: "ann", role: "admin" });
  const [threadId, runId] = [newId(), newId()];
  await query("insert into threads (id, user_id, title, next_seq) values ($1, $2, $3, 1204)", [
    threadId,
    user.id,
    strange,
  ]);
  await query(
    `with d as (insert into run_definitions (user_id, hash, body) values ($3, 'h', '{"temperature": 0.10}'))
     insert into runs (id, thread_id, user_id, agent, root_run, status, definition_hash, caller)
     values ($1, $2, $3, 'assistant', $1, 'queued', 'h', '{}')`,
    [runId, threadId, user.id],
  );
  await query(
    `insert into items (thread_id, seq, id, user_id, kind, body)
     select $1, n, gen_random_uuid(), $2, 'message', jsonb_build_object('role', 'user', 'content', $3::text || n)
     from generate_series(1, 1201) n`,
    [threadId, user.id, strange],
  );
  await query(
    `insert into items (thread_id, seq, id, user_id, run_id, kind, step, call_index, body) values
     ($1, 1202, gen_random_uuid(), $2, $3, 'call', '1', 0, '{}'), ($1, 1203, gen_random_uuid(), $2, $3, 'result', '1', 0, '{}')`,
    [threadId, user.id, runId],
  );
  await query(
    `insert into model_calls (id, asked, model, provider, started_at, total_ms) values ($1, '', '', '', '2026-01-02T03:04:05.678901+02', 0.1)`,
    [newId()],
  );
  await query(
    "insert into idempotency_keys (user_id, key, body_hash, run_id, thread_id) select $1, k, '', $2, $3 from unnest(array['b','A','a','B','_','-ä']) k",
    [user.id, runId, threadId],
  );
  for (const title of ["one", "two", "three"])
    await query("insert into tasks (user_id, title) values ($1, $2)", [user.id, title]);
  await query("delete from tasks where title = 'three'");
  await query(
    "insert into deltas (run_id, step, attempt, kind, off, body, thread_id) values ($1, '1', 1, 'text', 0, '', $2)",
    [runId, threadId],
  );

  const [collectionId, documentId] = [newId(), newId()];
  await query("insert into rag_collections (id, user_id, name, settings) values ($1, $2, 'plant', '{}')", [
    collectionId,
    user.id,
  ]);
  await query(
    `insert into rag_documents (id, collection_id, user_id, name, source, status, chunks) values ($1, $2, $3, 'a', '{}', 'ready', 3)`,
    [documentId, collectionId, user.id],
  );
  // One of its columns has the name of a thing that statements use.
  await query(
    `insert into rag_chunks (collection_id, document_id, ordinal, char_start, char_end, page, heading_path, heading, text, tokens)
     select $1, $2, n, 0, 1, nullif(n, 1), '{}', '', 'x' || n, 1 from generate_series(0, 2) n`,
    [collectionId, documentId],
  );

  mkdirSync(join(dataDirectory, "workspaces", "a b"), { recursive: true });
  mkdirSync(join(dataDirectory, "logs"), { recursive: true });
  writeFileSync(join(dataDirectory, "secret.key"), "secret", { mode: 0o600 });
  writeFileSync(join(dataDirectory, "workspaces", "a b", "ü.txt"), "text", { mode: 0o755 });
  writeFileSync(join(dataDirectory, "marker"), "stays behind");
  writeFileSync(join(dataDirectory, "logs", "prompts.log"), "stays behind");
  mkdirSync(join(dataDirectory, "nodes", "1-a"), { recursive: true });
  writeFileSync(join(dataDirectory, "nodes", "1-a", "token"), "stays behind");
  symlinkSync("/etc/passwd", join(dataDirectory, "workspaces", "link"));
  return { ...place, user };
}

const newFolder = () => join(temporaryFolder("export"), "export");

/** A copy that is broken off as soon as it says something that fits. */
function brokenOff(pattern: RegExp) {
  const control = new AbortController();
  return {
    signal: control.signal,
    onProgress: (text: string) => {
      if (pattern.test(text)) control.abort(new Error("broken off"));
    },
  };
}

test("every table has a rule, whose key is unique", async () => {
  const { database } = await newPlace("pglite");
  await migrate(database);
  const tables = await database.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  assert.deepEqual(tableRules.map(({ table }) => table).sort(), tables.map(({ name }) => name).sort());
  for (const { table, key } of movedTables) {
    const indexes = await database.query<{ columns: string }>(
      `select string_agg(a.attname, ',' order by a.attname) as columns from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
       where i.indrelid = $1::regclass and i.indisunique and i.indpred is null group by i.indexrelid having bool_and(a.attnotnull)`,
      [table],
    );
    assert.ok(
      indexes.some(({ columns }) => columns === [...key].sort().join()),
      `${table}: ${key.join()} is not unique`,
    );
  }
});

describe("everything moves", { skip }, () => {
  for (const [from, to] of [
    ["pglite", "postgres"],
    ["postgres", "pglite"],
  ] as const) {
    test(`from ${from} to ${to}`, async () => {
      const source = await filled(from);
      const folder = newFolder();
      const manifest = await exportAll(source.database, { dataDirectory: source.dataDirectory, folder });
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      assert.equal(manifest.tables.find(({ table }) => table === "items")!.rows, 1203);
      for (const { table, only = "true" } of movedTables) {
        const [all] = await source.database.query<{ rows: number }>(
          `select count(*) as rows from "${table}" where ${only}`,
        );
        assert.equal(manifest.tables.find((moved) => moved.table === table)?.rows, Number(all!.rows), table);
      }

      const target = await newPlace(to);
      await importAll(target.database, { dataDirectory: target.dataDirectory, folder });
      await refuseHalfImported(target.database.query);
      const both = (text: string) => Promise.all([source.database.query(text), target.database.query(text)]);
      for (const text of [
        "select * from items order by seq",
        "select * from model_calls",
        `select * from idempotency_keys order by key collate "C"`,
        "select * from threads",
        "select * from run_definitions",
        "select page, text, heading_path from rag_chunks order by ordinal",
      ]) {
        const [there, here] = await both(text);
        assert.deepEqual(here, there);
      }
      assert.deepEqual(await target.database.query("select key from meta union all select step from deltas"), []);
      const [task] = await target.database.query<{ id: number }>(
        "insert into tasks (user_id, title) values ($1, 'four') returning id",
        [source.user.id],
      );
      assert.equal(task!.id, 4, "no number is given out twice, even one whose row is gone");

      const file = join(target.dataDirectory, "workspaces", "a b", "ü.txt");
      assert.equal(readFileSync(file, "utf8"), "text");
      assert.equal(statSync(file).mode & 0o777, 0o755);
      assert.equal(statSync(join(target.dataDirectory, "secret.key")).mode & 0o777, 0o600);
      for (const path of ["marker", "logs", "nodes", "workspaces/link"])
        assert.equal(existsSync(join(target.dataDirectory, path)), false, path);

      const again = { dataDirectory: target.dataDirectory, folder };
      await assert.rejects(importAll(target.database, again), { code: "target_not_empty" });
      await assert.rejects(exportAll(source.database, again), { code: "export_finished" });
    });
  }
});

test("broken off, it goes on where it was", { skip }, async () => {
  const { database, dataDirectory } = await filled("pglite");
  const folder = newFolder();
  const control = new AbortController();
  let pages = 0;
  database.onTrip = (text) => {
    if (text.includes('from "items"') && ++pages === 3) control.abort(new Error("broken off"));
  };
  await assert.rejects(exportAll(database, { dataDirectory, folder, signal: control.signal }), /broken off/);
  await assert.rejects(importAll(database, { dataDirectory, folder }), { code: "export_unfinished" });
  // What a crash leaves behind: a piece of a page that was not noted any more.
  appendFileSync(join(folder, "items.jsonl"), "half a li");
  await database.close();

  const reopened = await opened({ dataDirectory });
  pages = 0;
  reopened.onTrip = (text) => {
    if (text.includes('from "items"')) pages++;
  };
  const said: string[] = [];
  const exported = { dataDirectory, folder, onProgress: (text: string) => said.push(text) };
  const manifest = await exportAll(reopened, exported);
  assert.deepEqual(said.slice(0, 1), ["items: 1203 rows"], "tables that were done are not read again");
  assert.equal(pages, 2, "nor are pages: one for the rest, one that finds no more");

  const target = await newPlace("postgres");
  const to = { dataDirectory: target.dataDirectory, folder };
  await assert.rejects(importAll(target.database, { ...to, ...brokenOff(/^items: /) }), /broken off/);
  await assert.rejects(refuseHalfImported(target.database.query), { code: "import_unfinished" });
  // As after a crash in the middle of a table.
  await setMeta(target.database.query, "import", JSON.stringify({ id: manifest.id, table: "items", lines: 500 }));
  await importAll(target.database, to);
  await refuseHalfImported(target.database.query);
});

test("an export of a database that was written to meanwhile takes all rows anew", async () => {
  const { database, dataDirectory, user } = await filled("pglite");
  const folder = newFolder();
  await assert.rejects(exportAll(database, { dataDirectory, folder, ...brokenOff(/^users: /) }), /broken off/);
  await createUser(database.query, { name: "bob", role: "user" });
  const manifest = await exportAll(database, { dataDirectory, folder });
  assert.equal(manifest.tables.find(({ table }) => table === "users")!.rows, 2, user.name);
});

test("a damaged export and a target in use are refused before anything is written", { skip }, async () => {
  const source = await filled("pglite");
  const folder = newFolder();
  await exportAll(source.database, { dataDirectory: source.dataDirectory, folder });
  const target = await newPlace("postgres");
  const to = { dataDirectory: target.dataDirectory, folder };
  const untouched = async () =>
    assert.deepEqual(await target.database.query("select to_regclass('users')::text as users"), [{ users: null }]);

  writeFileSync(join(target.dataDirectory, "secret.key"), "another");
  await assert.rejects(importAll(target.database, to), { code: "target_not_empty", message: /secret\.key/ });
  rmSync(join(target.dataDirectory, "secret.key"));
  const path = join(folder, "items.jsonl");
  const whole = readFileSync(path);
  writeFileSync(path, whole.toString().replace("separator", "Separator"));
  await assert.rejects(importAll(target.database, to), { code: "export_damaged", message: /items\.jsonl/ });
  writeFileSync(path, whole);
  await untouched();

  await importAll(target.database, to);
  const inUse = await filled("postgres");
  await assert.rejects(importAll(inUse.database, { ...to, dataDirectory: target.dataDirectory }), {
    code: "target_not_empty",
    message: /users/,
  });
  await assert.rejects(
    exportAll(source.database, { ...source, folder: join(source.dataDirectory, "backup") }),
    /can't be in the data directory/,
  );
});
