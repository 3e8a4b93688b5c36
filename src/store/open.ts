import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { InvalidInput, messageOf } from "../protocol/errors.ts";
import type { Log } from "../protocol/log.ts";
import type { Database } from "./database.ts";
import { takeLock } from "./lock.ts";
import { openPGlite } from "./pglite.ts";
import { openPostgres } from "./postgres.ts";
import { startUpkeep } from "./upkeep.ts";

export type OpenOptions = {
  /** `postgres://…`; absent: PGlite in the data directory. */
  readonly url?: string;
  readonly dataDirectory: string;
  /** Connections to PostgreSQL at most, besides the one for notifications. */
  readonly connections?: number;
  readonly log?: Log;
  /** What takes so long, in words for a person. */
  readonly onStep?: (text: string) => void;
};

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new InvalidInput(`The data directory ${folder} can't be made or used: ${messageOf(error)}`, {
      code: "data_unusable",
      cause: error,
    });
  }
}

/**
 * Opens the database, without migrating it. Throws Conflict `data_in_use` if another process has the data directory
 * open on PGlite, Unavailable if PostgreSQL can't be reached or is too old.
 */
export async function openDatabase({ url, dataDirectory, connections, log, onStep }: OpenOptions): Promise<Database> {
  makeFolder(dataDirectory);
  if (url !== undefined) return openPostgres({ url, connections, log });

  const lock = takeLock(dataDirectory);
  try {
    const pglite = await openPGlite({ directory: join(dataDirectory, "db"), onStep });
    const closePGlite = pglite.close;
    const stopUpkeep = startUpkeep(pglite, log);
    return Object.assign(pglite, {
      announce: lock.announce,
      token: lock.token,
      close: async () => {
        stopUpkeep();
        await closePGlite();
        lock.release();
      },
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}
