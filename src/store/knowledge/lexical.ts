import type { Query } from "../../protocol/agents/tools.ts";
import { installExtension } from "./search-extensions.ts";

/** Where the words of a collection's chunks are looked up. `later`: they are put into an index by `ensureIndexes`. */
export type LexicalPlace =
  | { readonly kind: "bm25"; readonly index: number }
  | { readonly kind: "terms" }
  | { readonly kind: "later" };

/** Held shared by who writes chunks, alone by who makes an index of theirs: neither waits for the other in mid-work. */
const lock = 7_206_016;
/** A transaction that makes or drops an index of chunks or vectors. */
export const oneMaker = { first: `select pg_advisory_xact_lock(${lock})` };

/** SQL of the indexed text of a chunk. Index and query must use the same expression. */
export const searchedText = "(heading || text)";

export function indexName(id: number): string {
  return `rag_index_${id}`;
}

/** Which there are. */
export async function textConfigs(query: Query): Promise<readonly string[]> {
  const rows = await query<{ name: string }>("select cfgname as name from pg_ts_config order by cfgname limit 500");
  return rows.map(({ name }) => name);
}

/** A configuration that PostgreSQL has, for text in whatever language. */
export async function textConfigFor(query: Query, language: string): Promise<string> {
  const [found] = await query("select from pg_ts_config where cfgname = $1", [language]);
  return found ? language : "simple";
}

/** Makes the BM25 index of a collection while it is empty, which costs nothing: chunks then go into it as they are written. */
export async function lexicalPlace(query: Query, collectionId: string, textConfig: string): Promise<LexicalPlace> {
  const index = await bm25Index(query, collectionId, textConfig);
  if (index !== undefined) {
    await query("select pg_advisory_xact_lock_shared($1)", [lock]);
    return { kind: "bm25", index };
  }
  await query("select pg_advisory_xact_lock($1)", [lock]);
  if (!(await installExtension(query, "pg_textsearch"))) return { kind: "terms" };
  // Somebody may have been first.
  const made = await bm25Index(query, collectionId, textConfig);
  if (made !== undefined) return { kind: "bm25", index: made };
  const [some] = await query("select from rag_chunks where collection_id = $1 limit 1", [collectionId]);
  return some ? { kind: "later" } : { kind: "bm25", index: await createBm25Index(query, collectionId, textConfig) };
}

async function bm25Index(query: Query, collectionId: string, textConfig: string): Promise<number | undefined> {
  const [row] = await query<{ id: number }>(
    "select id from rag_indexes where collection_id = $1 and kind = 'bm25' and text_config = $2 order by id desc limit 1",
    [collectionId, textConfig],
  );
  return row?.id;
}

/** An empty index: rows get into it by its number in their column `lexical`. */
export async function createBm25Index(query: Query, collectionId: string, textConfig: string): Promise<number> {
  const [row] = await query<{ id: number }>(
    "insert into rag_indexes (collection_id, kind, state, text_config) values ($1, 'bm25', 'ready', $2) returning id",
    [collectionId, textConfig],
  );
  // PostgreSQL takes no parameters here: a number, an ID, and a name from its own list.
  await query(
    `create index ${indexName(row!.id)} on rag_chunks using bm25 (${searchedText}) with (text_config = '${textConfig}')
     where collection_id = '${collectionId}' and lexical = ${row!.id}`,
  );
  return row!.id;
}
