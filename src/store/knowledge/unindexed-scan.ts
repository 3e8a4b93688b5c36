import type { Query } from "../../protocol/agents/tools.ts";
import { textConfigFor } from "./lexical.ts";
import { unindexedChunks } from "./index-state.ts";
import { bm25Saturation, candidatesOfSide } from "./search-sql.ts";
import { type SearchFilters, whereChunks, whereDocuments } from "./filters.ts";

export type UnindexedScanOptions = {
  readonly collection: { readonly id: string; readonly textConfig: string };
  /** Its chunks, the indexed ones too. */
  readonly all: number;
  /** Those in no index. */
  readonly unindexed: number;
  readonly text: string;
  readonly filters?: SearchFilters | undefined;
  /** Time (of `performance.now()`) after which no further page is read. */
  readonly until: number;
  readonly signal: AbortSignal;
};

/** Result of the scan, in the form the search statement takes. */
export type UnindexedScan = {
  /** All that were scanned, and the words in them. */
  readonly chunks: number;
  readonly length: number;
  readonly all: number;
  /** How many of them have each word of the question. */
  readonly frequencies: ReadonlyMap<string, number>;
  readonly hits: readonly TermHit[];
  /** Chunks that it had no time for. */
  readonly left: number;
};

/** A chunk with words of the question, and how often it has each. */
export type TermHit = {
  readonly id: number;
  readonly documentId: string;
  readonly length: number;
  readonly lexemes: readonly string[];
  readonly counts: readonly number[];
};

/** Target duration of one statement: on PGlite everything else waits for it. */
const pageMs = 100;
const [fewestRows, maxRows] = [10, 1000];
/** More than it ever has time for. */
const maxScanned = 100_000;
/** More than are candidates, since how rare a word is shows only in the end. */
const maxHits = 10 * candidatesOfSide;

/**
 * Reads the chunks whose words are in no index yet, a page at a time. What it keeps is bounded, however many there are: the best
 * by the frequencies seen so far.
 */
export async function scanUnindexed(query: Query, options: UnindexedScanOptions): Promise<UnindexedScan> {
  const { collection, all, unindexed, text, until, signal } = options;
  const config = await textConfigFor(query, collection.textConfig);
  const asked = (
    await query<{ lexeme: string }>("select lexeme from unnest(to_tsvector($1::regconfig, $2))", [config, text])
  ).map(({ lexeme }) => lexeme);
  const ids = asked.length === 0 ? [] : await unindexedChunks(query, collection, maxScanned);
  const frequencies = new Map<string, number>();
  let [chunks, length] = [0, 0];
  let hits: TermHit[] = [];
  const best = (): TermHit[] => {
    const scores = new Map(hits.map((hit) => [hit, scoreOf(hit, { chunks, length, frequencies })]));
    return hits.toSorted((a, b) => scores.get(b)! - scores.get(a)! || a.id - b.id).slice(0, maxHits);
  };
  let at = 0;
  for (let rows = 50; at < ids.length && (at === 0 || performance.now() < until);) {
    signal.throwIfAborted();
    const begun = performance.now();
    for (const { isWanted, ...hit } of await readPage(query, {
      ids: ids.slice(at, at + rows),
      config,
      asked,
      ...options,
    })) {
      chunks++;
      length += hit.length;
      for (const lexeme of hit.lexemes) frequencies.set(lexeme, (frequencies.get(lexeme) ?? 0) + 1);
      if (isWanted && hit.lexemes.length > 0) hits.push(hit);
    }
    if (hits.length > 2 * maxHits) hits = best();
    at += rows;
    const took = performance.now() - begun;
    rows = Math.round(Math.min(maxRows, Math.max(fewestRows, rows * Math.min(2, Math.max(0.5, pageMs / took)))));
  }
  const left = Math.max(0, (ids.length < maxScanned ? ids.length : unindexed) - at);
  return { chunks, length, all, frequencies, hits: best(), left };
}

type PageOptions = Pick<UnindexedScanOptions, "collection" | "filters"> & {
  readonly ids: readonly number[];
  readonly config: string;
  readonly asked: readonly string[];
};

async function readPage(
  query: Query,
  { ids, config, asked, collection, filters }: PageOptions,
): Promise<readonly (TermHit & { readonly isWanted: boolean })[]> {
  const values: unknown[] = [ids, config, asked];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const wanted = [whereDocuments([collection], filters, parameter), whereChunks(filters, parameter)]
    .filter((condition) => condition !== undefined)
    .map((condition) => `(${condition}) is true`);
  return query(
    `select c.id, c.document_id as "documentId", words.*, ${wanted.join(" and ") || "true"} as "isWanted"
     from (select *, to_tsvector($2::regconfig, heading || text) as terms from rag_chunks where id = any ($1::bigint[])) c
     join rag_documents d on d.id = c.document_id cross join lateral (
       select coalesce(sum(cardinality(positions)), 0)::integer as length,
         coalesce(array_agg(lexeme) filter (where lexeme = any ($3::text[])), '{}') as lexemes,
         coalesce(array_agg(cardinality(positions)) filter (where lexeme = any ($3::text[])), '{}') as counts
       from unnest(c.terms)) words`,
    values,
  );
}

function scoreOf(
  { length, lexemes, counts }: TermHit,
  seen: Pick<UnindexedScan, "chunks" | "length" | "frequencies">,
): number {
  const average = Math.max(1, seen.length / seen.chunks);
  return lexemes.reduce((sum, lexeme, at) => {
    const frequency = seen.frequencies.get(lexeme)!;
    const weight = Math.log(1 + (seen.chunks - frequency + 0.5) / (frequency + 0.5));
    return sum + weight * bm25Saturation(counts[at]!, length / average);
  }, 0);
}
