import { createReadStream } from "node:fs";
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { DocumentProgress } from "../../protocol/knowledge/documents.ts";
import { Conflict, InvalidInput, Unavailable } from "../../protocol/base/errors.ts";
import type { Chunk, EmbeddedChunk, Embedder } from "../../protocol/knowledge/chunks.ts";
import type { Database } from "../../store/driver/database.ts";
import {
  type ChunkedCollection,
  removeUnsearchableChunks,
  replaceChunks,
  writeChunks,
} from "../../store/knowledge/chunks.ts";
import { changeCollection, type Collection, findCollection } from "../../store/knowledge/collections.ts";
import { documentsOf, type LeasedDocument, type RagDocument } from "../../store/knowledge/documents.ts";
import { fetchedDocument, finishDocument, holdDocument, unchangedDocument } from "../../store/knowledge/queue.ts";
import type { DocumentFiles } from "./document-files.ts";
import type { Embedders } from "../embedding/embedders.ts";
import { fetchDocument } from "./fetch-document.ts";
import type { DocumentReader, ReadContent } from "./read-document.ts";
import { readVectors, writeVectors } from "./vector-files.ts";
import { embeddingBatchSize, type StagingFolder, openStagingFolder } from "./staging-folder.ts";

export type IngestOptions = {
  readonly database: Database;
  readonly files: DocumentFiles;
  readonly embedders: Embedders;
  readonly reader: DocumentReader;
  /** Hosts and ranges that may be fetched from though they are not on the public internet. */
  readonly allow: readonly string[];
  readonly documentBytes: number;
  /** Limit for all documents of a person. */
  readonly userBytes: number;
  /** Characters of a document's text. */
  readonly maxText: number;
};

/** Chunks of one transaction: it takes some tenths of a second. */
const writtenAtOnce = 400;

type ChunkBatch = {
  readonly collection: ChunkedCollection;
  readonly chunks: readonly EmbeddedChunk[];
  readonly signal: AbortSignal;
};

/** Whoever sees it stops: somebody else works on the document, or it is gone. */
export class LostDocument extends Error {
  override readonly name = "LostDocument";
}

/**
 * Fetches, reads, cuts and embeds a document, and then lets it be searched, at once and as a whole. What was done is kept on the
 * way: called again after the process died, it goes on from there. Throws UnreadableFile and InvalidInput for what will never work, others for what may
 * later; LostDocument.
 */
export async function ingest(
  document: LeasedDocument,
  tell: (progress: DocumentProgress) => void,
  options: IngestOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { database, files, embedders, signal } = options;
  const collection = await findCollection(database.query, document.collectionId);
  if (!collection) throw new LostDocument();
  const { file, sha256 } = document.file === null ? await fetched(document, tell, options) : document;
  if (file === null || sha256 === null) throw new Unavailable(`${document.name} was not fetched.`);
  if (document.liveSha256 === sha256) {
    if (!(await unchangedDocument(database.query, document))) throw new LostDocument();
    return files.removeFiles(document.liveFile === file ? [] : [document.liveFile]);
  }

  const work = await openStagingFolder(files, document, { sha256, collection });
  tell({ stage: "reading" });
  const content =
    (await readBefore(work)) ??
    (await read(work, { path: files.placeOf(file), owner: document.userId, ...collection.settings }, options));
  const dimension =
    collection.embeddingModel === "none"
      ? undefined
      : await embedAll(work, { document, collection, content, tell, database, embedders, signal });
  tell({ stage: "storing", done: content.chunks, total: content.chunks });
  const textFile = files.newFile(document, "text.txt");
  await linkOrCopy(work.textFile, files.placeOf(textFile));
  const chunks = await chunksOf(work, content, dimension);
  const { settings, embeddingModel } = collection;
  const about = { id: collection.id, embeddingModel, textConfig: settings.language };
  const given = {
    collection: dimension === undefined ? about : { ...about, dimension },
    documentId: document.id,
  };
  const isLong = chunks.length > writtenAtOnce;
  if (isLong) await writeChunksInBatches(database, document, { collection: given.collection, chunks, signal });
  const before = await database.transaction(async (query) => {
    const finished = await finishDocument(query, document, { ...content, textFile });
    if (finished && !isLong) await replaceChunks(query, { ...given, chunks });
    return finished;
  });
  if (!before) {
    await rm(files.placeOf(textFile), { force: true });
    throw new LostDocument();
  }
  await files.removeFiles([before.textFile, ...(before.liveFile === file ? [] : [before.liveFile])]);
  await files.removeWork(document);
  if (isLong) while ((await removeUnsearchableChunks(database.query, document.id)) > 0);
}

