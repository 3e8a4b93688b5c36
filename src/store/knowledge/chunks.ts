import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { Chunk, EmbeddedChunk } from "../../protocol/knowledge/chunks.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { floatArray } from "./float-array.ts";
import { prepareVectors } from "./search-extensions.ts";
import { lexicalPlace, oneMaker, textConfigFor } from "./lexical.ts";

/** Properties of a collection needed to write its chunks. `textConfig`: the language of its settings. */
export type ChunkedCollection = {
  readonly id: string;
  readonly embeddingModel: string;
  readonly dimension?: number | null;
  readonly textConfig: string;
};

/** Rows of one statement: a page of them is written within milliseconds. */
const batchSize = 200;

type DocumentChunks = {
  readonly collection: ChunkedCollection;
  readonly documentId: string;
  readonly chunks: readonly EmbeddedChunk[];
};

/**
 * In a transaction: the chunks of a document take the place of those that it had. Vectors are found at once, by an exact scan
 * until `ensureIndexes` has put them into the collection's index.
 */
export async function replaceChunks(query: Query, given: DocumentChunks): Promise<void> {
  const [document] = await query<{ revision: number }>("select revision from rag_documents where id = $1", [
    given.documentId,
  ]);
  await removeChunks(query, given.documentId);
  await writeChunks(query, { ...given, revision: document?.revision ?? 0 });
}

/**
 * In a transaction: chunks of a revision of their document, which are found only once it has that one. So a long document
 * is written in several transactions, none of which keeps others waiting, and appears at once.
 */
export async function writeChunks(
  query: Query,
  { collection, documentId, revision, chunks }: DocumentChunks & { readonly revision: number },
): Promise<void> {
  const textConfig = await textConfigFor(query, collection.textConfig);
  const place = await lexicalPlace(query, collection.id, textConfig);
  if (chunks.some(({ embedding }) => embedding)) await makeVectorsReady(query);
  for (let from = 0; from < chunks.length; from += batchSize) {
    const batch = chunks.slice(from, from + batchSize);
    const ids = await insertChunks(query, {
      collectionId: collection.id,
      documentId,
      revision,
      lexical: place.kind === "bm25" ? place.index : null,
      batch,
    });
    if (place.kind === "terms") await insertTerms(query, ids, textConfig);
    await insertVectors(query, { collection, documentId, ids, batch });
  }
}

/**
 * Some chunks of a document that are not found, as they are of another revision than it; how many. Those of a revision to come
 * are being written by whoever has the document: they go only if that is the caller, by its lease, or nobody.
 */
export async function removeUnsearchableChunks(query: Query, documentId: string, lease?: string): Promise<number> {
  const rows = await query(
    `delete from rag_chunks where id = any (array(
       select c.id from rag_chunks c join rag_documents d on d.id = c.document_id
       where c.document_id = $1
         and (c.revision < d.revision or c.revision > d.revision and (d.lease = $3 or d.status in ('ready', 'failed'))) limit $2))
     returning 1`,
    [documentId, batchSize, lease ?? null],
  );
  return rows.length;
}

/**
 * Documents that nobody works on and that have such chunks: a process died while it wrote them, or removed them. Asked at each start,
 * so by two looks into an index for each document, not by reading all chunks.
 */
export async function documentsWithUnsearchableChunks(query: Query): Promise<readonly string[]> {
  const has = (order: string) =>
    `exists (select from rag_chunks c where c.document_id = d.id and c.revision ${order} d.revision)`;
  const rows = await query<{ id: string }>(
    `select d.id from rag_documents d where d.status in ('ready', 'failed') and (${has("<")} or ${has(">")})`,
  );
  return rows.map(({ id }) => id);
}

/** Once, with the first vectors of all: later it would keep others waiting. */
async function makeVectorsReady(query: Query): Promise<void> {
  const [some] = await query("select from rag_vectors limit 1");
  if (some) return;
  await query(oneMaker.first);
  await prepareVectors(query);
}

