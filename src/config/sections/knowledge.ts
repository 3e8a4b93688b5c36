import { z } from "zod";
import type { ConfigPath } from "../tree.ts";
import { indexTypes, retrievals } from "../../protocol/knowledge/chunks.ts";

/** The form of an embedding model's name. */
const embeddingModel = z
  .string()
  .regex(/^(none|(http|onnx|gguf):.+)$/, "must be none, http:<model>, onnx:<folder or name> or gguf:<file>");

/** Its folders, as absolute paths. */
export function withRagFolders(rag: RagConfig, folder: (path: ConfigPath, value: string) => string): RagConfig {
  const { modelsFolder, packagesFolder, folders } = rag;
  return {
    ...rag,
    ...(modelsFolder !== undefined && { modelsFolder: folder(["rag", "modelsFolder"], modelsFolder) }),
    ...(packagesFolder !== undefined && { packagesFolder: folder(["rag", "packagesFolder"], packagesFolder) }),
    folders: folders.map((each) => folder(["rag", "folders"], each)),
  };
}

const rerankerSchema = z.strictObject({
  /** The whole address, such as `http://127.0.0.1:8080/v1/rerank`. */
  url: z.url({ protocol: /^https?$/ }),
  /** `jina`: as Jina, Cohere, vLLM and llama.cpp; `tei`: Hugging Face's. */
  format: z.enum(["jina", "tei"]).default("jina"),
  model: z.string().min(1).optional(),
  apiKey: z.string().min(1).optional(),
});

/** Documents that agents search. What a collection may set for itself is the default here for new ones. */
export const ragSchema = z
  .strictObject({
    chunkSize: z.int().min(50).max(8000).default(500),
    chunkOverlap: z.int().min(0).max(4000).default(50),
    embeddingModel: embeddingModel.default("none"),
    /** Where `http:…` is asked: an address that speaks OpenAI's protocol, Ollama's too. */
    embeddingUrl: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:11434/v1"),
    embeddingApiKey: z.string().min(1).optional(),
    indexType: z.enum(indexTypes).default("auto"),
    /** Absent: `hybrid` with an embedding model, else `lexical`. */
    retrieval: z.enum(retrievals).optional(),
    /** Of a hybrid: how much the vector side counts. */
    hybridWeight: z.number().min(0).max(1).default(0.5),
    language: z.string().min(1).default("english"),
    /** Of one document, and of all that a user has. */
    documentMb: z.number().positive().default(100),
    userMb: z.number().positive().default(5120),
    userDocuments: z.int().positive().default(20_000),
    /** Names or globs of embedding models that everybody may choose for a collection, beside the default one. */
    embeddingModels: z.array(z.string().min(1)).default([]),
    /** Where models of `onnx:<name>` and `gguf:<name>` are; absent: `models` in the data directory. */
    modelsFolder: z.string().min(1).optional(),
    /** In its `node_modules` are the packages that run them; absent: `packages` in the data directory. */
    packagesFolder: z.string().min(1).optional(),
    /** How many documents a node reads at the same time; each may need a gigabyte. */
    readers: z.int().min(1).max(16).default(1),
    /** Folders of this machine that people may point at; absent: none. */
    folders: z.array(z.string().min(1)).default([]),
    /** Hosts and ranges that may be fetched from though they are not on the public internet. */
    allow: z.array(z.string().min(1)).default([]),
    /** Servers that order what was found, by name. */
    rerankers: z.record(z.string().regex(/^(?!none$)[\w.-]{1,100}$/), rerankerSchema).default({}),
    /** The one of collections that name none; absent: none. */
    reranker: z.string().min(1).optional(),
    /** Of vectors that are kept in memory where PostgreSQL has no pgvector. */
    scanMb: z.number().positive().default(256),
  })
  .refine(({ reranker, rerankers }) => reranker === undefined || Object.hasOwn(rerankers, reranker), {
    error: "must be one of rag.rerankers",
    path: ["reranker"],
  })
  .refine(({ chunkSize, chunkOverlap }) => chunkOverlap * 2 <= chunkSize, {
    error: "must be at most half of chunkSize",
    path: ["chunkOverlap"],
  })
  .prefault({});

export type RagConfig = z.infer<typeof ragSchema>;
