import { z } from "zod";
import { mostQuestion, type RetrievalTrace, type Retrieved } from "../../knowledge/retrieve.ts";
import { retrievals } from "../../protocol/knowledge.ts";
import { closedSignal } from "../closed-signal.ts";
import { endpoint } from "../endpoint.ts";
import { idSchema } from "../../protocol/shapes.ts";
import { idParams, listOf, pageQuery } from "../schemas.ts";

const filtersSchema = z.strictObject({
  documentIds: z.array(idSchema).min(1).max(1000).optional(),
  documents: z
    .array(z.string().min(1).max(500))
    .min(1)
    .max(100)
    .optional()
    .describe("Names of documents; `*` stands for any text"),
  kinds: z.array(z.string().min(1).max(100)).min(1).max(50).optional().describe("Such as `pdf`, `markdown`"),
  metadata: z.record(z.string(), z.json()).optional().describe("What a document's metadata must hold"),
  pageFrom: z.int().min(1).optional(),
  pageTo: z.int().min(1).optional(),
});

const side = (score: Record<string, z.ZodType>) => z.object({ rank: z.int(), ...score });
const placeShape = {
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
  lexical: side({ score: z.number().describe("BM25") }).optional(),
  vector: side({ similarity: z.number().describe("Cosine") }).optional(),
  relevance: z.number().optional().describe("By the reranker"),
};

const passageSchema = z.object({ ...placeShape, collectionName: z.string(), text: z.string() });

const traceSchema = z.object({
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
  candidates: z
    .array(
      z.object({
        ...placeShape,
        place: z.int().optional().describe("Among the passages"),
        cut: z
          .enum(["rank", "tokens", "same"])
          .optional()
          .describe("Why it is not among them: others are before it, no room is left, its text is there already"),
      }),
    )
    .readonly()
    .describe("In their final order"),
});

export const queryKnowledge = endpoint({
  tag: "knowledge",
  summary: "Search collections",
  description:
    "Passages, best first, and how each was found. Without `collections` in all that you may search. The same is kept as a " +
    "trace. Questions are searched as they are: the tool `rag` has them rewritten where a collection wants it.",
  body: z.strictObject({
    question: z.string().min(1).max(mostQuestion),
    collections: z.array(z.string().min(1).max(200)).max(20).optional().describe("Ids or names"),
    retrieval: z.enum(retrievals).optional().describe("Instead of what the collections' settings say"),
    weight: z.number().min(0).max(1).optional().describe("Of a hybrid: how much the vector side counts"),
    filters: filtersSchema.optional(),
    limit: z.int().min(1).max(50).optional().describe("Passages at most, 8 when absent"),
    tokens: z.int().min(1).max(100_000).optional().describe("Of all passages together, 4000 when absent"),
  }),
  answers: { 200: z.object({ id: idSchema, passages: z.array(passageSchema), trace: traceSchema }) },
  async handle({ body, caller, reply, services: { retrieval } }) {
    return shown(await retrieval.retrieve(caller, body, closedSignal(reply)));
  },
});

const tracePlace = {
  id: idSchema,
  question: z.string(),
  runId: idSchema.nullable().describe("Of the run that asked; null: a person did"),
  createdAt: z.string().describe("ISO 8601"),
};

export const listTraces = endpoint({
  tag: "knowledge",
  summary: "List your retrievals, newest first",
  description: "The last 500 of a person are kept.",
  query: z.object({
    run: idSchema.optional().describe("Only of this run"),
    before: idSchema.optional().describe("The last id of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(z.object(tracePlace)) },
  async handle({ query: { run: runId, before, limit = 50 }, caller, services: { retrieval } }) {
    const traces = await retrieval.traces.list(caller, { runId, before, limit });
    return { data: traces.map((trace) => ({ ...trace, createdAt: trace.createdAt.toISOString() })) };
  },
});

export const getTrace = endpoint({
  tag: "knowledge",
  summary: "Get how passages were found",
  params: idParams,
  answers: { 200: z.object({ ...tracePlace, trace: traceSchema }) },
  async handle({ params, caller, services: { retrieval } }) {
    const { createdAt, trace, ...place } = await retrieval.traces.get(caller, params.id);
    return { ...place, trace: shownTrace(trace), createdAt: createdAt.toISOString() };
  },
});

function shown({ traceId, passages, trace }: Retrieved) {
  return { id: traceId, passages: passages.map(({ id: _, ...passage }) => passage), trace: shownTrace(trace) };
}

/** A chunk's own number means nothing outside: it is another one when its document is read again. */
function shownTrace(trace: RetrievalTrace) {
  return { ...trace, candidates: trace.candidates.map(({ id: _, ...candidate }) => candidate) };
}