/** In the order of the batch. */
async function insertChunks(
  query: Query,
  {
    collectionId,
    documentId,
    revision,
    lexical,
    batch,
  }: {
    collectionId: string;
    documentId: string;
    revision: number;
    lexical: number | null;
    batch: readonly Chunk[];
  },
): Promise<readonly number[]> {
  const rows = batch.map(({ ordinal, charStart, charEnd, page, headingPath, text, tokens }) => ({
    ordinal,
    char_start: charStart,
    char_end: charEnd,
    page: page ?? null,
    heading_path: headingPath,
    heading: headingPath.length === 0 ? "" : `${headingPath.join(" > ")}\n`,
    text,
    tokens,
  }));
  const inserted = await query<{ id: number; ordinal: number }>(
    `insert into rag_chunks (collection_id, document_id, lexical, revision, ordinal, char_start, char_end, page, heading_path, heading, text, tokens)
     select $1, $2, $3, $5, ordinal, char_start, char_end, page, heading_path, heading, text, tokens
     from jsonb_to_recordset($4::jsonb) as t(ordinal integer, char_start integer, char_end integer, page integer, heading_path text[],
       heading text, text text, tokens integer) returning id, ordinal`,
    [collectionId, documentId, lexical, jsonText(rows), revision],
  );
  const ids = new Map(inserted.map(({ id, ordinal }) => [ordinal, id]));
  return batch.map(({ ordinal }) => ids.get(ordinal)!);
}

/** The words of chunks, as PostgreSQL's own BM25 reads them. */
export async function insertTerms(query: Query, ids: readonly number[], textConfig: string): Promise<void> {
  await query(
    `insert into rag_terms (chunk_id, collection_id, document_id, config, terms, length)
     select id, collection_id, document_id, $2, terms, (select coalesce(sum(cardinality(positions)), 0) from unnest(terms))
     from (select id, collection_id, document_id, to_tsvector($2::regconfig, heading || text) as terms
           from rag_chunks where id = any ($1::bigint[])) c
     on conflict (chunk_id) do update set config = excluded.config, terms = excluded.terms, length = excluded.length`,
    [ids, textConfig],
  );
}

async function insertVectors(
  query: Query,
  {
    collection,
    documentId,
    ids,
    batch,
  }: { collection: ChunkedCollection; documentId: string; ids: readonly number[]; batch: readonly EmbeddedChunk[] },
): Promise<void> {
  const embedded = batch.flatMap(({ embedding }, at) => (embedding ? [{ id: ids[at]!, embedding }] : []));
  const length = embedded[0]?.embedding.length;
  if (length === undefined) return;
  if (embedded.some(({ embedding }) => embedding.length !== length))
    throw new RangeError(`The embeddings of document ${documentId} are not of one length.`);
  const all = new Float32Array(embedded.length * length);
  for (const [at, { embedding }] of embedded.entries()) all.set(embedding, at * length);
  await query(
    `insert into rag_vectors (chunk_id, collection_id, document_id, model, dimension, embedding)
     select id, $1, $2, $3, $6::integer, ($5::real[])[(n - 1) * $6::integer + 1 : n * $6::integer]
     from unnest($4::bigint[]) with ordinality as t(id, n)`,
    [
      collection.id,
      documentId,
      plainText(collection.embeddingModel),
      embedded.map(({ id }) => id),
      floatArray(all),
      length,
    ],
  );
}

/** In a transaction: what is found of a document goes with its chunks. Whoever writes some waits, or is waited for, before any is touched. */
export async function removeChunks(query: Query, documentId: string): Promise<void> {
  await query("select 1 from rag_documents where id = $1 for update", [documentId]);
  await query("delete from rag_chunks where document_id = $1", [documentId]);
}

/**
 * In a transaction: all chunks of a collection, and what was found in it. Its indexes are `dropOrphans`'s from here on: to drop one
 * takes the whole table, for which whoever has deleted rows of it must not wait.
 */
export async function removeCollectionChunks(query: Query, collectionId: string): Promise<void> {
  await query("select 1 from rag_collections where id = $1 for update", [collectionId]);
  await query("delete from rag_chunks where collection_id = $1", [collectionId]);
  await query("delete from rag_traces where $1 = any (collection_ids)", [collectionId]);
  await query("delete from rag_indexes where collection_id = $1", [collectionId]);
}
