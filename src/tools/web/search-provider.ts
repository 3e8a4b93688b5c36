import { z } from "zod";

export const topics = ["general", "news"] as const;
export const timeRanges = ["day", "week", "month", "year"] as const;

export type SearchQuestion = {
  readonly query: string;
  readonly maxResults: number;
  readonly topic: (typeof topics)[number];
  readonly timeRange?: (typeof timeRanges)[number] | undefined;
  /** Only from these sites, or below them. */
  readonly sites?: readonly string[] | undefined;
};

export type FoundPage = {
  readonly title: string;
  readonly url: string;
  /** Excerpt of the page that fits the query. */
  readonly snippet: string;
  readonly published?: string;
};

/** A web search provider. Throws errors that tell people and models what to do. */
export type SearchProvider = {
  readonly name: string;
  search(question: SearchQuestion, signal: AbortSignal): Promise<readonly FoundPage[]>;
};

const maxTitle = 300;
const maxSnippet = 2000;
const maxUrl = 2000;

/** A provider's raw result; fields of another type count as missing. */
export const text = z.string().catch("");
export const maybeText = z.string().optional().catch(undefined);

/** Returns the usable results: with a web address, without duplicates and markup, up to the requested number. */
export function usablePages(
  given: readonly { title: string; url: string; snippet: string; published?: string | undefined }[],
  { maxResults }: Pick<SearchQuestion, "maxResults">,
): FoundPage[] {
  const pages = new Map<string, FoundPage>();
  for (const { title, url, snippet, published } of given) {
    const address = webAddress(url);
    if (address === undefined || pages.has(address)) continue;
    const day = dateOf(published);
    pages.set(address, {
      title: plain(title, maxTitle) || address,
      url: address,
      snippet: plain(snippet, maxSnippet),
      ...(day === undefined ? {} : { published: day }),
    });
    if (pages.size === maxResults) break;
  }
  return [...pages.values()];
}

/** Returns the address without its fragment; undefined if it is not a web address. */
export function webAddress(given: string): string | undefined {
  const url = URL.parse(given.trim());
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url.href.length <= maxUrl ? url.href : undefined;
}

/** Adds common search operators to the query. */
export function withSites(query: string, sites: readonly string[] = []): string {
  return sites.length === 0 ? query : `${query} (${sites.map((site) => `site:${site}`).join(" OR ")})`;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function plain(given: string, most: number): string {
  const decoded = given
    .slice(0, most * 4)
    .replaceAll(/<\/?[a-z][^>]{0,200}>/gi, "")
    .replaceAll(
      /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{1,10}));/gi,
      (whole, decimal, hex, name: string | undefined) => {
        if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
        const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
      },
    );
  const tidy = decoded.replaceAll(/\s+/g, " ").trim();
  return (tidy.length > most ? `${tidy.slice(0, most)}…` : tidy).toWellFormed();
}

/** Returns a date as ISO 8601; undefined for texts such as "3 days ago". */
function dateOf(given: string | undefined): string | undefined {
  if (given === undefined || !/\d{4}/.test(given) || given.length > 100) return undefined;
  const moment = new Date(given);
  if (Number.isNaN(moment.getTime())) return undefined;
  return /^\d{4}-\d\d-\d\d$/.test(given) ? given : moment.toISOString();
}
