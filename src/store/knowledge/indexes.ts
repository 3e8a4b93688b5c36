import { setTimeout as delay } from "node:timers/promises";
import type { IndexType } from "../../protocol/knowledge/chunks.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { installExtension, prepareVectors } from "./search-extensions.ts";
import { insertTerms } from "./chunks.ts";
import { createBm25Index, indexName, oneMaker, textConfigFor } from "./lexical.ts";

/** Properties of a collection needed to maintain its indexes. */
export type IndexedCollection = {
  readonly id: string;
  readonly textConfig: string;
  readonly embeddingModel: string;
  readonly dimension?: number | null;
  readonly indexType: IndexType;
};

/** From so many vectors on, `auto` keeps an index: an exact scan finds fewer as fast, and all of them. */
const fewestForIndex = 20_000;
/** ivfflat divides what it has when it is made: of fewer vectors its lists would be chance. */
const fewestForLists = 500;
/** The lists are laid out in one statement, whose time grows with the square of their number. */
const maxLists = 100;
/** pgvector's, for vectors of four bytes a number. */
const maxDimensions = 2000;
/**
 * A vacuum goes through all of a vector index at once, and on PGlite everybody waits for it. What is dead in one is passed over by each
 * search instead.
 */
const keepDeadEntries = "alter table rag_vectors set (vacuum_index_cleanup = off)";
/** Target duration of one statement, so that others waiting for the connection hardly notice. */
const batchMs = 100;
const [fewestRows, maxRows] = [4, 2000];

/**
 * By collection: up to which chunk a walk has found the terms of all, in which language. What comes later is written together with
 * its terms, so the next walk begins there.
 */
export type CompleteTerms = Map<string, { readonly config: string; readonly chunk: number }>;

/**
 * Makes the indexes of a collection be what its settings and PostgreSQL's extensions want, and moves its rows into them, a few
 * at a time and with pauses: no statement takes long, and all is found meanwhile. Broken off, it goes on where it was when it
 * is called again. Several at once do no harm.
 */
export async function ensureIndexes(
  database: Database,
  collection: IndexedCollection,
  signal: AbortSignal = new AbortController().signal,
  complete: CompleteTerms = new Map(),
): Promise<void> {
  await dropOrphans(database);
  await ensureLexical(database, collection, { signal, complete });
  await ensureVectors(database, collection, signal);
}

type IndexRow = {
  readonly id: number;
  readonly kind: "bm25" | "hnsw" | "ivfflat";
  readonly state: "building" | "ready";
  readonly text_config: string | null;
  readonly model: string | null;
  readonly dimension: number | null;
};

async function indexesOf(query: Query, collectionId: string): Promise<readonly IndexRow[]> {
  return query<IndexRow>(
    "select id, kind, state, text_config, model, dimension from rag_indexes where collection_id = $1 order by id",
    [collectionId],
  );
}

async function ensureLexical(
  database: Database,
  { id: collectionId, textConfig: language }: IndexedCollection,
  { signal, complete }: { readonly signal: AbortSignal; readonly complete: CompleteTerms },
): Promise<void> {
  const { query, transaction } = database;
  const textConfig = await textConfigFor(query, language);
  if (!(await transaction((tx) => installExtension(tx, "pg_textsearch"))))
    return ensureTerms(database, { collectionId, textConfig, signal, complete });
  complete.delete(collectionId);
  const known = (await indexesOf(query, collectionId)).filter(({ kind }) => kind === "bm25");
  const index =
    known.findLast(({ text_config }) => text_config === textConfig)?.id ??
    (await transaction((tx) => createBm25Index(tx, collectionId, textConfig), oneMaker));
  for (const place of await placesOfChunks(query, collectionId)) {
    if (place === index) continue;
    await inPages(database, signal, (after, rows) =>
      // At once with their terms: in both places they would be found twice.
      query<{ id: number }>(
        `with moved as (
           update rag_chunks set lexical = $2 where id = any (array(
             select id from rag_chunks where collection_id = $1 and ${isIn("lexical", place)} and id > $3
             order by lexical, id limit $4 for update skip locked)) returning id),
         gone as (delete from rag_terms where chunk_id in (select id from moved))
         select id from moved`,
        [collectionId, index, after, rows],
      ),
    );
  }
  for (const { id } of known) if (id !== index) await dropIndex(database, id);
}

