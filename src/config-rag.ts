import { z } from "zod";
import { indexTypes, retrievals } from "./protocol/knowledge.ts";

/** The form of an embedding model's name. */
const embeddingModel = z
  .string()
  .regex(/^(none|(http|onnx|gguf):.+)$/, "must be none, http:<model>, onnx:<folder or name> or gguf:<file>");

/** Documents that agents search. What a collection may set for itself is the default here for new ones. */
export const ragSchema = z
  .strictObject({
    chunkSize: z.int().min(50).max(8000).default(400),
    chunkOverlap: z.int().min(0).max(4000).default(40),
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
    /** How many documents a node reads at the same time; each may need a gigabyte. */
    readers: z.int().min(1).max(16).default(1),
    /** Folders of this machine that people may point at; absent: none. */
    folders: z.array(z.string().min(1)).default([]),
    /** Hosts and ranges that may be fetched from though they are not on the public internet. */
    allow: z.array(z.string().min(1)).default([]),
  })
  .refine(({ chunkSize, chunkOverlap }) => chunkOverlap * 2 <= chunkSize, {
    error: "must be at most half of chunkSize",
    path: ["chunkOverlap"],
  })
  .prefault({});
