import { isDeepStrictEqual } from "node:util";
import type { FoundChunk, TraceView } from "../../protocol/knowledge/passages.ts";
import type { RetrievalMode } from "../../protocol/knowledge/chunks.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { Database } from "../driver/database.ts";
import { floatArray } from "./float-array.ts";
import { fewestForSample } from "./frequent-words.ts";
import { type SearchExtension } from "./search-extensions.ts";
import { type SearchFilters, whereChunks, whereDocuments } from "./filters.ts";
import {
  createIndexStates,
  indexingPercent,
  type IndexState,
  type IndexStates,
  type UnindexedCollection,
  outsideOfIndexes,
} from "./index-state.ts";
import {
  type LexicalPart,
  candidatesOfSide,
  type ScannedPart,
  searchStatement,
  type VectorPart,
} from "./search-sql.ts";
import { scanUnindexed, type UnindexedScan } from "./unindexed-scan.ts";
import { type VectorScan, createVectorScan } from "./vector-scan.ts";

export type SearchedCollection = {
  readonly id: string;
  /** The language of its settings. */
  readonly textConfig: string;
  readonly embeddingModel: string;
  /** The question, as this collection's model embeds it; absent: its vectors are not looked at. */
  readonly embedding?: Float32Array | undefined;
};

export type SearchRequest = {
  readonly collections: readonly SearchedCollection[];
  readonly text: string;
  readonly retrieval: RetrievalMode;
  /** Weight of the vector side of a hybrid search, from 0 to 1. */
  readonly weight: number;
  readonly filters?: SearchFilters | undefined;
  /** Passages with their text; of further candidates only the places are told. */
  readonly limit: number;
};

/** A chunk that may be what was asked for. */
export type Candidate = Omit<FoundChunk, "relevance"> & { readonly id: number };
export type Passage = Candidate & { readonly text: string };

/** How it was searched. `terms`, `scan`: by our own means, where PostgreSQL has no extension for it. */
export type SearchTrace = Pick<TraceView, "lexical" | "vector"> & {
  readonly candidates: readonly Candidate[];
  /** Collections whose words were not all indexed; `left`: chunks that were not searched for lack of time. */
  readonly indexing: readonly { readonly collectionId: string; readonly percent: number; readonly left: number }[];
};

type SearchIndexRow = {
  readonly id: number;
  readonly collectionId: string;
  readonly kind: "bm25" | "hnsw" | "ivfflat";
  readonly model: string | null;
  readonly dimension: number | null;
  readonly lists: number | null;
};

export type SearchPassages = (
  database: Database,
  question: SearchRequest,
  signal: AbortSignal,
) => Promise<{ readonly passages: readonly Passage[]; readonly trace: SearchTrace }>;

/**
 * Vectors that our own scan has read stay in memory, `scanMb` of them at most. Chunks without an index are read for
 * `unindexedSeconds` at most, but always a page of them.
 */
export function createSearch({
  scanMb = 256,
  unindexedSeconds = 10,
}: { readonly scanMb?: number; readonly unindexedSeconds?: number } = {}): SearchPassages {
  const scan = createVectorScan(scanMb * 1024 * 1024);
  const states = createIndexStates();
  return (database, question, signal) =>
    search(database, { question, scan, states, unindexedMs: unindexedSeconds * 1000, signal });
}

type SearchOptions = {
  readonly question: SearchRequest;
  readonly scan: VectorScan;
  readonly states: IndexStates;
  readonly unindexedMs: number;
  readonly signal: AbortSignal;
};