async function ensureVectors(database: Database, collection: IndexedCollection, signal: AbortSignal): Promise<void> {
  const { id: collectionId, embeddingModel, dimension } = collection;
  const { query, transaction } = database;
  const known = (await indexesOf(query, collectionId)).filter(({ kind }) => kind !== "bm25");
  const hasVectors = typeof dimension === "number";
  const isIndexed = hasVectors && (await transaction((tx) => prepareVectors(tx), oneMaker));
  const wanted = isIndexed ? await wantedIndex(query, collection) : "flat";
  const fits = (index: IndexRow) =>
    index.kind === wanted && index.model === embeddingModel && index.dimension === dimension;
  const made = known.findLast(fits);
  if (wanted !== "flat" && hasVectors) {
    // First: a vacuum of an index that rows have left would take seconds.
    for (const { id } of known) if (id !== made?.id) await dropIndex(database, id);
    const index = made?.id ?? (await createVectorIndex(database, { collection, kind: wanted, dimension }));
    if (database.kind === "pglite") await query(keepDeadEntries);
    for (const place of await placesOfVectors(query, collectionId)) {
      if (place === index) continue;
      await inPages(database, signal, (after, rows) =>
        moveVectors(query, { collection, dimension, index, place, after, rows }),
      );
    }
    await query("update rag_indexes set state = 'ready' where id = $1", [index]);
    return;
  }
  for (const { id } of known) await dropIndex(database, id);
}

async function wantedIndex(
  query: Query,
  { id, embeddingModel, dimension, indexType }: IndexedCollection,
): Promise<"flat" | "hnsw" | "ivfflat"> {
  if (indexType === "flat" || typeof dimension !== "number" || dimension > maxDimensions) return "flat";
  const [row] = await query<{ count: number }>(
    `select count(*) as count from (
       select from rag_vectors where collection_id = $1 and model = $2 and dimension = $3 limit ${fewestForIndex}) v`,
    [id, embeddingModel, dimension],
  );
  const { count } = row!;
  const enough = indexType === "auto" ? fewestForIndex : indexType === "ivfflat" ? fewestForLists : 1;
  if (count < enough) return "flat";
  return indexType === "ivfflat" ? "ivfflat" : "hnsw";
}

/**
 * Made while hardly a row is in it, which takes as long as reading the table. HNSW begins empty; the lists of ivfflat are laid out
 * by a sample, which is moved in first.
 */
async function createVectorIndex(
  database: Database,
  { collection, kind, dimension }: { collection: IndexedCollection; kind: "hnsw" | "ivfflat"; dimension: number },
): Promise<number> {
  const { id: collectionId, embeddingModel } = collection;
  const { query, transaction } = database;
  const [row] = await query<{ count: number }>(
    "select count(*) as count from rag_vectors where collection_id = $1 and model = $2 and dimension = $3",
    [collectionId, embeddingModel, dimension],
  );
  const lists = kind === "ivfflat" ? Math.max(10, Math.min(maxLists, Math.round(Math.sqrt(row!.count)))) : null;
  return transaction(async (tx) => {
    // If several run at once, the second finds the first one's index.
    const others = await indexesOf(tx, collectionId);
    const other = others.find(
      (index) => index.kind === kind && index.model === embeddingModel && index.dimension === dimension,
    );
    if (other) return other.id;
    const [made] = await tx<{ id: number }>(
      `insert into rag_indexes (collection_id, kind, state, model, dimension, lists) values ($1, $2, 'building', $3, $4, $5) returning id`,
      [collectionId, kind, embeddingModel, dimension, lists],
    );
    const { id } = made!;
    if (lists !== null)
      await moveVectors(tx, { collection, dimension, index: id, place: null, after: 0, rows: lists * 8 });
    const settings = lists === null ? "" : ` with (lists = ${lists})`;
    await tx(
      `create index ${indexName(id)} on rag_vectors using ${kind} ((embedding::vector(${dimension})) vector_cosine_ops)${settings}
       where collection_id = '${collectionId}' and graph = ${id}`,
    );
    return id;
  }, oneMaker);
}

async function moveVectors(
  query: Query,
  {
    collection,
    dimension,
    index,
    place,
    after,
    rows,
  }: {
    collection: IndexedCollection;
    dimension: number;
    index: number;
    /** Where they are. */
    place: Place;
    after: number;
    rows: number;
  },
): Promise<{ readonly id: number }[]> {
  return query<{ id: number }>(
    `update rag_vectors set graph = $2 where chunk_id = any (array(
       select chunk_id from rag_vectors where collection_id = $1 and ${isIn("graph", place)} and chunk_id > $6 and model = $3 and dimension = $4
       order by graph, chunk_id limit $5 for update skip locked)) returning chunk_id as id`,
    [collection.id, index, collection.embeddingModel, dimension, rows, after],
  );
}

/** The number of an index, or none. */
type Place = number | null;

/** SQL condition on where rows are, each a range of an index; one condition for all other places would not be. */
function isIn(column: "lexical" | "graph", place: Place): string {
  return place === null ? `${column} is null` : `${column} = ${place}`;
}

