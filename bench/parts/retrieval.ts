import { openEmptyDatabase } from "../empty-database.ts";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { ndcg } from "../../src/knowledge/evaluation/measures.ts";
import type { IndexType } from "../../src/protocol/knowledge/chunks.ts";
import type { Database } from "../../src/store/driver/database.ts";
import { ensureIndexes } from "../../src/store/knowledge/indexes.ts";
import { createSearch, type SearchRequest } from "../../src/store/knowledge/search.ts";
import { type Bench, type Part, withOwned } from "../part.ts";
import { addDocument, makeData, newCollection, readCranfield, wholeChunk } from "../retrieval-data.ts";
import type { Row } from "../rows.ts";
import { summarize } from "../statistics.ts";

const part = "retrieval";
const signal = new AbortController().signal;
/** So many chunks a document. */
const perDocument = 50;
const kinds = ["pglite", "postgres"] as const;
type Kind = (typeof kinds)[number];
/** What Cranfield's nDCG@10 must come to; PostgreSQL is one without extensions. */
const qualityBars: Readonly<Record<Kind, number>> = { pglite: 0.37, postgres: 0.36 };

async function withDatabase<Value>(kind: Kind, body: (database: Database) => Promise<Value>): Promise<Value> {
  return withOwned(async (own) => {
    const postgres = kind === "postgres" ? own(await startPostgres()) : undefined;
    const database = await openEmptyDatabase(postgres);
    own({ stop: database.close });
    return body(database);
  });
}

/** Each abstract is one chunk, as it is searched by default. */
async function quality(kind: Kind, folder: string): Promise<Row> {
  const { documents, questions } = await readCranfield(folder);
  return withDatabase(kind, async (database) => {
    const collection = await newCollection(database);
    for (const { name, text } of documents)
      await addDocument(database, collection, { name, chunks: [wholeChunk(text)] });
    const search = createSearch();
    const values: number[] = [];
    for (const { text, wanted } of questions) {
      const asked = { collections: [collection], text, retrieval: "lexical" as const, weight: 0, limit: 10 };
      const { trace } = await search(database, asked, signal);
      const gains = trace.candidates.map(({ documentName }) => (wanted.has(documentName) ? 1 : 0));
      values.push(ndcg({ gains, wanted: wanted.size }, 10));
    }
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return {
      part,
      name: `Cranfield, ${documents.length} abstracts, ${values.length} questions: nDCG@10 of words, ${kind}`,
      unit: "nDCG",
      values: [mean],
      bar: { kind: "least", min: qualityBars[kind] },
    };
  });
}

type Collection = Awaited<ReturnType<typeof newCollection>>;
type Asked = { readonly text: string; readonly embedding: Float32Array };

async function fill(database: Database, count: number): Promise<{ collection: Collection; slowest: number }> {
  const collection = await newCollection(database);
  const { text, vector } = makeData();
  let slowest = 0;
  for (let at = 0; at < count; at += perDocument) {
    const chunks = Array.from({ length: perDocument }, (_, ordinal) => wholeChunk(text(), ordinal, vector()));
    const begun = performance.now();
    await addDocument(database, collection, { name: String(at), chunks });
    slowest = Math.max(slowest, performance.now() - begun);
  }
  await ensureIndexes(database, { ...collection, indexType: "flat" });
  for (const table of ["rag_chunks", "rag_vectors", "rag_terms"]) await database.script(`vacuum analyze ${table}`);
  return { collection, slowest };
}

/** Median milliseconds of a question in each round, and what was found. */
async function ask(
  database: Database,
  collection: Collection,
  {
    retrieval,
    questions,
    rounds,
  }: { retrieval: SearchRequest["retrieval"]; questions: readonly Asked[]; rounds: number },
): Promise<{ readonly times: number[]; readonly found: ReadonlySet<number>[] }> {
  const search = createSearch();
  const times: number[] = [];
  let found: ReadonlySet<number>[] = [];
  for (let round = -1; round < rounds; round++) {
    const took: number[] = [];
    found = [];
    for (const { text, embedding } of questions) {
      const begun = performance.now();
      const { passages } = await search(
        database,
        { collections: [{ ...collection, embedding }], text, retrieval, weight: 0.5, limit: 10 },
        signal,
      );
      took.push(performance.now() - begun);
      found.push(new Set(passages.map(({ id }) => id)));
    }
    if (round >= 0) times.push(summarize(took).median);
  }
  return { times, found };
}