async function search(database: Database, options: SearchOptions): ReturnType<SearchPassages> {
  const { question, scan, signal } = options;
  let installed = await whatIsInstalled(database, question.collections);
  const indexing = await indexStates(database, installed, options);
  const unindexed = await scanWhatIsUnindexed(database, indexing, options);
  // Meanwhile an index may have been made, and chunks that were passed over moved into it.
  if (unindexed.size > 0) installed = await whatIsInstalled(database, question.collections);
  for (;;) {
    const { statement, values, kinds } = await prepare(database, { question, installed, unindexed, scan, signal });
    signal.throwIfAborted();
    try {
      const rows = await database.transaction((query) => query<CandidateRow>(statement, values), {
        first: settings(installed.indexes),
      });
      signal.throwIfAborted();
      const candidates = rows.map(candidateOf);
      const passages = rows.flatMap((row, at) => (row.text === null ? [] : [{ ...candidates[at]!, text: row.text }]));
      const told = [...indexing].map(([collectionId, state]) => ({
        collectionId,
        percent: indexingPercent(state),
        left: unindexed.get(collectionId)?.left ?? 0,
      }));
      return { passages, trace: { ...kinds, candidates, indexing: told } };
    } catch (error) {
      // An index may have been replaced by another since it was read which there are.
      const now = await whatIsInstalled(database, question.collections);
      if (isDeepStrictEqual(now, installed)) throw error;
      installed = now;
    }
  }
}

async function indexStates(
  { query }: Database,
  { outside, extensions }: SearchCapabilities,
  { question: { collections, retrieval }, states }: SearchOptions,
): Promise<ReadonlyMap<string, IndexState>> {
  if (retrieval === "vector") return new Map();
  return states(query, collections, { outside, hasBm25: extensions.has("pg_textsearch") });
}

async function scanWhatIsUnindexed(
  { query }: Database,
  indexing: ReadonlyMap<string, IndexState>,
  { question: { collections, text, filters }, unindexedMs, signal }: SearchOptions,
): Promise<ReadonlyMap<string, UnindexedScan>> {
  const until = performance.now() + unindexedMs;
  const scans = new Map<string, UnindexedScan>();
  for (const collection of collections) {
    const state = indexing.get(collection.id);
    if (state === undefined) continue;
    const { chunks: all, indexed } = state;
    const options = { collection, all, unindexed: all - indexed, text: plainText(text), filters, until, signal };
    scans.set(collection.id, await scanUnindexed(query, options));
  }
  return scans;
}

type SearchStatement = {
  readonly statement: string;
  readonly values: readonly unknown[];
  readonly kinds: Pick<SearchTrace, "lexical" | "vector">;
};

async function prepare(
  database: Database,
  {
    question,
    installed,
    unindexed,
    scan,
    signal,
  }: {
    question: SearchRequest;
    installed: SearchCapabilities;
    unindexed: ReadonlyMap<string, UnindexedScan>;
    scan: VectorScan;
    signal: AbortSignal;
  },
): Promise<SearchStatement> {
  const { collections, text, retrieval, weight, filters, limit } = question;
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const asked = parameter(plainText(text));
  const lexical = retrieval === "vector" ? [] : lexicalParts(collections, { installed, unindexed, parameter });
  const vector: VectorPart[] = [];
  for (const { id: collectionId, embedding, embeddingModel } of retrieval === "lexical" ? [] : collections) {
    if (!embedding) continue;
    const model = parameter(embeddingModel);
    if (installed.extensions.has("vector")) {
      const common = { collectionId, vector: parameter(floatArray(embedding)), model };
      vector.push(...vectorParts(common, embedding.length, { embeddingModel, installed }));
      continue;
    }
    const { hasUnfound } = installed;
    const options = { collectionId, embeddingModel, embedding, filters, hasUnfound, limit: candidatesOfSide, signal };
    const found = await scan(database, options);
    const ids = parameter(found.map(({ id }) => id));
    vector.push({
      collectionId,
      model,
      kind: "found",
      ids,
      distances: parameter(found.map(({ distance }) => distance)),
    });
  }
  // Our own scan has looked at the filters already.
  const isFiltered = lexical.length > 0 || vector.some(({ kind }) => kind !== "found");
  const share = retrieval === "lexical" ? 0 : retrieval === "vector" ? 1 : weight;
  const statement = searchStatement({
    lexical,
    vector,
    text: asked,
    weight: parameter(share),
    limit: parameter(limit),
    hasUnfound: installed.hasUnfound,
    ...(isFiltered && {
      documents: whereDocuments(collections, filters, parameter),
      chunks: whereChunks(filters, parameter),
    }),
  });
  const kinds = {
    lexical: [...new Set(lexical.map(({ kind }) => kind))],
    vector: [...new Set(vector.map((part) => nameOf(part, installed.indexes)))],
  };
  return { statement, values, kinds };
}

