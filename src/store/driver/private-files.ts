import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Conflict } from "../../protocol/base/errors.ts";

/** The part of a mode that is left to who owns a file. */
export const ownersMode = ~0o077;

/** Takes from all other users of this machine what they may do with a file or folder. Throws Conflict `not_owner`. */
export function makePrivate(path: string): void {
  const { mode } = lstatSync(path);
  if (isClosed(mode)) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch (cause) {
    throw new Conflict(
      `Other users can read ${path}, and this can't be changed: give it to the user who runs the server (chown), or take their rights away.`,
      { code: "not_owner", cause },
    );
  }
}

/**
 * Makes all files of a database private: earlier versions left them readable for anyone who could open the data directory. Its
 * folder is closed first, so that nothing can be reached any more, and one file last: if both are closed, all is.
 */
export function makeDatabasePrivate(directory: string): void {
  const last = join(directory, "PG_VERSION");
  if (isClosed(lstatSync(directory).mode) && isClosed(lstatSync(last).mode)) return;
  makePrivate(directory);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (path !== last && (entry.isFile() || entry.isDirectory())) makePrivate(path);
  }
  makePrivate(last);
}

function isClosed(mode: number): boolean {
  return (mode & ~ownersMode) === 0;
}
