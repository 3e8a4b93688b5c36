import { z } from "zod";
import { askProvider, type ProviderRequestOptions, type ProviderRefusal } from "./ask-provider.ts";
import { maybeText, type SearchProvider, text, usablePages } from "./search-provider.ts";

export const tavilyDepths = ["basic", "advanced", "fast", "ultra-fast"] as const;

export type TavilyOptions = Omit<ProviderRequestOptions, "signal"> & {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly depth: (typeof tavilyDepths)[number];
};

const answerSchema = z.looseObject({
  results: z.array(z.looseObject({ title: text, url: text, content: text, published_date: maybeText })),
});

/** https://docs.tavily.com: POST /search. */
export function tavily({ baseUrl, apiKey, depth, ...asking }: TavilyOptions): SearchProvider {
  return {
    name: "tavily",
    async search({ query, maxResults, topic, timeRange, sites = [] }, signal) {
      const { results } = await askProvider(
        {
          provider: "Tavily",
          url: new URL(`${baseUrl.replace(/\/$/, "")}/search`),
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}` },
          body: {
            query,
            search_depth: depth,
            topic,
            max_results: maxResults,
            include_answer: false,
            include_raw_content: false,
            ...(timeRange === undefined ? {} : { time_range: timeRange }),
            ...(sites.length === 0 ? {} : { include_domains: sites }),
          },
          schema: answerSchema,
          advice,
        },
        { ...asking, signal },
      );
      return usablePages(
        results.map(({ title, url, content, published_date: published }) => ({
          title,
          url,
          snippet: content,
          published,
        })),
        { maxResults },
      );
    },
  };
}

function advice({ status }: ProviderRefusal): string | undefined {
  if (status === 401 || status === 403) return "its key is not valid: update TAVILY_API_KEY (websearch.tavily.apiKey)";
  if (status === 429) return "too many searches at once; try again in a minute";
  if (status === 432) return "the searches of its plan are used up; the next month or a larger plan brings more";
  if (status === 433) return "the limit for paid searches that was set at Tavily is reached; raise it there";
  return status >= 500 ? "it has a fault of its own; try again later" : undefined;
}
