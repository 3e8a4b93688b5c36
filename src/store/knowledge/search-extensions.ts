import type { Query } from "../../protocol/agents/tools.ts";

export type SearchExtension = "vector" | "pg_textsearch";

/** Returns which of the two are installed in the database. */
async function installedExtensions(query: Query): Promise<ReadonlySet<SearchExtension>> {
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

/** Vectors converted in one go, which keeps others waiting. */
const maxConverted = 5000;

/**
 * Inside a transaction that makes or drops no other index meanwhile: whether pgvector is there. If so, the vectors' column is of its type,
 * unless there are many already: then each is converted when it is compared, which takes thrice as long.
 */
export async function prepareVectors(query: Query): Promise<boolean> {
  if (!(await installExtension(query, "vector"))) return false;
  const [row] = await query<{ type: string; indexes: number; rows: number }>(
    `select (select format_type(atttypid, null) from pg_attribute where attrelid = 'rag_vectors'::regclass and attname = 'embedding') as type,
       (select count(*) from rag_indexes where kind <> 'bm25') as indexes,
       (select count(*) from (select from rag_vectors limit ${maxConverted + 1}) v) as rows`,
  );
  if (row!.type === "real[]" && row!.indexes === 0 && row!.rows <= maxConverted)
    await query("alter table rag_vectors alter column embedding type vector using embedding::vector");
  return true;
}
