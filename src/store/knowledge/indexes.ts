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
 * Makes the indexes of a collection be what its settings and PostgreSQL's extensions want, and moves its rows into them, a few
 * at a time and with pauses: no statement takes long, and all is found meanwhile. Broken off, it goes on where it was when it
 * is called again. Several at once do no harm.
 */
export async function ensureIndexes(
  database: Database,
  collection: IndexedCollection,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  await dropOrphans(database);
  await ensureLexical(database, collection, signal);
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
  signal: AbortSignal,
): Promise<void> {
  const { query, transaction } = database;
  const textConfig = await textConfigFor(query, language);
  if (!(await transaction((tx) => installExtension(tx, "pg_textsearch")))) {
    await inBatches(database, signal, async (rows) => {
      const missing = await query<{ id: number }>(
        `select c.id from rag_chunks c left join rag_terms t on t.chunk_id = c.id and t.config = $2
         where c.collection_id = $1 and t.chunk_id is null limit $3`,
        [collectionId, textConfig, rows],
      );
      if (missing.length > 0) await insertTerms(query, ids(missing), textConfig);
      return missing.length;
    });
    return;
  }
  const known = (await indexesOf(query, collectionId)).filter(({ kind }) => kind === "bm25");
  const index =
    known.findLast(({ text_config }) => text_config === textConfig)?.id ??
    (await transaction((tx) => createBm25Index(tx, collectionId, textConfig), oneMaker));
  await inBatches(database, signal, async (rows) => {
    // At once with their terms: in both places they would be found twice.
    const moved = await query(
      `with moved as (
         update rag_chunks set lexical = $2 where id = any (array(
           select id from rag_chunks where collection_id = $1 and lexical is distinct from $2 limit $3 for update skip locked)) returning id),
       gone as (delete from rag_terms where chunk_id in (select id from moved))
       select from moved`,
      [collectionId, index, rows],
    );
    return moved.length;
  });
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
    await inBatches(database, signal, (rows) => moveVectors(query, { collection, dimension, index, rows }));
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
    if (lists !== null) await moveVectors(tx, { collection, dimension, index: id, rows: lists * 8 });
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
    rows,
  }: { collection: IndexedCollection; dimension: number; index: number; rows: number },
): Promise<number> {
  const moved = await query(
    `update rag_vectors set graph = $2 where chunk_id = any (array(
       select chunk_id from rag_vectors where collection_id = $1 and graph is distinct from $2 and model = $3 and dimension = $4
       limit $5 for update skip locked)) returning chunk_id`,
    [collection.id, index, collection.embeddingModel, dimension, rows],
  );
  return moved.length;
}

/** Runs until a batch has no rows: as many rows each as are done in a moment, and as long a pause after each. */
async function inBatches(
  { kind }: Pick<Database, "kind">,
  signal: AbortSignal,
  batch: (rows: number) => Promise<number>,
): Promise<void> {
  for (let rows = 20; ;) {
    signal.throwIfAborted();
    const begun = performance.now();
    if ((await batch(rows)) === 0) return;
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