/** Some at a time, so that nobody waits long for the database; they are found with the new revision. Throws LostDocument. */
export async function writeChunksInBatches(
  database: Database,
  document: Pick<LeasedDocument, "id" | "lease" | "revision">,
  { collection, chunks, signal }: ChunkBatch,
): Promise<void> {
  const { id: documentId, lease, revision } = document;
  while ((await removeUnsearchableChunks(database.query, documentId, lease)) > 0);
  for (let from = 0; from < chunks.length; from += writtenAtOnce) {
    signal.throwIfAborted();
    const some = chunks.slice(from, from + writtenAtOnce);
    await database.transaction(async (query) => {
      // Whoever took it since may make another content the next revision, and these would be found with it.
      if (!(await holdDocument(query, document))) throw new LostDocument();
      await writeChunks(query, { collection, documentId, chunks: some, revision: revision + 1 });
    });
  }
}

async function fetched(
  document: LeasedDocument,
  tell: (progress: DocumentProgress) => void,
  { database, files, allow, documentBytes, userBytes, signal }: IngestOptions & { readonly signal: AbortSignal },
): Promise<Pick<RagDocument, "file" | "sha256">> {
  if (document.source.kind !== "url")
    throw new Unavailable(`The original of ${document.name} is missing; add it again.`, { code: "original_missing" });
  tell({ stage: "fetching" });
  const { name, bytes } = await fetchDocument(document.source.url, { allow, maxBytes: documentBytes, signal });
  const incoming = await files.receive(bytes);
  const file = files.newFile(document, name);
  await incoming.keep(file);
  const outcome = await database.transaction(async (query) => {
    // Locked: of two at once the second must see what the first brought.
    await query("select 1 from users where id = $1 for no key update", [document.userId]);
    const used = await documentsOf(query, document.userId);
    if (used.bytes + incoming.bytes > userBytes) return "full";
    return (await fetchedDocument(query, document, { file, ...incoming })) ? "fetched" : "lost";
  });
  if (outcome === "fetched") return { file, sha256: incoming.sha256 };
  await files.removeFiles([file]);
  if (outcome === "lost") throw new LostDocument();
  const megabytes = Math.floor(userBytes / 1024 / 1024);
  throw new InvalidInput(
    `Your documents may have ${megabytes} MB in total (rag.userMb), and would exceed it with this one. Delete some first.`,
    { status: 413, code: "quota_exceeded" },
  );
}

/** Reads the results of an earlier attempt; results for earlier content are removed. */
async function readBefore({ folder, textFile, chunksFile }: StagingFolder): Promise<ReadContent | undefined> {
  const around = dirname(folder);
  for (const entry of await readdir(around))
    if (entry.startsWith("work-") && entry !== basename(folder))
      await rm(join(around, entry), { recursive: true, force: true });
  try {
    await stat(textFile);
    await stat(chunksFile);
    return JSON.parse(await readFile(join(folder, "read.json"), "utf8")) as ReadContent;
  } catch {
    return undefined;
  }
}

async function read(
  { folder, textFile, chunksFile }: StagingFolder,
  document: {
    readonly path: string;
    readonly owner: string;
    readonly chunkSize: number;
    readonly chunkOverlap: number;
  },
  { reader, maxText, signal }: Pick<IngestOptions, "reader" | "maxText"> & { readonly signal: AbortSignal },
): Promise<ReadContent> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { path, owner, chunkSize, chunkOverlap } = document;
  // Its name on disk ends as the document's own, which tells texts apart.
  const name = basename(path);
  const request = { path, name, maxText, textFile, chunksFile, chunkSize, chunkOverlap };
  const content = await reader.read(request, { owner, signal });
  const note = join(folder, "read.json");
  await writeFile(`${note}.part`, JSON.stringify(content), { mode: 0o600, flush: true });
  await rename(`${note}.part`, note);
  return content;
}

