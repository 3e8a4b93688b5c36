import { frequentWordsCtes } from "./frequent-words.ts";
import { indexName, searchedText } from "./lexical.ts";

/** Highest rank of a side that takes part in the fusion. */
export const candidatesOfSide = 100;
/** Smoothing constant of reciprocal rank fusion; the usual value. */
const rankConstant = 60;
/** BM25's usual constants, as in pg_textsearch. */
const [saturation, lengthShare] = [1.2, 0.75];

/** BM25's factor for a word's weight. `length`: length of the chunk, relative to the average. */
export function bm25Saturation(count: number, length: number): number {
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthShare + lengthShare * length));
}

/** Where one part of the candidates comes from. Ids and numbers stand in the text, since they name indexes; the rest are parameters. */
export type LexicalPart =
  | { readonly kind: "bm25"; readonly collectionId: string; readonly index: number }
  | {
      readonly kind: "terms";
      readonly collectionId: string;
      readonly textConfig: string;
      /** So large that frequent words are not looked up in all of it. */
      readonly isLarge?: boolean;
      readonly scanned?: ScannedPart | undefined;
    };

/** Chunks without an index that were scanned. All values are parameters: numbers, and arrays of the same length. */
export type ScannedPart = {
  readonly chunks: string;
  readonly length: string;
  /** Chunks of the collection, the indexed ones too. */
  readonly all: string;
  readonly words: { readonly lexemes: string; readonly frequencies: string };
  readonly hits: {
    readonly ids: string;
    readonly documentIds: string;
    readonly lengths: string;
    readonly lexemes: string;
    readonly counts: string;
  };
};

export type VectorPart = {
  readonly collectionId: string;
  /** A parameter, as the others below that are text. */
  readonly model: string;
} & (
  | { readonly kind: "index"; readonly index: number; readonly vector: string; readonly dimension: number }
  /** The part that none of these indexes covers. */
  | {
      readonly kind: "exact";
      readonly without: readonly number[];
      readonly vector: string;
      readonly dimension: number;
    }
  /** Found by us. */
  | { readonly kind: "found"; readonly ids: string; readonly distances: string }
);

export type StatementParts = {
  readonly lexical: readonly LexicalPart[];
  readonly vector: readonly VectorPart[];
  /** Parameters. */
  readonly text: string;
  readonly weight: string;
  readonly limit: string;
  /** Conditions on documents (`d`) and chunks (`c`), with parameters. */
  readonly documents?: string | undefined;
  readonly chunks?: string | undefined;
  /** Some chunks may be of another revision than their document: they would take the places of what is found. */
  readonly hasUnfound: boolean;
};

/**
 * One statement: candidates of each side within the filters, their ranks, and both fused by reciprocal rank. A vector's rank
 * counts among those of its model alone, since distances of different models can't be compared.
 */
export function searchStatement(parts: StatementParts): string {
  const { lexical, vector, text, weight, limit, documents } = parts;
  const terms = lexical.filter((part) => part.kind === "terms");
  const ctes = [
    ...(documents === undefined
      ? []
      : [`allowed as materialized (select d.id from rag_documents d where ${documents})`]),
    ...terms.flatMap((part, at) => termsCtes(part, at, parts)),
  ];
  const lexicalFound = union(
    lexical.map((part) =>
      part.kind === "bm25" ? bm25Part(part, parts) : `select id, score from terms_${terms.indexOf(part)}`,
    ),
    "null::bigint as id, null::float8 as score",
  );
  const vectorFound = union(
    vector.map((part) => vectorPart(part, parts)),
    "null::bigint as id, null::float8 as distance, null::text as model",
  );
  // Below each other, not beside each other as CTEs: there pg_textsearch would not find its scores, and compute them anew.
  return `${ctes.length > 0 ? `with ${ctes.join(",\n")}` : ""}
select o.id, c.collection_id as "collectionId", c.document_id as "documentId", d.name as "documentName", c.ordinal, c.char_start as "charStart",
  c.char_end as "charEnd", c.page, c.heading_path as "headingPath", case when o.place <= ${limit}::integer then c.text end as text, c.tokens,
  o.score, o.lexical_rank::integer as "lexicalRank", o.lexical_score as "lexicalScore", o.vector_rank::integer as "vectorRank", o.distance
from (
  select f.*, row_number() over (order by f.score desc, f.lexical_score desc nulls last, f.id) as place
  from (
    select coalesce(l.id, v.id) as id, l.rank as lexical_rank, l.score as lexical_score, v.rank as vector_rank, v.distance,
      coalesce((1 - ${weight}::float8) / (${rankConstant} + l.rank), 0) + coalesce(${weight}::float8 / (${rankConstant} + v.rank), 0) as score
    from (
      select * from (
        select id, score, row_number() over (order by score desc, id) as rank from (${lexicalFound}) lf (id, score) where score > 0) lr
      where rank <= ${candidatesOfSide}) l
    full join (
      select * from (
        select id, distance, row_number() over (partition by model order by distance, id) as rank
        from (${vectorFound}) vf (id, distance, model) where distance is not null) vr
      where rank <= ${candidatesOfSide}) v on v.id = l.id) f) o
join rag_chunks c on c.id = o.id join rag_documents d on d.id = c.document_id and d.revision = c.revision
where ${text}::text is not null order by o.place`;
}

