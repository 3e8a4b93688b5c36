import type { CandidateView, PassageView, TraceView } from "../../protocol/knowledge/passages.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { RetrievalMode as RetrievalKind } from "../../protocol/knowledge/chunks.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import type { Collection } from "../../store/knowledge/collections.ts";
import type { SearchFilters } from "../../store/knowledge/filters.ts";
import type {
  Candidate,
  Passage,
  SearchPassages,
  SearchedCollection,
  SearchTrace,
} from "../../store/knowledge/search.ts";
import { addTrace, type StoredTrace } from "../../store/knowledge/traces.ts";
import { chosenCollections, groupsOf } from "./choose-collections.ts";
import type { Knowledge } from "../knowledge.ts";
import type { Reranker } from "./rerank.ts";
import { reranked, rerankedMost, rerankerOf } from "./rerank-passages.ts";

export type RetrievalRequest = {
  readonly question: string;
  /** Ids or names; none: all that the caller may search. */
  readonly collections?: readonly string[] | undefined;
  /** Instead of what the collections' settings say. */
  readonly retrieval?: RetrievalKind | undefined;
  readonly weight?: number | undefined;
  readonly filters?: SearchFilters | undefined;
  /** Passages at most, and their tokens together. */
  readonly limit?: number | undefined;
  readonly tokens?: number | undefined;
  /** Puts the question into words that documents would use; asked if a collection wants it. */
  readonly rewrite?: ((question: string) => Promise<string>) | undefined;
  readonly runId?: string | undefined;
};

export type FoundPassage = Passage & Pick<PassageView, "collectionName" | "relevance">;

/** All that can be told of how passages were found, without their text. */
export type RetrievalTrace = Omit<TraceView, "filters" | "candidates"> & {
  readonly filters?: SearchFilters;
  readonly candidates: readonly (Candidate & Pick<CandidateView, "relevance" | "place" | "cut">)[];
};

export type RetrievalResult = {
  readonly traceId: string;
  readonly passages: readonly FoundPassage[];
  readonly trace: RetrievalTrace;
};

export type RetrieveOptions = {
  readonly database: Database;
  readonly knowledge: Pick<Knowledge, "embedder"> & {
    readonly collections: Pick<Knowledge["collections"], "find" | "list">;
  };
  readonly search: SearchPassages;
  /** Rerankers by name. */
  readonly rerankers: ReadonlyMap<string, Reranker>;
  /** Default for collections that name none. */
  readonly reranker?: string | undefined;
  readonly log: Log;
};

export type RetrievePassages = (
  caller: Caller,
  request: RetrievalRequest,
  signal: AbortSignal,
) => Promise<RetrievalResult>;

export type Traces = {
  /** Lists the caller's, newest first; `before` is an ID, exclusive. */
  list(
    caller: Caller,
    page: { readonly runId?: string | undefined; readonly before?: string | undefined; readonly limit: number },
  ): Promise<readonly Omit<StoredTrace<never>, "trace">[]>;
  /** Throws NotFound. */
  get(caller: Caller, id: string): Promise<StoredTrace<RetrievalTrace>>;
};

/** Finding passages, and how they were found. */
export type PassageSearch = {
  readonly retrieve: RetrievePassages;
  readonly traces: Traces;
  /** Names that collections may use, and the default. */
  readonly rerankers: { readonly names: readonly string[]; readonly standard?: string | undefined };
};

export const maxQuestion = 4000;
const standardPassages = 8;
const standardTokens = 4000;
const candidatesKept = 200;

/** Finds passages that may answer a question, and keeps how. A foreign collection is as one that there isn't. */
export function createRetrieve(options: RetrieveOptions): RetrievePassages {
  const { database, knowledge, search, log } = options;
  return async (caller, request, signal) => {
    const { question, filters, limit = standardPassages, tokens = standardTokens } = request;
    if (question.trim() === "" || question.length > maxQuestion)
      throw new InvalidInput(`A question has 1 to ${maxQuestion} characters.`, { param: "question" });
    const notes: string[] = [];
    const milliseconds: Record<string, number> = {};
    const timed = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
      const begun = performance.now();
      try {
        return await work();
      } finally {
        milliseconds[name] = Math.round((performance.now() - begun) * 10) / 10;
      }
    };

    const collections = await chosenCollections(knowledge.collections, caller, request.collections, notes);
    const searched = await timed("rewrite", () => rewritten(request, collections, notes));
    const groups = groupsOf(collections, request);
    const reranker = rerankerOf(collections, options, notes);
    const found: SearchTrace[] = [];
    const passages: Passage[] = [];
    for (const { retrieval, weight, members } of groups) {
      const embedded = await timed("embed", () =>
        embedding(knowledge, { members, retrieval, text: searched, notes, signal }),
      );
      const asked = {
        collections: embedded.collections,
        text: searched,
        retrieval: embedded.retrieval,
        weight,
        filters,
        limit: reranker ? rerankedMost : Math.min(100, limit * 2),
      };
      const result = await timed("search", () => search(database, asked, signal));
      found.push(result.trace);
      passages.push(...result.passages);
    }
    const indexing = new Map(found.flatMap((each) => each.indexing).map((each) => [each.collectionId, each]));
    const names = new Map(collections.map(({ id, name }) => [id, name]));
    for (const { collectionId, left } of indexing.values())
      if (left > 0)
        notes.push(
          `Of ${names.get(collectionId)}, ${left} chunks that are not indexed yet were left out of the search by words, since reading them takes too long. They will be found when indexing is done.`,
        );
    const ordered = await timed("rerank", () =>
      reranked(
        passages.toSorted(byScore).map((passage) => ({ ...passage, collectionName: names.get(passage.collectionId)! })),
        { question, reranker, notes, signal },
      ),
    );
    const cut = cutPassages(ordered, { limit, tokens });
    const taken = cut.filter((each) => each.cut === undefined).map(({ passage }) => passage);
    const trace: RetrievalTrace = {
      question,
      ...(searched === question ? {} : { searched }),
      collections: groups.flatMap(({ retrieval, weight, members }) =>
        members.map(({ id, name, embeddingModel }) => {
          const percent = indexing.get(id)?.percent;
          return { id, name, retrieval, weight, embeddingModel, ...(percent !== undefined && { indexing: percent }) };
        }),
      ),
      ...(filters && { filters }),
      lexical: [...new Set(found.flatMap(({ lexical }) => lexical))],
      vector: [...new Set(found.flatMap(({ vector }) => vector))],
      ...(reranker && { reranker: reranker.name }),
      notes,
      milliseconds,
      candidates: candidatesOf(cut, taken, found),
    };
    const traceId = newId();
    await keep();
    return { traceId, passages: taken, trace };

    /** A retrieval that can't be noted is one all the same. */
    async function keep(): Promise<void> {
      const collectionIds = collections.map(({ id }) => id);
      try {
        await addTrace(database.query, {
          id: traceId,
          userId: caller.userId,
          collectionIds,
          runId: request.runId,
          question,
          trace,
        });
      } catch (error) {
        log.warn({ error: messageOf(error) }, "the trace of a retrieval was not kept");
      }
    }
  };
}