type CandidateRow = Omit<Candidate, "lexical" | "vector"> & {
  readonly text: string | null;
  readonly lexicalRank: number | null;
  readonly lexicalScore: number | null;
  readonly vectorRank: number | null;
  readonly distance: number | null;
};

function candidateOf({ text: _, lexicalRank, lexicalScore, vectorRank, distance, ...row }: CandidateRow): Candidate {
  return {
    ...row,
    ...(lexicalRank !== null && { lexical: { rank: lexicalRank, score: lexicalScore! } }),
    ...(vectorRank !== null && { vector: { rank: vectorRank, similarity: 1 - distance! } }),
  };
}

type SearchCapabilities = {
  readonly extensions: ReadonlySet<SearchExtension>;
  readonly configs: ReadonlySet<string>;
  readonly indexes: readonly SearchIndexRow[];
  /** Collections with chunks whose words are in no BM25 index. */
  readonly withTerms: readonly string[];
  /** Those with so many that frequent words are not looked up in all of them. */
  readonly large: readonly string[];
  /** Collections with chunks in no BM25 index; they may be in `rag_terms`. */
  readonly outside: readonly UnindexedCollection[];
  /** Documents are being written, or were a moment ago: some chunks may be of another revision than theirs. */
  readonly hasUnfound: boolean;
};

async function whatIsInstalled(
  { query }: Database,
  collections: readonly SearchedCollection[],
): Promise<SearchCapabilities> {
  const [row] = await query<{
    extensions: SearchExtension[];
    configs: string[];
    indexes: SearchIndexRow[] | null;
    withTerms: string[];
    large: string[];
    outside: UnindexedCollection[];
    hasUnfound: boolean;
  }>(
    `select (select coalesce(array_agg(extname::text), '{}') from pg_extension where extname in ('vector', 'pg_textsearch')) as extensions,
       (select coalesce(array_agg(cfgname::text), '{}') from pg_ts_config where cfgname = any ($2::text[])) as configs,
       (select json_agg(json_build_object('id', id, 'collectionId', collection_id, 'kind', kind, 'model', model, 'dimension', dimension,
         'lists', lists) order by id) from rag_indexes where collection_id = any ($1::uuid[])) as indexes,
       (select coalesce(array_agg(id::text), '{}') from unnest($1::uuid[]) id
        where exists (select from rag_terms where collection_id = id)) as "withTerms",
       (select coalesce(array_agg(id::text), '{}') from unnest($1::uuid[]) id
        where exists (select from rag_terms where collection_id = id offset ${fewestForSample})) as large,
       (select coalesce(json_agg(o), '[]') from (${outsideOfIndexes("$1")}) o) as outside,
       exists (select from rag_documents where collection_id = any ($1::uuid[])
         and (status in ('queued', 'working') or updated_at > now() - interval '1 minute')) as "hasUnfound"`,
    [collections.map(({ id }) => id), collections.map(({ textConfig }) => textConfig)],
  );
  const { extensions, configs, indexes, ...rest } = row!;
  return { ...rest, extensions: new Set(extensions), configs: new Set(configs), indexes: indexes ?? [] };
}

