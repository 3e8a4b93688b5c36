import type { Log } from "../protocol/base/log.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Embedder } from "../protocol/knowledge/chunks.ts";
import { documentsWithUnsearchableChunks, removeUnsearchableChunks } from "../store/knowledge/chunks.ts";
import { existingCollections } from "../store/knowledge/collections.ts";
import { createChangeFeed } from "../store/driver/change-feed.ts";
import { filesOfDocuments, getDocument } from "../store/knowledge/documents.ts";
import { type Collections, type CollectionsOptions, createCollections } from "./documents/collections.ts";
import { createDocumentFiles } from "./documents/document-files.ts";
import { createDocuments, type Documents, readDocumentText } from "./documents/documents.ts";
import { createEmbedders, type EmbedOptions } from "./embedding/embedders.ts";
import { createEmbeddingModels, type EmbeddingModels } from "./embedding/embedding-models.ts";
import { createDocumentReader } from "./documents/read-document.ts";
import { type IngestQueue, startIngestQueue } from "./documents/ingest-queue.ts";

export type KnowledgeOptions = Pick<CollectionsOptions, "database" | "defaults" | "models"> & {
  /** `<data>/rag_documents` */
  readonly folder: string;
  readonly embedding: EmbedOptions;
  /** Limits of one document, and of all documents of a user. */
  readonly documentBytes: number;
  readonly limits: { readonly bytes: number; readonly documents: number };
  /** How many documents are read here at the same time; 0: none. */
  readonly readers: number;
  /** Hosts and ranges that may be fetched from though they are not on the public internet. */
  readonly allow: readonly string[];
  /** A document of the collection is searched now, or its settings are others. */
  readonly onReady?: (collectionId: string) => void;
  /** Throws if the folder's disk must not take so many bytes more. */
  readonly checkDisk?: ((folder: string, bytes: number) => Promise<void>) | undefined;
  /** Why this process can't work with files. */
  readonly refusal?: string | undefined;
  readonly log: Log;
};

/** Collections of documents that agents search, and what reads them. */
export type Knowledge = {
  readonly collections: Collections;
  readonly documents: Documents;
  readonly embeddingModels: EmbeddingModels;
  /** Maximum size of one document. */
  readonly documentBytes: number;
  /** The embedder of a collection's model; undefined for `none`. Throws as `Embedders.get`. */
  embedder(model: string, signal: AbortSignal): Promise<Embedder | undefined>;
  /** The text that a document's chunks are slices of, whoever asks. Throws NotFound. */
  readDocumentText(id: string): Promise<string>;
  /** Tells at the beginning, and whenever a collection or a document has changed, whoever may read it; sometimes once too often. */
  followChanges(tell: () => void): () => void;
  /** Removes what processes left that died. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** Characters of a document's text that are taken: some thousand pages. */
const maxText = 10_000_000;

export async function createKnowledge(options: KnowledgeOptions): Promise<Knowledge> {
  const { database, folder, embedding, documentBytes, limits, readers, allow, checkDisk, refusal, log } = options;
  const { defaults, models, onReady = () => {} } = options;
  const files = createDocumentFiles({ folder, documentBytes, checkDisk, refusal });
  const embedders = createEmbedders(embedding);
  const embeddingModels = createEmbeddingModels({
    ...{ embedders, standard: defaults.embeddingModel, offered: models },
    folder: embedding.local.models,
  });
  const reader = createDocumentReader();
  const changes = createChangeFeed(database, "colloquy_knowledge");
  let queue: IngestQueue | undefined;
  const onQueued = () => queue?.wake();
  const collections = createCollections({
    ...{ database, files, embedders, embeddingModels, defaults, models, onQueued, onSettings: onReady },
  });
  const documents = createDocuments({ database, files, collections, limits, onQueued });
  if (readers > 0 && refusal === undefined)
    queue = await startIngestQueue({
      database,
      files,
      embedders,
      reader,
      allow,
      documentBytes,
      userBytes: limits.bytes,
      maxText,
      readers,
      onReady,
      log,
    });
  return {
    collections,
    documents,
    embeddingModels,
    documentBytes,
    embedder: async (model, signal) => (model === "none" ? undefined : embedders.get(model, signal)),
    readDocumentText: async (id) => readDocumentText(files, await getDocument(database.query, id)),
    followChanges: (tell) => changes.follow("all", () => tell()),
    async sweep() {
      try {
        await collections.finishRemovals();
        for (const id of await documentsWithUnsearchableChunks(database.query))
          while ((await removeUnsearchableChunks(database.query, id)) > 0);
        await files.sweep({
          collections: (ids) => existingCollections(database.query, ids),
          documents: (ids) => filesOfDocuments(database.query, ids),
        });
      } catch (error) {
        log.warn({ error: messageOf(error) }, "leftovers of documents were not removed");
      }
    },
    async close() {
      await queue?.stop();
      reader.close();
      await embedders.close();
    },
  };
}
