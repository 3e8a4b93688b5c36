import { messageOf } from "../../protocol/base/errors.ts";
import type { Collection } from "../../store/knowledge/collections.ts";
import type { Reranker } from "./rerank.ts";

/** Candidates whose text a reranker reads. */
export const rerankedMost = 40;

export type NamedReranker = { readonly name: string; readonly rank: Reranker["rank"] };

/** The first that one of the collections has. */
export function rerankerOf(
  collections: readonly Collection[],
  {
    rerankers,
    reranker,
  }: { readonly rerankers: ReadonlyMap<string, Reranker>; readonly reranker?: string | undefined },
  notes: string[],
): NamedReranker | undefined {
  for (const { settings, name: collection } of collections) {
    const name = settings.reranker ?? reranker ?? "none";
    if (name === "none") continue;
    const found = rerankers.get(name);
    if (found) return { name, rank: found.rank };
    notes.push(`${collection} wants the reranker ${name}, which is not configured (rag.rerankers).`);
  }
  return undefined;
}

/** Reranks passages. Those without a score come last; if the reranker does not answer, the order stays. */
export async function reranked<Passage extends { readonly text: string }>(
  passages: readonly Passage[],
  {
    question,
    reranker,
    notes,
    signal,
  }: {
    readonly question: string;
    readonly reranker: NamedReranker | undefined;
    readonly notes: string[];
    readonly signal: AbortSignal;
  },
): Promise<readonly (Passage & { readonly relevance?: number })[]> {
  if (!reranker || passages.length === 0) return passages;
  const [first, rest] = [passages.slice(0, rerankedMost), passages.slice(rerankedMost)];
  try {
    const scores = await reranker.rank(
      question,
      first.map(({ text }) => text),
      signal,
    );
    const order = first.map((passage, at) => ({ passage, score: scores[at]! })).toSorted((a, b) => b.score - a.score);
    const scored = order.map(({ passage, score }) =>
      score === -Infinity ? passage : { ...passage, relevance: score },
    );
    return [...scored, ...rest];
  } catch (error) {
    signal.throwIfAborted();
    notes.push(`Not reranked: ${messageOf(error)}`);
    return passages;
  }
}