/** A collection keeps to one kind of vectors: the first ones say how long they are. */
async function checkDimension(database: Database, collection: Collection, { dimension }: Embedder): Promise<void> {
  if (collection.dimension === null) return changeCollection(database.query, collection.id, { dimension });
  if (collection.dimension !== dimension)
    throw new Conflict(
      `${collection.embeddingModel} makes ${dimension} numbers a text now, and ${collection.dimension} before: reindex the collection.`,
      { code: "embeddings_differ" },
    );
}

/** Resolves to the dimension. The model is not asked, nor opened, for what was embedded before. */
async function embedAll(
  { folder, chunksFile }: StagingFolder,
  work: Pick<IngestOptions, "database" | "embedders"> & {
    readonly document: LeasedDocument;
    readonly collection: Collection;
    readonly content: ReadContent;
    readonly tell: (progress: DocumentProgress) => void;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const { document, collection, content, tell, database, embedders, signal } = work;
  let { dimension } = collection;
  let embedder: Embedder | undefined;
  let done = 0;
  for await (const { batch, chunks } of batchesOf(chunksFile)) {
    tell({ stage: "embedding", done, total: content.chunks });
    if (dimension === null || !(await readVectors(folder, batch, { count: chunks.length, dimension }))) {
      if (!embedder) {
        embedder = await embedders.get(collection.embeddingModel, signal);
        await checkDimension(database, collection, embedder);
        ({ dimension } = embedder);
      }
      const vectors = await embedder.embed(chunks.map(embeddedText), "document", signal);
      await writeVectors(folder, batch, vectors, document.lease);
    }
    signal.throwIfAborted();
    done += chunks.length;
  }
  if (dimension === null) throw new Unavailable("The document has no chunks.", { code: "chunks_missing" });
  return dimension;
}

/** Returns the text of a chunk to embed, with the headings above it, which say what it is about. */
function embeddedText({ headingPath, text }: Chunk): string {
  return headingPath.length === 0 ? text : `${headingPath.join(" > ")}\n${text}`;
}

async function chunksOf(
  { folder, chunksFile }: StagingFolder,
  content: ReadContent,
  dimension: number | undefined,
): Promise<EmbeddedChunk[]> {
  const all: EmbeddedChunk[] = [];
  for await (const { batch, chunks } of batchesOf(chunksFile)) {
    if (dimension === undefined) {
      all.push(...chunks);
      continue;
    }
    const vectors = await readVectors(folder, batch, { count: chunks.length, dimension });
    if (!vectors) throw new Unavailable("Embeddings of the document are missing.", { code: "embeddings_missing" });
    all.push(...chunks.map((chunk, at) => ({ ...chunk, embedding: vectors[at]! })));
  }
  if (all.length !== content.chunks)
    throw new Unavailable("Chunks of the document are missing.", { code: "chunks_missing" });
  return all;
}

async function* batchesOf(
  chunksFile: string,
): AsyncGenerator<{ readonly batch: number; readonly chunks: readonly Chunk[] }> {
  let batch = 0;
  let chunks: Chunk[] = [];
  for await (const line of createInterface({ input: createReadStream(chunksFile), crlfDelay: Infinity })) {
    chunks.push(JSON.parse(line) as Chunk);
    if (chunks.length < embeddingBatchSize) continue;
    yield { batch, chunks };
    batch++;
    chunks = [];
  }
  if (chunks.length > 0) yield { batch, chunks };
}

/** Not every file system has links. A link is as old as what it was made of: a sweep would take it for a leftover until a row names it. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  const now = new Date();
  await utimes(from, now, now);
  await link(from, to).catch(() => copyFile(from, to));
}
