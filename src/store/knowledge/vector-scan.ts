import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { type SearchFilters, whereChunks, whereDocuments } from "./filters.ts";

export type ScanOptions = {
  readonly collectionId: string;
  readonly embeddingModel: string;
  readonly embedding: Float32Array;
  readonly filters?: SearchFilters | undefined;
  /** Some chunks may be of another revision than their document. */
  readonly hasUnfound: boolean;
  readonly limit: number;
  readonly signal: AbortSignal;
};

export type VectorHit = { readonly id: number; readonly distance: number };

/** Nearest first, by cosine distance: what pgvector would find without an index. */
export type VectorScan = (database: Database, options: ScanOptions) => Promise<readonly VectorHit[]>;

/** The vectors of a collection, one after another and of length 1. */
type Matrix = { readonly version: string; readonly ids: Float64Array; readonly values: Float32Array };

/** Vectors of one query, which then are about 6 MB on the wire. */
const pageRows = 2000;
/** Rows between two looks at what else the process has to do. */
const rowsAtOnce = 5000;

/**
 * An exact scan of our own, for a PostgreSQL without pgvector. The matrices used last stay in memory, `most` bytes of them; one is
 * read anew when the collection's vectors have changed.
 */
export function createVectorScan(most: number): VectorScan {
  const kept = new Map<string, Matrix>();

  function keep(key: string, matrix: Matrix): void {
    kept.delete(key);
    if (bytesOf(matrix) > most) return;
    kept.set(key, matrix);
    let all = 0;
    for (const each of kept.values()) all += bytesOf(each);
    for (const [oldest, each] of kept) {
      if (all <= most) break;
      kept.delete(oldest);
      all -= bytesOf(each);
    }
  }

  return async (database, options) => {
    const { collectionId, embeddingModel, embedding, limit, signal } = options;
    const key = `${collectionId} ${embeddingModel} ${embedding.length}`;
    const version = await versionOf(database.query, options);
    let matrix = kept.get(key);
    if (matrix?.version !== version) matrix = { version, ...(await readVectors(database.query, options)) };
    keep(key, matrix);
    const allowed = await allowedChunks(database.query, options);
    return nearest(matrix, { asked: unit(embedding), allowed, limit, signal });
  };
}

function bytesOf({ ids, values }: Matrix): number {
  return ids.byteLength + values.byteLength;
}

/** Ids only grow: another count or another last id means another content. */
async function versionOf(query: Query, { collectionId, embeddingModel, embedding }: ScanOptions): Promise<string> {
  const [row] = await query<{ count: number; last: number | null }>(
    "select count(*) as count, max(chunk_id) as last from rag_vectors where collection_id = $1 and model = $2 and dimension = $3",
    [collectionId, embeddingModel, embedding.length],
  );
  return `${row!.count} ${row!.last}`;
}

async function readVectors(
  query: Query,
  { collectionId, embeddingModel, embedding, signal }: ScanOptions,
): Promise<Pick<Matrix, "ids" | "values">> {
  const ids: number[] = [];
  const pages: Float32Array[] = [];
  for (let last = 0; ;) {
    signal.throwIfAborted();
    const rows = await query<{ id: number; bytes: Uint8Array }>(
      `select chunk_id as id, array_send(embedding) as bytes from rag_vectors
       where collection_id = $1 and model = $2 and dimension = $3 and chunk_id > $4 order by chunk_id limit ${pageRows}`,
      [collectionId, embeddingModel, embedding.length, last],
    );
    if (rows.length === 0) break;
    const page = new Float32Array(rows.length * embedding.length);
    for (const [at, { id, bytes }] of rows.entries()) {
      ids.push(id);
      page.set(unit(fromArray(bytes)), at * embedding.length);
    }
    pages.push(page);
    last = rows.at(-1)!.id;
  }
  const values = new Float32Array(ids.length * embedding.length);
  let at = 0;
  for (const page of pages) {
    values.set(page, at);
    at += page.length;
  }
  return { ids: new Float64Array(ids), values };
}

/** The elements of a `real[]` as PostgreSQL sends it: a head of 20 bytes, and before each its length. */
function fromArray({ buffer, byteOffset, length }: Uint8Array): Float32Array {
  const bytes = Buffer.from(buffer, byteOffset, length);
  const values = new Float32Array((bytes.length - 20) / 8);
  for (let at = 0; at < values.length; at++) values[at] = bytes.readFloatBE(24 + at * 8);
  return values;
}

function unit(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square) || 1;
  return vector.map((value) => value / length);
}

async function allowedChunks(
  query: Query,
  { collectionId, filters, hasUnfound }: Pick<ScanOptions, "collectionId" | "filters" | "hasUnfound">,
): Promise<ReadonlySet<number> | undefined> {
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    whereDocuments([{ id: collectionId }], filters, parameter),
    whereChunks(filters, parameter),
  ].filter((condition) => condition !== undefined);
  if (conditions.length === 0 && !hasUnfound) return undefined;
  const rows = await query<{ id: number }>(
    `select c.id from rag_chunks c join rag_documents d on d.id = c.document_id and d.revision = c.revision
     where ${[`c.collection_id = ${parameter(collectionId)}`, ...conditions].join(" and ")}`,
    values,
  );
  return new Set(rows.map(({ id }) => id));
}

async function nearest(
  { ids, values }: Matrix,
  {
    asked,
    allowed,
    limit,
    signal,
  }: { asked: Float32Array; allowed: ReadonlySet<number> | undefined; limit: number; signal: AbortSignal },
): Promise<VectorHit[]> {
  const length = asked.length;
  let best: VectorHit[] = [];
  let farthest = Infinity;
  for (let row = 0; row < ids.length; row++) {
    if (row % rowsAtOnce === rowsAtOnce - 1) {
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    if (allowed && !allowed.has(ids[row]!)) continue;
    let product = 0;
    for (let at = 0, from = row * length; at < length; at++) product += asked[at]! * values[from + at]!;
    const distance = 1 - product;
    if (distance >= farthest) continue;
    best.push({ id: ids[row]!, distance });
    if (best.length < 2 * limit) continue;
    best = shortest(best, limit);
    farthest = best.at(-1)!.distance;
  }
  return shortest(best, limit);
}

function shortest(found: readonly VectorHit[], limit: number): VectorHit[] {
  return found.toSorted((a, b) => a.distance - b.distance || a.id - b.id).slice(0, limit);
}