/** While chunks move into an index, those that wait are looked for by their terms, or among what was scanned. */
function lexicalParts(
  collections: readonly SearchedCollection[],
  {
    installed: { configs, indexes, withTerms, large },
    unindexed,
    parameter,
  }: {
    installed: SearchCapabilities;
    unindexed: ReadonlyMap<string, UnindexedScan>;
    parameter: (value: unknown) => string;
  },
): LexicalPart[] {
  return collections.flatMap(({ id: collectionId, textConfig }): LexicalPart[] => {
    const own = indexes.filter((index) => index.collectionId === collectionId && index.kind === "bm25");
    const inIndexes = own.map(({ id }) => ({ kind: "bm25" as const, collectionId, index: id }));
    const scan = unindexed.get(collectionId);
    if (own.length > 0 && !withTerms.includes(collectionId) && !scan) return inIndexes;
    const config = configs.has(textConfig) ? textConfig : "simple";
    const scanned = scan && scannedPart(scan, parameter);
    return [
      ...inIndexes,
      { kind: "terms", collectionId, textConfig: config, isLarge: large.includes(collectionId), scanned },
    ];
  });
}

function scannedPart(
  { chunks, length, all, frequencies, hits }: UnindexedScan,
  parameter: (value: unknown) => string,
): ScannedPart {
  const words = hits.flatMap(({ lexemes, counts, ...hit }) =>
    lexemes.map((lexeme, at) => ({ ...hit, lexeme, count: counts[at] })),
  );
  return {
    chunks: parameter(chunks),
    length: parameter(length),
    all: parameter(all),
    words: {
      lexemes: parameter([...frequencies.keys()]),
      frequencies: parameter([...frequencies.values()]),
    },
    hits: {
      ids: parameter(words.map(({ id }) => id)),
      documentIds: parameter(words.map(({ documentId }) => documentId)),
      lengths: parameter(words.map((word) => word.length)),
      lexemes: parameter(words.map(({ lexeme }) => lexeme)),
      counts: parameter(words.map(({ count }) => count)),
    },
  };
}

function vectorParts(
  common: { readonly collectionId: string; readonly vector: string; readonly model: string },
  dimension: number,
  { embeddingModel, installed }: { embeddingModel: string; installed: SearchCapabilities },
): VectorPart[] {
  const own = installed.indexes.filter(
    (index) =>
      index.collectionId === common.collectionId &&
      index.kind !== "bm25" &&
      index.model === embeddingModel &&
      index.dimension === dimension,
  );
  return [
    ...own.map(({ id }) => ({ ...common, kind: "index" as const, index: id, dimension })),
    { ...common, kind: "exact", without: own.map(({ id }) => id), dimension },
  ];
}

/** Settings of the transaction: otherwise the planner may misjudge the cost of an index and sort all rows instead. */
function settings(indexes: readonly SearchIndexRow[]): string {
  const lists = Math.max(0, ...indexes.map((index) => index.lists ?? 0));
  const kinds = new Set(indexes.map(({ kind }) => kind));
  return [
    "set transaction read only",
    ...(kinds.size > 0 ? ["set local enable_seqscan = off", "set local enable_sort = off"] : []),
    ...(kinds.has("hnsw")
      ? [`set local hnsw.ef_search = ${candidatesOfSide}`, "set local hnsw.iterative_scan = relaxed_order"]
      : []),
    ...(kinds.has("ivfflat")
      ? [
          `set local ivfflat.probes = ${Math.max(10, Math.ceil(lists / 6))}`,
          "set local ivfflat.iterative_scan = relaxed_order",
        ]
      : []),
  ].join("; ");
}

function nameOf(part: VectorPart, indexes: readonly SearchIndexRow[]): SearchTrace["vector"][number] {
  if (part.kind === "exact") return "exact";
  if (part.kind === "found") return "scan";
  return indexes.find(({ id }) => id === part.index)!.kind === "hnsw" ? "hnsw" : "ivfflat";
}
