import { z } from "zod";
import {
  type KeptTrace,
  keptTraceSchema,
  type KnowledgeAnswer,
  knowledgeAnswerSchema,
  type TracePlace,
  tracePlaceSchema,
  type TraceView,
} from "../../../protocol/knowledge/passages.ts";
import { maxQuestion, type RetrievalTrace, type RetrievalResult } from "../../../knowledge/search/retrieve.ts";
import { retrievals } from "../../../protocol/knowledge/chunks.ts";
import { closedSignal } from "../../stream/sse.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { idParams, listOf, pageQuery } from "../../shapes/schemas.ts";

const filtersSchema = z.strictObject({
  documentIds: z.array(idSchema).min(1).max(1000).optional(),
  documents: z
    .array(z.string().min(1).max(500))
    .min(1)
    .max(100)
    .optional()
    .describe("Names of documents; `*` is a wildcard"),
  kinds: z.array(z.string().min(1).max(100)).min(1).max(50).optional().describe("Such as `pdf`, `markdown`"),
  metadata: z.record(z.string(), z.json()).optional().describe("Values that a document's metadata must contain"),
  pageFrom: z.int().min(1).optional(),
  pageTo: z.int().min(1).optional(),
});

export const queryKnowledge = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Search collections",
  description:
    "Passages, best first, and how each was found. Without `collections` in all that you may search. The same is kept as a " +
    "trace. Questions are searched as they are: the tool `rag` has them rewritten where a collection wants it.",
  body: z.strictObject({
    question: z.string().min(1).max(maxQuestion),
    collections: z.array(z.string().min(1).max(200)).max(20).optional().describe("Ids or names"),
    retrieval: z.enum(retrievals).optional().describe("Overrides the collections' settings"),
    weight: z.number().min(0).max(1).optional().describe("Of a hybrid: how much the vector side counts"),
    filters: filtersSchema.optional(),
    limit: z.int().min(1).max(50).optional().describe("Passages at most, 8 when absent"),
    tokens: z.int().min(1).max(100_000).optional().describe("Of all passages together, 4000 when absent"),
  }),
  answers: { 200: knowledgeAnswerSchema },
  async handle({ body, caller, reply, services: { retrieval } }) {
    return shown(await retrieval.retrieve(caller, body, closedSignal(reply)));
  },
});

export const listTraces = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "List your retrievals, newest first",
  description: "The last 500 per user are kept.",
  query: z.object({
    run: idSchema.optional().describe("Only of this run"),
    before: idSchema.optional().describe("The last id of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(tracePlaceSchema) },
  async handle({ query: { run: runId, before, limit = 50 }, caller, services: { retrieval } }) {
    const traces = await retrieval.traces.list(caller, { runId, before, limit });
    return { data: traces.map((trace): TracePlace => ({ ...trace, createdAt: trace.createdAt.toISOString() })) };
  },
});

export const getTrace = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Get how passages were found",
  params: idParams,
  answers: { 200: keptTraceSchema },
  async handle({ params, caller, services: { retrieval } }): Promise<KeptTrace> {
    const { createdAt, trace, ...place } = await retrieval.traces.get(caller, params.id);
    return { ...place, trace: shownTrace(trace), createdAt: createdAt.toISOString() };
  },
});

function shown({ traceId, passages, trace }: RetrievalResult): KnowledgeAnswer {
  return { id: traceId, passages: passages.map(({ id: _, ...passage }) => passage), trace: shownTrace(trace) };
}

/** A chunk's own number means nothing outside: it is another one when its document is read again. */
function shownTrace(trace: RetrievalTrace): TraceView {
  return { ...trace, candidates: trace.candidates.map(({ id: _, ...candidate }) => candidate) };
}
