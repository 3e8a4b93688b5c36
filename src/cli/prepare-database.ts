import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { silentLog } from "../protocol/base/log.ts";
import { createTimetable } from "../run/engine/timetable.ts";
import { openDatabase } from "../store/driver/open.ts";
import { migrate } from "../store/schema/migrate.ts";
import { preparedDatabase } from "../store/schema/prepared-database.ts";

/**
 * A program of the set-up: keeps a database without rows, with all tables and those of pg-boss, for every first start to
 * copy. To make one takes seconds and 500 MB. Nothing in it is an installation's own: secrets and ids are made at the first start.
 */
async function prepareDatabase(target: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), "new-"));
  try {
    const database = await openDatabase({ dataDirectory: folder });
    try {
      await migrate(database);
      await (await createTimetable({ database, log: silentLog })).stop();
    } finally {
      await database.close();
    }
    await openToReaders(join(folder, "db"));
    // Another process may have been first; both made the same.
    if (!existsSync(target)) renameSync(join(folder, "db"), target);
    removeOthers(target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those of other versions, and what was left unfinished an hour ago. */
function removeOthers(target: string): void {
  for (const path of globSync(join(dirname(target), "*"))) {
    const isAtWork = basename(path).startsWith("new-") && Date.now() - statSync(path).mtimeMs < 3_600_000;
    if (path !== target && !isAtWork) rmSync(path, { recursive: true, force: true });
  }
}

/** The server may run as another user than its set-up. */
async function openToReaders(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}

const target = preparedDatabase();
if (!existsSync(target)) {
  process.stderr.write("colloquy: preparing the database, some seconds\n");
  await prepareDatabase(target);
}
