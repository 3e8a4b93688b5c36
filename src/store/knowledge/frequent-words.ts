/** From so many chunks on, the words of a question that many of them have are not looked up in all. */
export const fewestForSample = 5000;
/** Chunks in which it is seen how frequent words are: so many places spread over a collection, and so many chunks at each. */
const [places, chunksAtPlace] = [100, 5];
/** A word is rare that so many chunks have at most, or this share of all; half as many again may be brought by such words together. */
const [rareChunks, rareShare] = [5000, 0.02];

type FrequentWordsOptions = {
  readonly collectionId: string;
  /** At the end of the names of its CTEs; `asked_<at>` is there, with the words of the question. */
  readonly at: number;
  readonly candidates: number;
  /** SQL of which chunks a word's query finds in `rag_terms t`. */
  readonly found: (query: string) => string;
  /** SQL conditions for the filters, on chunks `t`. */
  readonly within: string;
  /** SQL of the columns of a hit, of `rag_terms t` and the word `a`. */
  readonly hitColumns: string;
};

/**
 * CTEs for a large collection: `totals`, `hits` and `frequencies`, as for a small one, but from the chunks alone that have a rarer word.
 * A word that many chunks have weighs next to nothing: it moves these up or down, and brings others only if they are too few. Those are
 * then of the chunks in which it was seen how frequent words are, as many as there are, so what it takes does not grow.
 */
export function frequentWordsCtes({
  collectionId,
  at,
  candidates,
  found,
  within,
  hitColumns,
}: FrequentWordsOptions): readonly string[] {
  const own = `collection_id = '${collectionId}'`;
  return [
    `sample_${at} as materialized (
       select t.* from (select min(chunk_id) as low, max(chunk_id) as high from rag_terms where ${own}) ends,
         generate_series(0, ${places - 1}) place,
         lateral (select chunk_id, document_id, terms, length from rag_terms where ${own} and chunk_id >= low + (high - low) * place / ${places}
           order by chunk_id limit ${chunksAtPlace}) t)`,
    `totals_${at} as materialized (
       select greatest((select sum(chunks) from rag_documents where ${own}), 1)::float8 as chunks,
         greatest((select avg(length) from sample_${at}), 1)::float8 as length)`,
    `seen_${at} as materialized (
       select a.*, s.share * totals.chunks as chunks_with, s.share * totals.chunks <= most.rare
           and sum(s.share * totals.chunks) over (order by s.share, a.lexeme) <= 1.5 * most.rare as is_rare
       from asked_${at} a, totals_${at} totals, lateral (select greatest(${rareChunks}, ${rareShare} * totals.chunks) as rare) most,
         lateral (select coalesce(avg((terms @@ a.query)::integer), 0)::float8 as share from sample_${at}) s)`,
    `rare_${at} as materialized (
       select t.chunk_id, t.document_id, t.length, a.lexeme from seen_${at} a join rag_terms t on ${found("a.query")} where a.is_rare)`,
    `some_${at} as materialized (select distinct t.chunk_id, t.document_id, t.length from rare_${at} t where true${within})`,
    `hits_${at} as materialized (
       select ${hitColumns} from (
         select chunk_id from some_${at}
         union
         select t.chunk_id from sample_${at} t where (select count(*) from some_${at}) < ${candidates}${within}) c
       join rag_terms t on t.chunk_id = c.chunk_id join asked_${at} a on t.terms @@ a.query)`,
    `frequencies_${at} as (
       select s.lexeme, case when s.is_rare then (select count(*) from rare_${at} r where r.lexeme = s.lexeme)::float8 else s.chunks_with end as chunks_with
       from seen_${at} s)`,
  ];
}
