import { z } from "zod";
import { askProvider, type ProviderRequestOptions, type ProviderRefusal } from "./ask-provider.ts";
import { maybeText, type SearchProvider, text, usablePages, withSites } from "./search-provider.ts";

export type BraveOptions = Omit<ProviderRequestOptions, "signal"> & {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly country?: string | undefined;
  readonly language?: string | undefined;
};

const listSchema = z
  .looseObject({
    results: z.array(
      z.looseObject({
        title: text,
        url: text,
        description: text,
        page_age: maybeText,
        extra_snippets: z.array(z.string()).catch([]),
      }),
    ),
  })
  .optional();
const answerSchema = z.looseObject({ type: z.literal("search"), web: listSchema, news: listSchema });

const freshness = { day: "pd", week: "pw", month: "pm", year: "py" } as const;
/** More it does not give at once. */
const maxPerRequest = 20;

/** https://api-dashboard.search.brave.com: GET /res/v1/web/search. */
export function brave({ baseUrl, apiKey, country, language, ...asking }: BraveOptions): SearchProvider {
  return {
    name: "brave",
    async search({ query, maxResults, topic, timeRange, sites }, signal) {
      const url = new URL(`${baseUrl.replace(/\/$/, "")}/res/v1/web/search`);
      const parameters = {
        q: withSites(query, sites),
        count: String(Math.min(maxResults, maxPerRequest)),
        result_filter: topic === "news" ? "news,web" : "web",
        ...(timeRange === undefined ? {} : { freshness: freshness[timeRange] }),
        ...(country === undefined ? {} : { country }),
        ...(language === undefined ? {} : { search_lang: language }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      const { web, news } = await askProvider(
        { provider: "Brave", url, headers: { "x-subscription-token": apiKey }, schema: answerSchema, advice },
        { ...asking, signal },
      );
      const results = [...(topic === "news" ? (news?.results ?? []) : []), ...(web?.results ?? [])];
      return usablePages(
        results.map(({ title, url: address, description, extra_snippets: more, page_age: published }) => ({
          title,
          url: address,
          snippet: [description, ...more].join(" "),
          published,
        })),
        { maxResults },
      );
    },
  };
}

function advice({ status, headers, body }: ProviderRefusal): string | undefined {
  if (status === 401 || status === 403 || body.includes("SUBSCRIPTION_TOKEN_INVALID"))
    return "its key is not valid: update BRAVE_API_KEY (websearch.brave.apiKey)";
  if (status === 429)
    // For each window of its plan one: the second, the month.
    return /,\s*0\b/.test(String(headers["x-ratelimit-remaining"]))
      ? "the searches of its plan are used up; the next month or a larger plan brings more"
      : "too many searches at once; try again in a minute, or lower websearch.brave.requestsPerSecond";
  if (status === 422) return "it does not take such a query: make it shorter and plainer";
  return status >= 500 ? "it has a fault of its own; try again later" : undefined;
}
