import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { generator } from "../src/knowledge/evaluation/measures.ts";
import { newId } from "../src/protocol/base/ids.ts";
import type { EmbeddedChunk } from "../src/protocol/knowledge/chunks.ts";
import type { Database } from "../src/store/driver/database.ts";
import { type ChunkedCollection, replaceChunks } from "../src/store/knowledge/chunks.ts";
import { ensureOwner } from "../src/store/people/users.ts";

export const dimension = 384;

export type Judged = {
  readonly documents: readonly { readonly name: string; readonly text: string }[];
  /** `wanted`: names of documents. */
  readonly questions: readonly { readonly text: string; readonly wanted: ReadonlySet<string> }[];
};

/** The Cranfield collection as it is handed round: title and abstract; codes 1 to 4 are relevant. */
export async function readCranfield(folder: string): Promise<Judged> {
  const read = async (name: string) => (await readFile(join(folder, name), "utf8")).replaceAll("\r\n", "\n");
  const records = (text: string) => text.split(/^\.I /m).slice(1);
  const part = (record: string, from: string, to?: string) => {
    const start = record.indexOf(`\n.${from}\n`) + 4;
    return record.slice(start, to === undefined ? undefined : record.indexOf(`\n.${to}\n`)).trim();
  };
  const documents = records(await read("cran.all.1400")).map((record) => ({
    name: /^\d+/.exec(record)![0],
    text: `${part(record, "T", "A")}\n${part(record, "W")}`,
  }));
  const wanted = new Map<number, Set<string>>();
  for (const line of (await read("cranqrel")).trim().split("\n")) {
    const [question, document, code] = line.trim().split(/\s+/);
    if (Number(code) < 1) continue;
    const names = wanted.get(Number(question)) ?? new Set();
    wanted.set(Number(question), names.add(document!));
  }
  // Judgements name questions by their place in the file.
  const questions = records(await read("cran.qry")).map((record, at) => ({
    text: part(record, "W"),
    wanted: wanted.get(at + 1) ?? new Set<string>(),
  }));
  return { documents, questions };
}

export async function newCollection({ query }: Database): Promise<ChunkedCollection & { readonly userId: string }> {
  const [id, { id: userId }] = [newId(), await ensureOwner(query)];
  await query(
    "insert into rag_collections (id, user_id, name, settings, embedding_model, dimension) values ($1::uuid, $2, $1::text, '{}', 'http:m', $3)",
    [id, userId, dimension],
  );
  return { id, embeddingModel: "http:m", dimension, textConfig: "english", userId };
}

/** As ingestion does it: all chunks of a document at once. */
export async function addDocument(
  database: Database,
  collection: Awaited<ReturnType<typeof newCollection>>,
  { name, chunks }: { readonly name: string; readonly chunks: readonly EmbeddedChunk[] },
): Promise<void> {
  const documentId = newId();
  await database.transaction(async (query) => {
    await query(
      "insert into rag_documents (id, collection_id, user_id, name, source, status) values ($1, $2, $3, $4, '{}', 'ready')",
      [documentId, collection.id, collection.userId, name],
    );
    await replaceChunks(query, { collection, documentId, chunks });
  });
}

export function wholeChunk(text: string, ordinal = 0, embedding?: Float32Array): EmbeddedChunk {
  const chunk = { ordinal, charStart: 0, charEnd: text.length, headingPath: [], text, tokens: 200 };
  return embedding ? { ...chunk, embedding } : chunk;
}

export type Made = {
  readonly text: () => string;
  readonly question: () => string;
  readonly vector: () => Float32Array;
};

/** Texts of words as frequent as words are, and vectors in heaps as embeddings lie; always the same ones. */
export function makeData(seed = 7): Made {
  const random = generator(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const syllables = ["ka", "lo", "mi", "ter", "ran", "sol", "ve", "din", "pu", "gor", "ne", "shi", "bel", "ta", "quo"];
  const words = Array.from({ length: 8000 }, (_, n) => {
    let word = "";
    for (let left = n + 15; left > 0; left = Math.floor(left / syllables.length))
      word += syllables[left % syllables.length]!;
    return word;
  });
  // The n-th word comes about once in n times the first one's number.
  const word = () => words[Math.min(words.length - 1, Math.floor(words.length ** random()) - 1)]!;
  const rare = () => words[20 + Math.floor(random() * 2000)]!;
  // Embeddings vary in far fewer directions than they have numbers.
  const vectorOf = () => Float32Array.from({ length: dimension }, normal);
  const [heaps, directions] = [Array.from({ length: 200 }, vectorOf), Array.from({ length: 24 }, vectorOf)];
  const vector = () => {
    const made = heaps[Math.floor(random() * heaps.length)]!.slice();
    for (const direction of directions) {
      const far = 0.4 * normal();
      for (let at = 0; at < dimension; at++) made[at]! += far * direction[at]!;
    }
    return made;
  };
  return {
    text: () => Array.from({ length: 150 }, word).join(" "),
    question: () => Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? word() : rare())).join(" "),
    vector,
  };
}
