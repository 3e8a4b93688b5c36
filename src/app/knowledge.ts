import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { plainEnvironment } from "../config/load.ts";
import type { CheckDisk } from "./free-disk.ts";
import { createKnowledge, type Knowledge } from "../knowledge/knowledge.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Database } from "../store/driver/database.ts";
import type { FileProof } from "../store/installation/data-folder.ts";

const megabyte = 1024 * 1024;
const hourMs = 60 * 60_000;

export type KnowledgeParts = {
  readonly database: Database;
  readonly fileProof: FileProof;
  readonly checkDisk: CheckDisk;
  readonly log: Log;
  /** False: this process reads no documents. */
  readonly works: boolean;
  readonly onReady?: (collectionId: string) => void;
};

/** Collections of documents as they are configured; what was left over is removed at the start and each hour. */
export async function openKnowledge(config: Config, parts: KnowledgeParts): Promise<Knowledge> {
  const { database, fileProof, checkDisk, log, works, onReady } = parts;
  const { rag, data } = config;
  const { retrieval, chunkSize, chunkOverlap, hybridWeight, indexType, language, embeddingModel } = rag;
  const standard = { chunkSize, chunkOverlap, hybridWeight, indexType, language, embeddingModel, rewrite: false };
  const knowledge = await createKnowledge({
    database,
    folder: join(data, "rag_documents"),
    defaults: retrieval === undefined ? standard : { ...standard, retrieval },
    models: rag.embeddingModels,
    embedding: {
      http: { url: rag.embeddingUrl, apiKey: rag.embeddingApiKey },
      local: {
        models: rag.modelsFolder ?? join(data, "models"),
        packages: rag.packagesFolder ?? join(data, "packages"),
        environment: plainEnvironment(),
      },
    },
    documentBytes: rag.documentMb * megabyte,
    checkDisk,
    limits: { bytes: rag.userMb * megabyte, documents: rag.userDocuments },
    readers: works ? rag.readers : 0,
    allow: rag.allow,
    ...(onReady && { onReady }),
    refusal:
      fileProof === "apart"
        ? "This node's data directory is not that of the others, so it can't work with documents of theirs."
        : undefined,
    log,
  });
  if (!works || fileProof === "apart") return knowledge;
  let round = knowledge.sweep();
  const timer = setInterval(() => (round = round.then(() => knowledge.sweep())), hourMs).unref();
  return {
    ...knowledge,
    async close() {
      clearInterval(timer);
      await round;
      await knowledge.close();
    },
  };
}
