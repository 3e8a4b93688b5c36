import type { Query } from "../../protocol/agents/tools.ts";

/** How far the words of a collection are indexed: of all chunks that can be found, those that an index or the terms table has. */
export type IndexState = { readonly chunks: number; readonly indexed: number };

type TextCollection = { readonly id: string; readonly textConfig: string };

/** A collection with chunks in none of its BM25 indexes. `version` changes when the collection's settings do. */
export type UnindexedCollection = { readonly id: string; readonly version: string };

/**
 * Selects `UnindexedCollection` rows from the collections of an array. It takes the first and the last entry of an index, however many chunks there
 * are: ordered, since a condition on values that the planner can't know would have it read the table. Only while one BM25 index
 * replaces another does it read the chunks between.
 */
export function outsideOfIndexes(collectionIds: string): string {
  const end = (order: string) =>
    `left join lateral (select id, lexical from rag_chunks where collection_id = w.id order by lexical ${order} limit 1)`;
  return `select w.id::text as id, extract(epoch from w.updated_at)::text as version
    from (select id, updated_at from rag_collections where id = any (${collectionIds}::uuid[])) w cross join lateral (
      select min(id) as low, max(id) as high from rag_indexes where collection_id = w.id and kind = 'bm25') own
    ${end("asc nulls last")} head on true ${end("desc nulls first")} tail on true
    where tail.id is not null and (low is null or tail.lexical is null or head.lexical < low or tail.lexical > high
      or case when low < high then exists (select from rag_chunks c where c.collection_id = w.id and c.lexical > low and c.lexical < high
        and not exists (select from rag_indexes where id = c.lexical)) end)`;
}

/** Both hold for chunks `c` of the collections `w (id, config)`. */
const wordJoins = `join rag_documents d on d.id = c.document_id and d.revision = c.revision
  left join rag_indexes i on i.id = c.lexical and i.collection_id = c.collection_id and i.kind = 'bm25'
  left join rag_terms t on t.chunk_id = c.id
    and t.config = coalesce((select cfgname::text from pg_ts_config where cfgname = w.config limit 1), 'simple')`;

/** Returns the progress of each collection whose words are not all indexed. */
export async function countIndexed(
  query: Query,
  collections: readonly TextCollection[],
): Promise<ReadonlyMap<string, IndexState>> {
  const rows = await query<IndexState & { readonly id: string }>(
    `select * from (
       select w.id, count(*)::integer as chunks, count(*) filter (where i.id is not null or t.chunk_id is not null)::integer as indexed
       from unnest($1::uuid[], $2::text[]) w (id, config) join rag_chunks c on c.collection_id = w.id ${wordJoins} group by w.id) s
     where indexed < chunks`,
    [collections.map(({ id }) => id), collections.map(({ textConfig }) => textConfig)],
  );
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

/** The newest chunks of a collection whose words are in no index, the newest first: an index is filled from the other end. */
export async function unindexedChunks(
  query: Query,
  { id, textConfig }: TextCollection,
  most: number,
): Promise<number[]> {
  const rows = await query<{ id: number }>(
    `select c.id from (select $1::uuid as id, $2::text as config) w join rag_chunks c on c.collection_id = w.id ${wordJoins}
     where i.id is null and t.chunk_id is null order by c.id desc limit $3`,
    [id, textConfig, most],
  );
  return rows.map((row) => row.id);
}

/** From 0 to 99: what is not whole is never told as 100. */
export function indexingPercent({ chunks, indexed }: IndexState): number {
  return Math.floor((indexed / chunks) * 100);
}

export type IndexStates = (
  query: Query,
  collections: readonly TextCollection[],
  look: { readonly outside: readonly UnindexedCollection[]; readonly hasBm25: boolean },
) => Promise<ReadonlyMap<string, IndexState>>;

/** Collections that are remembered at most. */
const maxRemembered = 10_000;

/**
 * Counts only where something may be unindexed. Without pg_textsearch no chunk is in a BM25 index, and all are written together
 * with their terms: a collection that was complete once is not counted again until its settings change.
 */
export function createIndexStates(): IndexStates {
  const complete = new Map<string, string>();
  return async (query, collections, { outside, hasBm25 }) => {
    const versions = new Map(outside.map(({ id, version }) => [id, version]));
    const versionOf = ({ id, textConfig }: TextCollection) => `${versions.get(id)} ${textConfig}`;
    const asked = collections.filter(
      (each) => versions.has(each.id) && (hasBm25 || complete.get(each.id) !== versionOf(each)),
    );
    if (asked.length === 0) return new Map();
    const states = await countIndexed(query, asked);
    if (complete.size > maxRemembered) complete.clear();
    for (const each of asked) if (!hasBm25 && !states.has(each.id)) complete.set(each.id, versionOf(each));
    return states;
  };
}

/** How far each of these collections is whose words are not all indexed, from a look of its own. */
export async function indexStatesOf(
  query: Query,
  collections: readonly TextCollection[],
  states: IndexStates,
): Promise<ReadonlyMap<string, IndexState>> {
  const [row] = await query<{ outside: readonly UnindexedCollection[]; hasBm25: boolean }>(
    `select (select coalesce(json_agg(o), '[]') from (${outsideOfIndexes("$1")}) o) as outside,
       exists (select from pg_extension where extname = 'pg_textsearch') as "hasBm25"`,
    [collections.map(({ id }) => id)],
  );
  return states(query, collections, row!);
}
