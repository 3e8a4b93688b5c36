import { z } from "zod";
import { LostRun, messageOf } from "../../protocol/base/errors.ts";
import type { Source } from "../../protocol/knowledge/sources.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { defineTool } from "../core/define-tool.ts";
import { type FoundPage, type SearchQuestion, timeRanges, topics } from "./search-provider.ts";
import type { SearchWeb } from "./search-web.ts";

export type WebsearchOptions = {
  readonly search: SearchWeb;
  /** How many results it takes where a call does not say. */
  readonly maxResults: number;
  /** The prompt `websearch_answer` with these values in it; absent: whoever asks reads the results themselves. */
  readonly prompt?: ((values: Readonly<Record<string, string>>) => Promise<string>) | undefined;
  /** Why it can't be used here, and what to do. */
  readonly unavailable?: string | undefined;
};

const timeoutMs = 180_000;
/** The most that all providers give at once. */
const maxResultsAsked = 20;
const maxQuery = 400;
/** So that clients can show what an answer rests on. */
const keepNumbers = "Put the number of the page behind each statement that rests on it: [1].";

const site = z.string().regex(/^([a-z\d-]+\.)+[a-z\d-]{2,}$/i, "must be a domain such as example.org");

const input = z.object({
  query: z
    .string()
    .trim()
    .min(1)
    .max(maxQuery)
    .describe("What to look for, in the words that pages about it would use"),
  max_results: z.int().min(1).max(maxResultsAsked).optional().describe("How many pages to look at"),
  topic: z.enum(topics).default("general"),
  time_range: z.enum(timeRanges).optional().describe("Only what is not older"),
  sites: z.array(site).max(10).optional().describe("Only these domains"),
});
type WebsearchInput = z.output<typeof input>;

/** Looks on the web, and has a model answer from what was found: a step of the same run. */
export function websearchTool(options: WebsearchOptions): Tool {
  const gives = options.prompt
    ? "an answer from what was found, with its sources by number"
    : "titles, addresses and words of pages";
  return defineTool({
    name: "websearch",
    description:
      `Searches the web and gives ${gives}. For what you can't know: news, prices, documentation, people, places, anything ` +
      "after your training. One question at a time. To read a whole page, give its address to fetch_page.",
    input,
    effect: "read",
    bringsIn: true,
    isPublic: true,
    timeoutMs,
    ...(options.unavailable === undefined ? {} : { unavailable: options.unavailable }),
    execute: (asked, context) => searchAndAnswer(options, asked, context),
  });
}

async function searchAndAnswer(
  { search, maxResults, prompt }: WebsearchOptions,
  { query, max_results: most = maxResults, topic, time_range: timeRange, sites }: WebsearchInput,
  context: ToolContext,
): Promise<ToolResult> {
  const question: SearchQuestion = { query, maxResults: most, topic, timeRange, sites };
  const { provider, pages, failures } = await search(question, context.signal);
  const told = {
    query,
    provider,
    results: pages,
    ...(failures.length > 0 ? { failures } : {}),
  };
  if (pages.length === 0)
    return { content: `Nothing was found for “${query}”. Try other words.`, data: { ...told, cited: [] } };
  const sources = pages.map(({ title, url, snippet, published }): Source => ({
    ...{ kind: "web", title, url, snippet },
    ...(published === undefined ? {} : { published }),
  }));
  if (!prompt) return { content: `${listOf(pages)}\n\n${keepNumbers}`, data: { ...told, cited: [] }, sources };
  context.progress(`${pages.length} pages found by ${provider}`);
  try {
    const content = await prompt({ question: query, results: listOf(pages) });
    const { text } = await context.step({ messages: [{ role: "user", content }] });
    const { answer, cited } = checkCitations(text.trim(), pages.length);
    if (answer === "") throw new Error("the model wrote nothing");
    return {
      content: `${answer}\n\nSources:\n${addressesOf(pages)}\n\n${keepNumbers}`,
      data: { ...told, answer, cited },
      sources,
    };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof LostRun) throw error;
    const why = `No answer was written from them (${messageOf(error)}); these are the pages themselves.`;
    return { content: `${why}\n\n${listOf(pages)}\n\n${keepNumbers}`, data: { ...told, cited: [] }, sources };
  }
}

function listOf(pages: readonly FoundPage[]): string {
  return pages
    .map(({ title, url, snippet, published }, at) => {
      const day = published === undefined ? "" : ` (${published.slice(0, 10)})`;
      return [`[${at + 1}] ${title}${day}`, url, snippet].filter((line) => line !== "").join("\n");
    })
    .join("\n\n");
}

function addressesOf(pages: readonly FoundPage[]): string {
  return pages.map(({ title, url }, at) => `[${at + 1}] ${title}: ${url}`).join("\n");
}

/** What it names as a source without there being such a one is taken out. */
export function checkCitations(
  text: string,
  sources: number,
): { readonly answer: string; readonly cited: readonly number[] } {
  const cited = new Set<number>();
  const answer = text.replaceAll(/ ?\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g, (whole, list: string) => {
    const numbers = list.split(",").map(Number);
    const known = numbers.filter((number) => number >= 1 && number <= sources);
    for (const number of known) cited.add(number);
    const space = whole.startsWith(" ") ? " " : "";
    return known.length === 0 ? "" : known.length === numbers.length ? whole : `${space}[${known.join(", ")}]`;
  });
  return { answer, cited: [...cited].sort((one, other) => one - other) };
}
