import { z } from "zod";
import { Unavailable } from "../../protocol/base/errors.ts";
import { askProvider, type ProviderRequestOptions, type ProviderRefusal } from "./ask-provider.ts";
import { maybeText, type SearchProvider, text, usablePages, withSites } from "./search-provider.ts";

export type SearxngOptions = Omit<ProviderRequestOptions, "signal"> & {
  readonly baseUrl: string;
  readonly engines?: readonly string[] | undefined;
  readonly language?: string | undefined;
};

const answerSchema = z.looseObject({
  results: z.array(z.looseObject({ title: text, url: text, content: text, publishedDate: maybeText })),
  /** An engine and what became of it; the form has changed over time. */
  unresponsive_engines: z.array(z.unknown()).catch([]),
});

/** https://docs.searxng.org/dev/search_api.html: GET /search. It knows no number of results, so they are cut here. */
export function searxng({ baseUrl, engines = [], language, ...asking }: SearxngOptions): SearchProvider {
  return {
    name: "searxng",
    async search({ query, maxResults, topic, timeRange, sites }, signal) {
      const url = new URL(`${baseUrl.replace(/\/$/, "")}/search`);
      const parameters = {
        q: withSites(query, sites),
        format: "json",
        pageno: "1",
        ...(topic === "general" ? {} : { categories: topic }),
        ...(timeRange === undefined ? {} : { time_range: timeRange }),
        ...(engines.length === 0 ? {} : { engines: engines.join() }),
        ...(language === undefined ? {} : { language }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      const { results, unresponsive_engines: silent } = await askProvider(
        { provider: "SearXNG", url, schema: answerSchema, advice },
        { ...asking, signal },
      );
      if (results.length === 0 && silent.length > 0)
        throw new Unavailable(
          `None of the engines that SearXNG asked has answered (${silent.map(engineText).join("; ").slice(0, 500)}). ` +
            "Try again later, or choose others by websearch.searxng.engines.",
          { code: "search_failed" },
        );
      return usablePages(
        results.map(({ content, publishedDate: published, ...rest }) => ({ ...rest, snippet: content, published })),
        { maxResults },
      );
    },
  };
}

function engineText(entry: unknown): string {
  return Array.isArray(entry) ? entry.map(String).join(": ") : String(entry);
}

function advice({ status }: ProviderRefusal): string | undefined {
  if (status === 403) return "its JSON format is not enabled: add json to search.formats in its settings.yml";
  if (status === 429) return "its limiter blocks this server: allow it in limiter.toml, or try again later";
  if (status === 404 || (status >= 300 && status < 400))
    return "no SearXNG answers at this address: set websearch.searxng.url to the address of its start page";
  return status >= 500 ? "it has a fault of its own; its log says more" : undefined;
}
