import type { Database } from "../src/store/driver/database.ts";

/** What stands in these was not put there by a test. */
const lasting = ["public.migrations", "pgboss.version", "pgboss.queue"];

/** Makes it as it was after its migration; nobody may be at work on it. */
export async function removeRows(database: Database): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'pgboss') and schemaname || '.' || tablename <> all($1)`,
    [lasting],
  );
  await database.transaction(async (query) => {
    // Its triggers refuse what no server does.
    await query("set local session_replication_role = replica");
    await query(`truncate ${tables.map(({ name }) => name).join(", ")} restart identity`);
  });
}
