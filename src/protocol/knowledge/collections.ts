import { z } from "zod";
import { collectionSettingsSchema } from "./chunks.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

/** Its documents by their status, and what they are together. */
const countsSchema = z.object({
  documents: z.int(),
  queued: z.int(),
  working: z.int(),
  ready: z.int(),
  failed: z.int(),
  chunks: z.int(),
  bytes: z.number().describe("Of all originals"),
});
export type CollectionCounts = Shape<typeof countsSchema>;

/** Never 100: then it is absent. */
export const indexingSchema = z
  .int()
  .min(0)
  .max(99)
  .describe("Percent of its chunks whose words are indexed; the others are found too, more slowly. Absent: all are");

/** A collection of documents, as whoever may read it sees it. */
export const collectionSchema = z.object({
  id: idSchema,
  name: z.string(),
  description: z.string(),
  owner: z.string(),
  isOwn: z.boolean().describe("Whether you may change it"),
  embeddingModel: z.string().describe("`none`, `http:…`, `onnx:…` or `gguf:…`"),
  dimension: z.int().nullable().describe("Numbers of an embedding; null while there are none"),
  settings: collectionSettingsSchema,
  sharedWith: z.array(z.string()).readonly(),
  counts: countsSchema,
  indexing: indexingSchema.optional(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
});
export type CollectionView = Shape<typeof collectionSchema>;

/** What a collection may be made with. */
export const choicesSchema = z.object({
  defaults: collectionSettingsSchema.extend({ embeddingModel: z.string() }),
  embeddingModels: z.array(z.string()).readonly().describe("Those that are known by name"),
  otherModels: z.array(z.string()).readonly().describe("Other models you can choose; `*` is a wildcard"),
  languages: z.array(z.string()).readonly().describe("Text search configurations of the database"),
  rerankers: z.array(z.string()).readonly(),
  reranker: z.string().nullable().describe("Of collections that name none"),
  documentBytes: z.number().describe("Of one document, at most"),
});
export type KnowledgeChoices = Shape<typeof choicesSchema>;
