import type { Config } from "../config/schema.ts";
import { type IndexKeeper, startIndexKeeper } from "../knowledge/search/index-keeper.ts";
import type { Knowledge } from "../knowledge/knowledge.ts";
import { createReranker } from "../knowledge/search/rerank.ts";
import {
  createRetrieve,
  type PassageSearch,
  type RetrievePassages,
  type RetrievalTrace,
  type Traces,
} from "../knowledge/search/retrieve.ts";
import { type Caller, mayUse } from "../protocol/base/callers.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Source } from "../protocol/knowledge/sources.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Database } from "../store/driver/database.ts";
import { createSearch } from "../store/knowledge/search.ts";
import { getTrace, listTraces } from "../store/knowledge/traces.ts";

export type RetrievalDeps = {
  readonly database: Database;
  readonly knowledge: Knowledge;
  readonly log: Log;
};

export type OpenRetrieval = { readonly retrieve: RetrievePassages; readonly close: () => Promise<void> };

/** The way from a question to passages, as it is configured. */
export function openRetrieval(
  { rag }: Pick<Config, "rag">,
  { database, knowledge, log }: RetrievalDeps,
): OpenRetrieval {
  const rerankers = new Map(Object.entries(rag.rerankers).map(([name, settings]) => [name, createReranker(settings)]));
  return {
    retrieve: createRetrieve({
      database,
      knowledge,
      search: createSearch({ scanMb: rag.scanMb }),
      rerankers,
      reranker: rag.reranker,
      log,
    }),
    async close() {
      for (const reranker of rerankers.values()) await reranker.close();
    },
  };
}

/** Which are configured. */
export function rerankersOf({ rag }: Pick<Config, "rag">): PassageSearch["rerankers"] {
  return { names: Object.keys(rag.rerankers), standard: rag.reranker };
}

/** How passages were found; of whoever may not see all collections, only in those that it may. */
export function tracesOf(query: Query, { collections }: Pick<Knowledge, "collections">): Traces {
  const seenBy = async (caller: Caller) =>
    mayUse(caller, "collection", "*") ? null : (await collections.list(caller)).map(({ id }) => id);
  return {
    list: async (caller, page) =>
      listTraces(query, { userId: caller.userId, collections: await seenBy(caller), ...page }),
    get: async (caller, id) =>
      getTrace<RetrievalTrace>(query, { userId: caller.userId, id, collections: await seenBy(caller) }),
  };
}

/** For the check of citations; nothing of a document that is gone, or that the caller may not read. */
export function sourceTextOf({ documents }: Pick<Knowledge, "documents">) {
  return async (caller: Caller, { documentId }: Source): Promise<string | undefined> =>
    documentId === undefined ? undefined : documents.text(caller, documentId).catch(() => undefined);
}

/** Of indexes, one keeper works in each process that works at all. */
export function keepIndexes(parts: Pick<RetrievalDeps, "database" | "log">, runsJobs: boolean): IndexKeeper {
  return runsJobs ? startIndexKeeper(parts) : { wake: () => {}, close: async () => {} };
}