/** Builds an index while somebody else asks for a row again and again; the longest that one of those took. */
async function build(
  database: Database,
  collection: Collection,
  indexType: IndexType,
): Promise<{ seconds: number; stall: number }> {
  const begun = performance.now();
  let done = false;
  const work = ensureIndexes(database, { ...collection, indexType }).finally(() => (done = true));
  let stall = 0;
  while (!done) {
    const asked = performance.now();
    await database.query("select 1 as one");
    stall = Math.max(stall, performance.now() - asked);
    await delay(20);
  }
  await work;
  return { seconds: (performance.now() - begun) / 1000, stall };
}

function shareOf(found: readonly ReadonlySet<number>[], expected: readonly ReadonlySet<number>[]): string {
  let [hits, all] = [0, 0];
  for (const [at, ids] of expected.entries()) {
    all += ids.size;
    for (const id of ids) if (found[at]!.has(id)) hits++;
  }
  return (hits / all).toFixed(3);
}

async function speed(bench: Bench, kind: Kind): Promise<Row[]> {
  const count = bench.quick ? 1000 : bench.chunks;
  const { question, vector } = makeData(11);
  const questions = Array.from({ length: bench.quick ? 5 : 30 }, () => ({ text: question(), embedding: vector() }));
  return withDatabase(kind, async (database) => {
    bench.log(`retrieval: ${count} chunks on ${kind}`);
    const { collection, slowest } = await fill(database, count);
    const { rounds } = bench;
    const exact = await ask(database, collection, { retrieval: "vector", questions, rounds });
    const name = (what: string) => `a question, ${count} chunks, ${what}, ${kind}`;
    const row = (what: string, values: readonly number[], note?: string): Row => ({
      ...{ part, name: name(what), unit: "ms", values, reference: exact.times },
      ...(note === undefined ? {} : { note }),
    });
    const words = await ask(database, collection, { retrieval: "lexical", questions, rounds });
    const rows = [
      row(kind === "pglite" ? "BM25 by pg_textsearch" : "BM25 in SQL", words.times),
      {
        part,
        name: `${perDocument} chunks of a document are stored, ${kind}`,
        unit: "ms",
        values: [slowest],
        note: "the slowest",
      },
    ];
    for (const indexType of kind === "pglite" ? (["hnsw", "ivfflat"] as const) : []) {
      const { seconds, stall } = await build(database, collection, indexType);
      const { times, found } = await ask(database, collection, { retrieval: "vector", questions, rounds });
      const hybrid = await ask(database, collection, { retrieval: "hybrid", questions, rounds });
      rows.push(
        row(indexType, times, `recall@10 ${shareOf(found, exact.found)}, built in ${seconds.toFixed(0)} s`),
        row(`hybrid with ${indexType}`, hybrid.times),
        {
          ...{ part, name: `the longest wait of others while ${indexType} is built, ${count} chunks`, unit: "ms" },
          ...{ values: [stall], bar: { kind: "value", max: 1000 } as const },
        },
      );
    }
    return rows;
  });
}

/** How well and how fast documents are searched. The reference of times is an exact scan of all vectors. */
export const retrieval: Part = {
  name: part,
  async run(bench) {
    const rows: Row[] = [];
    for (const kind of kinds) {
      if (bench.cranfield !== undefined) rows.push(await quality(kind, bench.cranfield));
      rows.push(...(await speed(bench, kind)));
    }
    if (bench.cranfield === undefined)
      bench.log("retrieval: without --cranfield=<folder> the quality of its results is not measured");
    return rows;
  },
};
