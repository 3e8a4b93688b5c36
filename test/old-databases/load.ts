import { readFileSync } from "node:fs";
import type { Database } from "../../src/store/driver/database.ts";

/** The migrations that a database of that time has; it has no baseline. */
export const oldCount = 21;

/**
 * Fills an empty database with a dump of one that commit b6b33be made and served. The dumps were made once, on each database by a
 * server of that commit: two accounts whose names look alike, each with a run that ended, a room, a schedule, a share, keys, an
 * upload and a document that was read, all through the API; by SQL the tables that this left empty, and a run that waits for
 * an answer with a message behind it. No table was empty. Of the tools in the definitions of runs two were kept. Then
 * `pg_dump --inserts --rows-per-insert=100 --schema=public --no-owner --no-privileges` (for PGlite that of
 * @electric-sql/pglite-tools), without its comments and settings.
 */
export async function loadOldDatabase({ kind, transaction }: Database): Promise<void> {
  const dump = readFileSync(new URL(`b6b33be-${kind}.sql`, import.meta.url), "utf8");
  await transaction(async (query) => {
    // Its collections have indexes of this kind; where there is no such extension the dump has none.
    if (kind === "pglite") await query("create extension pg_textsearch");
    // A dump defines functions before the tables that they ask.
    await query(`set local check_function_bodies = off; ${dump}`);
  });
}

export type Rows = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>;

/** All rows of all tables but `migrations`, each table's in one order. */
export async function allRows({ query }: Pick<Database, "query">): Promise<Rows> {
  const tables = await query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations' order by 1`,
  );
  const rows = new Map<string, Record<string, unknown>[]>();
  for (const { name } of tables) {
    const [primary] = await query<{ columns: string }>(
      `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_index
         join pg_attribute on attrelid = indrelid and attnum = any (indkey)
       where indrelid = quote_ident($1)::regclass and indisprimary`,
      [name],
    );
    const found = await query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from "${name}" t order by ${primary!.columns}`,
    );
    rows.set(
      name,
      found.map(({ row }) => row),
    );
  }
  return rows;
}

/** Rows with only the columns that the first ones have; what stands elsewhere by now is put back. */
export function withColumnsOf(old: Rows, now: Rows): Rows {
  const definitions = new Map(
    now.get("run_definitions")?.map((row) => [`${row["user_id"]} ${row["hash"]}`, row["body"]]),
  );
  const olderRuns = new Map(old.get("runs")?.map((row) => [row["id"], row]));
  now = new Map(now).set(
    "runs",
    now.get("runs")!.map((run) => ({
      ...run,
      definition: run["definition"] ?? definitions.get(`${run["user_id"]} ${run["definition_hash"]}`),
      // pg-boss's jobs of runs are gone, and the hash is that of what stands in the database.
      job_id: olderRuns.get(run["id"])?.["job_id"],
      definition_hash: olderRuns.get(run["id"])?.["definition_hash"],
    })),
  );
  return new Map(
    [...old].map(([table, [first]]) => [
      table,
      now.get(table)!.map((row) => Object.fromEntries(Object.keys(first!).map((column) => [column, row[column]]))),
    ]),
  );
}
