import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { freshDataDirectory, temporaryFolder } from "../../../test/pglite.ts";
import type { Database } from "./database.ts";
import { openDatabase } from "./open.ts";

/** What is made without a mode of its own can be read and written by everybody, until the end of the test. */
function umaskZero(context: TestContext): void {
  const before = process.umask(0);
  context.after(() => process.umask(before));
}

/** Every kind of file that PostgreSQL makes as it goes: relations, their maps, the log, temporary ones. */
async function work(database: Database): Promise<void> {
  await database.script("create table made (id integer primary key, text text)");
  await database.script("insert into made select n, repeat('text', 100) || n from generate_series(1, 2000) n");
  await database.script(
    "select pg_switch_wal(); set work_mem = '64kB'; create table sorted as select * from made order by text",
  );
  await database.script("vacuum full made");
  await database.script("vacuum analyze sorted");
  await database.script("checkpoint");
}

function everything(folder: string): { readonly path: string; readonly isFolder: boolean }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isFolder: entry.isDirectory(),
  }));
}

/** Paths with their modes, of files that are not 0600 and folders that are not 0700. */
function openToOthers(folder: string): string[] {
  const entries = everything(folder);
  assert.ok(entries.length > 900, `${entries.length} files and folders`);
  return entries.flatMap(({ path, isFolder }) => {
    const mode = statSync(path).mode & 0o777;
    return mode === (isFolder ? 0o700 : 0o600) ? [] : [`${mode.toString(8)} ${path}`];
  });
}

function openAll(folder: string): void {
  for (const { path, isFolder } of everything(folder)) chmodSync(path, isFolder ? 0o777 : 0o666);
}

test("a new database is its owner's alone, in a folder that others may look into", async (context) => {
  umaskZero(context);
  const dataDirectory = join(temporaryFolder("data"), "shared");
  mkdirSync(dataDirectory, { mode: 0o755 });
  const database = await openDatabase({ dataDirectory });
  context.after(database.close);
  await work(database);
  assert.deepEqual(openToOthers(dataDirectory), [], "while it is open");
  await database.close();
  assert.deepEqual(openToOthers(dataDirectory), [], "when it is closed");
  assert.equal(statSync(dataDirectory).mode & 0o777, 0o755, "whose folder it is decides about the folder");
});

test("a database that was open to others is closed to them at the next start", async (context) => {
  umaskZero(context);
  const dataDirectory = await freshDataDirectory({ migrated: false });
  openAll(dataDirectory);
  const database = await openDatabase({ dataDirectory });
  context.after(database.close);
  assert.deepEqual(openToOthers(dataDirectory), [], "before anything is done");
  await work(database);
  await database.close();
  assert.deepEqual(openToOthers(dataDirectory), [], "afterwards");
});

test("a start that was cut off while it closed a database to others is made up for", async (context) => {
  const dataDirectory = await freshDataDirectory({ migrated: false });
  const directory = join(dataDirectory, "db");
  openAll(dataDirectory);
  // The folder is closed first, so that nothing can be reached; the file that says so last.
  chmodSync(directory, 0o700);
  const database = await openDatabase({ dataDirectory });
  context.after(database.close);
  assert.deepEqual(openToOthers(dataDirectory), []);
});
