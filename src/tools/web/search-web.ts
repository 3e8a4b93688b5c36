import { messageOf, Unavailable } from "../../protocol/base/errors.ts";
import type { FoundPage, SearchProvider, SearchQuestion } from "./search-provider.ts";
import { createShortCache } from "./short-cache.ts";

export type WebSearchResult = {
  /** Who found them. */
  readonly provider: string;
  readonly pages: readonly FoundPage[];
  /** Those that were asked before, and why they found nothing. */
  readonly failures: readonly string[];
};

/** Throws Unavailable `search_failed` with what each provider had to say. */
export type SearchWeb = (question: SearchQuestion, signal: AbortSignal) => Promise<WebSearchResult>;

const maxKept = 500;
const maxKeptCharacters = 10_000_000;

/** Asks the providers in their order, the next one where one fails; what was found a moment ago is not asked for again. */
export function createSearchWeb({
  providers,
  keptMs,
}: {
  readonly providers: readonly SearchProvider[];
  readonly keptMs: number;
}): SearchWeb {
  const memory = createShortCache<WebSearchResult>({ keptMs, most: maxKept, maxSize: maxKeptCharacters });
  return async (question, signal) => {
    const key = JSON.stringify({ ...question, query: question.query.toLowerCase() });
    const known = memory.get(key);
    if (known) return known;
    const failures: string[] = [];
    for (const { name, search } of providers)
      try {
        const found: WebSearchResult = { provider: name, pages: await search(question, signal), failures };
        memory.set(key, found, JSON.stringify(found).length);
        return found;
      } catch (error) {
        signal.throwIfAborted();
        failures.push(messageOf(error));
      }
    throw new Unavailable(failures.join(" "), { code: "search_failed" });
  };
}
