import { execFileSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makePrivate } from "./private-files.ts";

const program = fileURLToPath(new URL("make-database.ts", import.meta.url));

/**
 * Makes a database in a folder that isn't there yet: a copy of `prepared`, if there is one. A crash on the way must not leave half a
 * database, so it gets its name when it is whole and on disk.
 */
export function makeDatabase(directory: string, prepared: string | undefined): void {
  removeUnfinished(directory);
  // Of its own name: what a killed start has left running still writes into its own.
  const unfinished = mkdtempSync(`${directory}.new-`);
  if (prepared === undefined || !copied(prepared, unfinished)) makeEmpty(unfinished);
  makePrivate(unfinished);
  const entries = readdirSync(unfinished, { recursive: true, withFileTypes: true });
  for (const entry of entries) makeDurable(join(entry.parentPath, entry.name));
  renameSync(unfinished, directory);
  makeDurable(dirname(directory));
}

function removeUnfinished(directory: string): void {
  for (const name of readdirSync(dirname(directory)))
    if (name.startsWith(`${basename(directory)}.new`))
      rmSync(join(dirname(directory), name), { recursive: true, force: true });
}

/** False if this user can't read it. */
function copied(prepared: string, folder: string): boolean {
  if (!existsSync(prepared)) return false;
  try {
    cpSync(prepared, folder, { recursive: true });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) throw error;
    rmSync(folder, { recursive: true });
    return false;
  }
}

/**
 * In a process of its own: what it takes is given back, and for the few seconds that PostgreSQL needs to make its tables, the optimizing
 * compiler takes more than it gives: a third of the CPU and 600 MB.
 */
function makeEmpty(folder: string): void {
  execFileSync(process.execPath, ["--liftoff-only", "--disable-warning=ExperimentalWarning", program, folder], {
    stdio: ["ignore", "ignore", "pipe"],
  });
}

function makeDurable(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
