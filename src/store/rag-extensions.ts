import type { Query } from "../protocol/tools.ts";

export type SearchExtension = "vector" | "pg_textsearch";

/** Of those two, what is installed in the database. */
export async function installedExtensions(query: Query): Promise<ReadonlySet<SearchExtension>> {
  const rows = await query<{ name: SearchExtension }>(
    "select extname as name from pg_extension where extname in ('vector', 'pg_textsearch')",
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Inside a transaction: installs one if the server has it and lets us; whether it is there then. A server may list
 * pg_textsearch and yet refuse it, because it is not among the libraries that it loads at its start.
 */
export async function installExtension(query: Query, name: SearchExtension): Promise<boolean> {
  if ((await installedExtensions(query)).has(name)) return true;
  const [available] = await query("select from pg_available_extensions where name = $1", [name]);
  if (!available) return false;
  await query("savepoint extension");
  try {
    await query(`create extension if not exists ${name}`);
    return true;
  } catch {
    await query("rollback to savepoint extension");
    return false;
  }
}