function union(parts: readonly string[], none: string): string {
  return parts.length === 0 ? `select ${none} where false` : parts.map((part) => `(${part})`).join("\nunion all\n");
}

/**
 * Returns conditions for the filters, on a table with these columns for document and chunk. `is true` keeps them conditions of
 * the scan: as joins they would prevent reading in an index's order.
 */
function within({ documents, chunks, hasUnfound }: StatementParts, document: string, chunk: string): string {
  const byDocument = documents === undefined ? "" : ` and (${document} in (select id from allowed)) is true`;
  const byChunk =
    chunks === undefined ? "" : ` and (exists (select from rag_chunks c where c.id = ${chunk} and ${chunks})) is true`;
  // One row each by its key, for those alone that the scan comes by.
  const byRevision = hasUnfound
    ? ` and ((select c.revision from rag_chunks c where c.id = ${chunk}) = (select d.revision from rag_documents d where d.id = ${document})) is true`
    : "";
  return byDocument + byChunk + byRevision;
}

/** The score is the one that the scan has just found: asked for in the usual way, it would be computed anew from the whole text. */
function bm25Part({ collectionId, index }: LexicalPart & { kind: "bm25" }, parts: StatementParts): string {
  return `select id, -score from (
      select id, bm25_get_current_score() as score from rag_chunks r
      where collection_id = '${collectionId}' and lexical = ${index}${within(parts, "r.document_id", "r.id")}
      order by ${searchedText} <@> to_bm25query(${parts.text}::text, '${indexName(index)}') limit ${candidatesOfSide}) nearest_${index}`;
}

/**
 * BM25 by PostgreSQL's own means. How often a term stands in a chunk is read from `ts_rank`, the one function that finds a
 * term in a tsvector without unpacking all of it: for n places of one term it is the sum of 1/1² … 1/n², times a constant.
 */
function termsCtes(part: LexicalPart & { kind: "terms" }, at: number, parts: StatementParts): string[] {
  const { collectionId, textConfig, isLarge = false, scanned } = part;
  // In the very words of the index, which has the collection among the words.
  const found = (query: string) =>
    `t.collection_id = '${collectionId}' and (array_to_tsvector(array['@' || right(t.collection_id::text, 12)]) || t.terms)
         @@ ('''@${collectionId.slice(-12)}'''::tsquery && ${query})`;
  const hitColumns = `t.chunk_id, t.document_id, t.length, a.lexeme, a.times,
         width_bucket(ts_rank('{1,1,1,1}', t.terms, a.query)::float8, array[${countBounds.join(",")}]::float8[]) as count`;
  // While some are scanned, terms of another language are not what is asked for.
  const stored = `select ${hitColumns}
       from asked_${at} a join rag_terms t on ${found("a.query")}${scanned ? ` and t.config = '${textConfig}'` : ""}`;
  const totals = scanned
    ? `greatest(count(*) + ${scanned.chunks}::float8, ${scanned.all}::float8) as chunks,
         greatest((coalesce(sum(length), 0) + ${scanned.length}::float8) / greatest(count(*) + ${scanned.chunks}::float8, 1), 1) as length`
    : "count(*)::float8 as chunks, greatest(avg(length), 1)::float8 as length";
  const frequencies = [
    `select lexeme, count(*)::float8 as chunks_with from stored_${at} group by lexeme`,
    ...(scanned ? [scannedFrequencies(scanned), ...indexedFrequencies(part, scanned, { at, parts })] : []),
  ].join("\nunion all ");
  return [
    `asked_${at} as materialized (
       select lexeme, cardinality(positions) as times,
         ('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''')::tsquery as query
       from unnest(to_tsvector('${textConfig}', ${parts.text}::text)))`,
    ...(isLarge && !scanned
      ? frequentWordsCtes({
          ...{ collectionId, at, candidates: candidatesOfSide, found, hitColumns },
          within: within(parts, "t.document_id", "t.chunk_id"),
        })
      : [
          `totals_${at} as materialized (
       select ${totals} from rag_terms where collection_id = '${collectionId}'${scanned ? ` and config = '${textConfig}'` : ""})`,
          `stored_${at} as materialized (${stored})`,
          `hits_${at} as (select * from stored_${at}${scanned ? ` union all ${scannedHits(part, scanned, { at, parts })}` : ""})`,
          `frequencies_${at} as (${frequencies})`,
        ]),
    `weights_${at} as materialized (
       select lexeme, ln(1 + greatest(max(chunks) - sum(chunks_with) + 0.5, 0) / (sum(chunks_with) + 0.5)) as weight
       from frequencies_${at} f, totals_${at} group by lexeme)`,
    `terms_${at} (id, score) as materialized (
       select h.chunk_id, sum(h.times * w.weight * h.count * ${saturation + 1}
         / (h.count + ${saturation} * (${1 - lengthShare} + ${lengthShare} * h.length / totals.length)))::float8
       from hits_${at} h join weights_${at} w using (lexeme), totals_${at} totals
       where true${within(parts, "h.document_id", "h.chunk_id")}
       group by h.chunk_id order by 2 desc, 1 limit ${candidatesOfSide})`,
  ];
}

