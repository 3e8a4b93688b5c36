import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ColloquyError, InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "./database.ts";
import { takeLock } from "./lock.ts";
import { addressOf, markNode, refuseOtherDatabase } from "./postgres-nodes.ts";
import { openPGlite } from "./pglite.ts";
import type { Deadlines } from "./statement-classes.ts";

export type DatabaseOptions = {
  /** `postgres://…`; absent: PGlite in the data directory. */
  readonly url?: string;
  readonly dataDirectory: string;
  /** Where a database lies that a new one on PGlite may begin with. Asked only if one is to be made. */
  readonly prepared?: () => string;
  /** Connections to PostgreSQL at most, besides one for notifications and one for signs of life. */
  readonly connections?: number;
  /** How long statements on PostgreSQL may take. */
  readonly deadlines?: Deadlines;
  readonly log?: Log;
  /** Called with a description of each long step, for a person. */
  readonly onStep?: (text: string) => void;
};

/** Whatever the disk refuses in the data directory, as a sentence. */
function using<Result>(folder: string, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    if (error instanceof ColloquyError) throw error;
    throw new InvalidInput(
      `The data directory ${folder} can't be made or used: ${messageOf(error)}. COLLOQUY_DATA names another one.`,
      { code: "data_unusable", cause: error },
    );
  }
}

/**
 * Opens the database, without migrating it. Throws Conflict `data_in_use` if another process has the data directory
 * open on PGlite, `other_database` if one serves PostgreSQL with it, Unavailable if PostgreSQL can't be reached or is too old.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, dataDirectory, prepared, connections, deadlines, log, onStep } = options;
  using(dataDirectory, () => mkdirSync(dataDirectory, { recursive: true, mode: 0o700 }));
  if (url !== undefined) {
    const { openPostgres } = await import("./postgres.ts");
    return markedWhenServing(await openPostgres({ url, connections, deadlines, log }), { url, dataDirectory, log });
  }
  refuseOtherDatabase(dataDirectory, undefined);

  const lock = using(dataDirectory, () => takeLock(dataDirectory));
  try {
    const directory = join(dataDirectory, "db");
    const begin = prepared && !existsSync(directory) ? { prepared: prepared() } : {};
    const pglite = await openPGlite({ directory, onStep, ...begin });
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

/** A data directory where no lock can be taken is no reason not to serve. */
function markedWhenServing(
  database: Database,
  { url, dataDirectory, log }: Required<Pick<DatabaseOptions, "url" | "dataDirectory">> & Pick<DatabaseOptions, "log">,
): Database {
  const { close } = database;
  let mark: { readonly release: () => void } | undefined;
  return Object.assign(database, {
    announce(server: { readonly url: string }) {
      try {
        mark ??= markNode(dataDirectory, { ...server, database: addressOf(url) });
      } catch (error) {
        log?.warn({ error: messageOf(error) }, "commands in other terminals can't see which database is served");
      }
    },
    close: async () => {
      await close();
      mark?.release();
    },
  });
}

const everyMs = 60_000;

/**
 * Does what autovacuum does on a server and nothing does in PGlite: without it dead rows pile up, and prepared
 * statements keep the plans of a time when the tables were small. Returns how to stop it.
 */
function startUpkeep(database: Database, log?: Log): () => void {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    keepUp(database)
      .catch((error: unknown) => log?.warn({ error: messageOf(error) }, "The upkeep of the database failed."))
      .finally(() => (running = false));
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** One round; resolves to the tables that had changed enough. One table at a time, since all other SQL waits meanwhile. */
export async function keepUp(database: Database): Promise<readonly string[]> {
  const changed = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
     where n_dead_tup > 200 + 0.2 * n_live_tup or n_mod_since_analyze > 100 + 0.1 * n_live_tup`,
  );
  for (const { name } of changed) await database.query(`vacuum (analyze) ${name}`);
  return changed.map(({ name }) => name);
}
