import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { plainEnvironment } from "../config/load.ts";
import type { Services } from "../http/server/services.ts";
import { createKnowledge, type Knowledge } from "../knowledge/knowledge.ts";
import type { RetrievePassages } from "../knowledge/search/retrieve.ts";
import type { Log } from "../protocol/base/log.ts";
import { createCapabilityStack } from "./start/capability-stack.ts";
import { keepIndexes, openRetrieval, rerankersOf, tracesOf } from "./retrieval.ts";
import type { OpenSpace } from "./space.ts";
import type { Store } from "./store.ts";

const megabyte = 1024 * 1024;
const hourMs = 60 * 60_000;

export type OpenKnowledge = {
  readonly knowledge: Knowledge;
  readonly retrieve: RetrievePassages;
  readonly services: Pick<Services, "knowledge" | "embeddingModels" | "retrieval" | "ragFolders">;
  readonly close: () => Promise<void>;
};

type KnowledgeDeps = {
  readonly store: Pick<Store, "database" | "fileProof">;
  readonly space: Pick<OpenSpace, "checkDisk">;
  readonly log: Log;
  /** False: this process reads no documents. */
  readonly runsJobs: boolean;
};

/** Opens collections of documents and their search. */
export async function openKnowledge(config: Config, deps: KnowledgeDeps): Promise<OpenKnowledge> {
  const { store, log, runsJobs } = deps;
  await using opening = createCapabilityStack(log);
  const database = store.database.listing;
  const indexes = opening.add(keepIndexes({ database: store.database.maintenance, log }, runsJobs));
  const knowledge = opening.add(await openCollections(config, { ...deps, onReady: indexes.wake }));
  const { retrieve } = opening.add(openRetrieval(config, { database, knowledge, log }));
  const retrieval = { retrieve, traces: tracesOf(database.query, knowledge), rerankers: rerankersOf(config) };
  return {
    ...{ knowledge, retrieve },
    services: { knowledge, embeddingModels: knowledge.embeddingModels, retrieval, ragFolders: config.rag.folders },
    close: opening.done(),
  };
}

/** Collections as they are configured; what was left over is removed at the start and each hour. */
async function openCollections(
  config: Config,
  { store, space, log, runsJobs, onReady }: KnowledgeDeps & { readonly onReady: (collectionId: string) => void },
): Promise<Knowledge> {
  const { fileProof } = store;
  const { rag, data } = config;
  const { retrieval, chunkSize, chunkOverlap, hybridWeight, indexType, language, embeddingModel } = rag;
  const standard = { chunkSize, chunkOverlap, hybridWeight, indexType, language, embeddingModel, rewrite: false };
  const knowledge = await createKnowledge({
    database: store.database.listing,
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
    checkDisk: space.checkDisk,
    limits: { bytes: rag.userMb * megabyte, documents: rag.userDocuments },
    readers: runsJobs ? rag.readers : 0,
    allow: rag.allow,
    onReady,
    refusal:
      fileProof === "apart"
        ? "This node's data directory is not that of the others, so it can't work with documents of theirs."
        : undefined,
    log,
  });
  if (!runsJobs || fileProof === "apart") return knowledge;
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