function scannedFrequencies({ words: { lexemes, frequencies } }: ScannedPart): string {
  return `select * from unnest(${lexemes}::text[], ${frequencies}::float8[]) s (lexeme, chunks_with)`;
}

/**
 * How many chunks of the BM25 indexes have each word: few scanned chunks alone would say little of how rare one is. What more than
 * the candidates have is taken to be as frequent as in what was scanned.
 */
function indexedFrequencies(
  { collectionId }: LexicalPart & { kind: "terms" },
  scanned: ScannedPart,
  { at, parts }: { readonly at: number; readonly parts: StatementParts },
): readonly string[] {
  return indexesOf(collectionId, parts).map(
    (index) => `select a.lexeme, case when i.found < ${candidatesOfSide} then i.found
           else greatest(i.found, coalesce(s.chunks_with, 0) / ${scanned.chunks}::float8 * (${scanned.all}::float8 - ${scanned.chunks}::float8)) end
       from asked_${at} a left join (${scannedFrequencies(scanned)}) s using (lexeme) cross join lateral (
         select count(*)::float8 as found from (select from rag_chunks r where collection_id = '${collectionId}' and lexical = ${index}
           order by ${searchedText} <@> to_bm25query(a.lexeme, '${indexName(index)}') limit ${candidatesOfSide}) nearest) i`,
  );
}

function indexesOf(collectionId: string, { lexical }: StatementParts): readonly number[] {
  return lexical.flatMap((part) => (part.kind === "bm25" && part.collectionId === collectionId ? [part.index] : []));
}

/** Returns scanned chunks that still have no index; others would be found twice. */
function scannedHits(
  { collectionId, textConfig }: LexicalPart & { kind: "terms" },
  { hits: { ids, documentIds, lengths, lexemes, counts } }: ScannedPart,
  { at, parts }: { readonly at: number; readonly parts: StatementParts },
): string {
  const indexes = indexesOf(collectionId, parts);
  return `select s.chunk_id, s.document_id, s.length, s.lexeme, a.times, least(s.count, ${countBounds.length})
       from unnest(${ids}::bigint[], ${documentIds}::uuid[], ${lengths}::integer[], ${lexemes}::text[], ${counts}::integer[])
         s (chunk_id, document_id, length, lexeme, count) join asked_${at} a using (lexeme)
       where not exists (select from rag_terms t where t.chunk_id = s.chunk_id and t.config = '${textConfig}')${
         indexes.length === 0
           ? ""
           : ` and not exists (select from rag_chunks c where c.id = s.chunk_id and c.lexical in (${indexes.join(", ")}))`
       }`;
}

/** Halfway between what `ts_rank` gives for n - 1 and for n places of a term. */
const countBounds = Array.from({ length: 40 }, (_, at) => ((rankOf(at) + rankOf(at + 1)) / 2).toFixed(6));

function rankOf(count: number): number {
  let sum = 0;
  for (let n = 1; n <= count; n++) sum += 1 / n ** 2;
  return sum / 1.64493406685;
}

function vectorPart(part: VectorPart, parts: StatementParts): string {
  const from = `${part.model}::text from rag_vectors v`;
  const own = `v.collection_id = '${part.collectionId}'`;
  const filters = within(parts, "v.document_id", "v.chunk_id");
  if (part.kind === "found")
    return `select id, distance, ${part.model}::text from unnest(${part.ids}::bigint[], ${part.distances}::float8[]) as f(id, distance)`;
  const distance = `v.embedding::vector(${part.dimension}) <=> ${part.vector}::real[]::vector(${part.dimension})`;
  if (part.kind === "index")
    return `select v.chunk_id, ${distance}, ${from} where ${own} and v.graph = ${part.index}${filters} order by ${distance} limit ${candidatesOfSide}`;
  // Each of these is read from an index; one condition for all of them would not be.
  return outsideOf(part.without)
    .map(
      (outside) =>
        `(select v.chunk_id, ${distance}, ${from} where ${own} and v.model = ${part.model}::text and v.dimension = ${part.dimension}${outside}${filters}
    order by 2 limit ${candidatesOfSide})`,
    )
    .join("\nunion all\n");
}

/** Conditions that together hold for rows which are in none of these indexes. */
function outsideOf(indexes: readonly number[]): readonly string[] {
  if (indexes.length === 0) return [""];
  const sorted = indexes.toSorted((a, b) => a - b);
  const between = sorted.map((index, at) =>
    at === 0 ? ` and v.graph < ${index}` : ` and v.graph > ${sorted[at - 1]} and v.graph < ${index}`,
  );
  return [" and v.graph is null", ...between, ` and v.graph > ${sorted.at(-1)}`];
}