/** SQL of the places that rows of a collection have, one look each, however many rows there are. */
function placesSql(table: "rag_chunks" | "rag_vectors", column: "lexical" | "graph"): string {
  return `with recursive p (place) as (
       (select ${column} from ${table} where collection_id = $1 order by ${column} limit 1)
       union all
       select (select n.${column} from ${table} n where n.collection_id = $1 and n.${column} > p.place order by n.${column} limit 1)
       from p where p.place is not null)
     select place from p`;
}

async function placesOfChunks(query: Query, collectionId: string): Promise<readonly Place[]> {
  return withNone(await query<{ place: Place }>(placesSql("rag_chunks", "lexical"), [collectionId]));
}

async function placesOfVectors(query: Query, collectionId: string): Promise<readonly Place[]> {
  return withNone(await query<{ place: Place }>(placesSql("rag_vectors", "graph"), [collectionId]));
}

/** Rows without a place may be there, too. */
function withNone(rows: readonly { readonly place: Place }[]): readonly Place[] {
  return [null, ...rows.flatMap(({ place }) => (place === null ? [] : [place]))];
}

/**
 * Without an index of its extension, the words of chunks are looked up in a table. Chunks are written together with their terms, so only those
 * are without that were written in another language, or for an index that is gone.
 */
async function ensureTerms(
  database: Database,
  {
    collectionId,
    textConfig,
    signal,
    complete,
  }: {
    readonly collectionId: string;
    readonly textConfig: string;
    readonly signal: AbortSignal;
    readonly complete: CompleteTerms;
  },
): Promise<void> {
  const { query } = database;
  const known = complete.get(collectionId);
  const begin = known?.config === textConfig ? known.chunk : 0;
  let [last, missed] = [begin, 0];
  for (const place of await placesOfChunks(query, collectionId)) {
    await inPages(database, signal, async (after, rows) => {
      const page = await query<{ id: number; isMissing: boolean }>(
        `select c.id, t.chunk_id is null as "isMissing" from (
           select id from rag_chunks where collection_id = $1 and ${isIn("lexical", place)} and id > $3 order by lexical, id limit $4) c
         left join rag_terms t on t.chunk_id = c.id and t.config = $2`,
        [collectionId, textConfig, Math.max(begin, after), rows],
      );
      const missing = page.filter(({ isMissing }) => isMissing);
      if (missing.length > 0) await insertTerms(query, ids(missing), textConfig);
      missed += missing.length;
      last = page.reduce((most, { id }) => Math.max(most, id), last);
      return page;
    });
  }
  // Whoever wrote meanwhile in the language of before is found by the next walk, which is then whole.
  if (missed === 0) complete.set(collectionId, { config: textConfig, chunk: last });
  else complete.delete(collectionId);
}

/**
 * Pages of rows by their ids, until one is empty: as many rows each as are done in a moment, and as long a pause after each. No page
 * reads again what those before it have read.
 */
async function inPages(
  { kind }: Pick<Database, "kind">,
  signal: AbortSignal,
  page: (after: number, rows: number) => Promise<readonly { readonly id: number }[]>,
): Promise<void> {
  for (let [after, rows] = [0, 20]; ;) {
    signal.throwIfAborted();
    const begun = performance.now();
    const read = await page(after, rows);
    if (read.length === 0) return;
    after = read.reduce((most, { id }) => Math.max(most, id), after);
    const took = performance.now() - begun;
    rows = Math.round(Math.min(maxRows, Math.max(fewestRows, rows * Math.min(2, Math.max(0.5, batchMs / took)))));
    // On PGlite all wait for one connection.
    if (kind === "pglite") await delay(Math.min(took, batchMs), undefined, { signal });
  }
}

/** Rows that name it are found by an exact scan from here on. */
async function dropIndex({ transaction }: Database, id: number): Promise<void> {
  await transaction(async (query) => {
    // First: who has deleted rows of the table may be about to delete this one, too.
    await query(`drop index if exists ${indexName(id)}`);
    await query("delete from rag_indexes where id = $1", [id]);
  }, oneMaker);
}

/** Indexes of collections that are gone, each in a transaction of its own. */
export async function dropOrphans(database: Database): Promise<void> {
  const rows = await database.query<{ id: number }>(
    `select substring(indexname from 11)::integer as id from pg_indexes
     where schemaname = current_schema() and indexname ~ '^rag_index_[0-9]+$'
       and substring(indexname from 11)::integer not in (select id from rag_indexes)`,
  );
  for (const { id } of rows) await dropIndex(database, id);
}

function ids(rows: readonly { readonly id: number }[]): readonly number[] {
  return rows.map(({ id }) => id);
}