async function rewritten(
  { question, rewrite }: RetrievalRequest,
  collections: readonly Collection[],
  notes: string[],
): Promise<string> {
  if (!rewrite || !collections.some(({ settings }) => settings.rewrite)) return question;
  const text = (await rewrite(question)).replaceAll(/\s+/g, " ").trim().slice(0, maxQuestion);
  if (text !== "") return text;
  notes.push("The model put the question into no other words.");
  return question;
}

/** The question as each collection's model embeds it. Without an answer of any model, words are all there is. */
async function embedding(
  knowledge: RetrieveOptions["knowledge"],
  {
    members,
    retrieval,
    text,
    notes,
    signal,
  }: {
    readonly members: readonly Collection[];
    readonly retrieval: RetrievalKind;
    readonly text: string;
    readonly notes: string[];
    readonly signal: AbortSignal;
  },
): Promise<{ readonly collections: readonly SearchedCollection[]; readonly retrieval: RetrievalKind }> {
  const vectors = new Map<string, Float32Array>();
  if (retrieval !== "lexical")
    for (const model of new Set(members.map(({ embeddingModel }) => embeddingModel))) {
      try {
        const embedder = await knowledge.embedder(model, signal);
        const [vector] = (await embedder?.embed([text], "query", signal)) ?? [];
        if (vector) vectors.set(model, vector);
      } catch (error) {
        signal.throwIfAborted();
        notes.push(`The question was not embedded by ${model}, so only words were looked for: ${messageOf(error)}`);
      }
    }
  const collections = members.map(({ id, settings, embeddingModel }) => ({
    id,
    textConfig: settings.language,
    embeddingModel,
    embedding: vectors.get(embeddingModel),
  }));
  return { collections, retrieval: vectors.size === 0 ? "lexical" : retrieval };
}

function byScore(one: Candidate, other: Candidate): number {
  return other.score - one.score || (other.lexical?.score ?? 0) - (one.lexical?.score ?? 0) || one.id - other.id;
}

function candidatesOf(
  cut: ReturnType<typeof cutPassages<FoundPassage>>,
  taken: readonly FoundPassage[],
  found: readonly SearchTrace[],
): RetrievalTrace["candidates"] {
  const known = new Set(cut.map(({ passage }) => passage.id));
  const read = cut.map(({ passage, cut: why }) => {
    const { text: _text, collectionName: _name, ...candidate } = passage;
    return { ...candidate, ...(why === undefined ? { place: taken.indexOf(passage) + 1 } : { cut: why }) };
  });
  const others = found
    .flatMap(({ candidates }) => candidates)
    .filter(({ id }) => !known.has(id))
    .toSorted(byScore)
    .map((candidate) => ({ ...candidate, cut: "rank" as const }));
  return [...read, ...others].slice(0, candidatesKept);
}

/** Why a candidate is not among the passages. `rank`: others are before it; `tokens`: it does not fit any more; `same`: its text is there already. */
type CutReason = NonNullable<CandidateView["cut"]>;

/** In their order: as many as are wanted and have room together. The first one is always taken. */
function cutPassages<Each extends Pick<Passage, "text" | "tokens">>(
  passages: readonly Each[],
  { limit, tokens }: { readonly limit: number; readonly tokens: number },
): readonly { readonly passage: Each; readonly cut?: CutReason }[] {
  const texts = new Set<string>();
  let left = tokens;
  return passages.map((passage) => {
    if (texts.has(passage.text)) return { passage, cut: "same" };
    if (texts.size >= limit) return { passage, cut: "rank" };
    if (passage.tokens > left && texts.size > 0) return { passage, cut: "tokens" };
    texts.add(passage.text);
    left -= passage.tokens;
    return { passage };
  });
}
