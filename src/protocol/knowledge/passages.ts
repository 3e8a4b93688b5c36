import { z } from "zod";
import { indexingSchema } from "./collections.ts";
import { retrievals } from "./chunks.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

/** A chunk that may be what was asked for. */
const foundSchema = z.object({
  collectionId: idSchema,
  documentId: idSchema,
  documentName: z.string(),
  ordinal: z.int().describe("Which chunk of the document, from 0"),
  charStart: z.int(),
  charEnd: z.int().describe("Exclusive; of the document's text, in UTF-16 units"),
  page: z.int().nullable(),
  headingPath: z.array(z.string()).readonly(),
  tokens: z.int(),
  score: z.number().describe("Of both ranks, fused"),
  lexical: z.object({ rank: z.int(), score: z.number().describe("BM25") }).optional(),
  /** From -1 to 1. */
  vector: z.object({ rank: z.int(), similarity: z.number().describe("Cosine") }).optional(),
  relevance: z.number().optional().describe("By the reranker"),
});
export type FoundChunk = Shape<typeof foundSchema>;

const passageSchema = foundSchema.extend({ collectionName: z.string(), text: z.string() });
export type PassageView = Shape<typeof passageSchema>;

const candidateSchema = foundSchema.extend({
  place: z.int().optional().describe("Among the passages"),
  cut: z
    .enum(["rank", "tokens", "same"])
    .optional()
    .describe("Why it is not among them: others are before it, no room is left, its text is there already"),
});
export type CandidateView = Shape<typeof candidateSchema>;

/** All that can be told of how passages were found, without their text. */
export const traceSchema = z.object({
  question: z.string(),
  searched: z.string().optional().describe("What was searched for, if a model put it into other words"),
  collections: z
    .array(
      z.object({
        id: idSchema,
        name: z.string(),
        retrieval: z.enum(retrievals),
        weight: z.number(),
        embeddingModel: z.string(),
        indexing: indexingSchema.optional(),
      }),
    )
    .readonly(),
  filters: z.looseObject({}).optional(),
  lexical: z
    .array(z.enum(["bm25", "terms"]))
    .readonly()
    .describe("`terms`: computed in SQL, without pg_textsearch"),
  vector: z
    .array(z.enum(["hnsw", "ivfflat", "exact", "scan"]))
    .readonly()
    .describe("`exact`: all vectors compared, `scan`: the same without pgvector"),
  reranker: z.string().optional(),
  notes: z.array(z.string()).readonly().describe("What was left out or done otherwise, and why"),
  milliseconds: z.record(z.string(), z.number()),
  candidates: z.array(candidateSchema).readonly().describe("In their final order"),
});
export type TraceView = Shape<typeof traceSchema>;

export const knowledgeAnswerSchema = z.object({ id: idSchema, passages: z.array(passageSchema), trace: traceSchema });
export type KnowledgeAnswer = Shape<typeof knowledgeAnswerSchema>;

export const tracePlaceSchema = z.object({
  id: idSchema,
  question: z.string(),
  runId: idSchema.nullable().describe("Of the run that asked; null: a person did"),
  createdAt: timeSchema,
});
export type TracePlace = Shape<typeof tracePlaceSchema>;

export const keptTraceSchema = tracePlaceSchema.extend({ trace: traceSchema });
export type KeptTrace = Shape<typeof keptTraceSchema>;
