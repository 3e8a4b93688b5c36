import { type Log } from "../protocol/log.ts";
import { messageOf } from "../protocol/errors.ts";
import type { Database } from "./database.ts";

const everyMs = 60_000;

/**
 * Does what autovacuum does on a server and nothing does in PGlite: without it dead rows pile up, and prepared
 * statements keep the plans of a time when the tables were small. Returns how to stop it.
 */
export function startUpkeep(database: Database, log?: Log): () => void {
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
