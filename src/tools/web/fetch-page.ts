import { z } from "zod";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { defineTool } from "../core/define-tool.ts";
import type { WebPage, ReadPage } from "./read-page.ts";
import { webAddress } from "./search-provider.ts";

const charactersAtOnce = 20_000;
const snippetCharacters = 300;
const maxLinks = 100;
const timeoutMs = 120_000;

/** Reads one page of the web. */
export function fetchPageTool(readPage: ReadPage): Tool {
  return defineTool({
    name: "fetch_page",
    description:
      "Reads a page of the web: its article as Markdown, without menus and advertising; PDF and other documents as text. Give it " +
      "an address that the user or a source named. Long pages come in parts.",
    input: z.object({
      url: z.string().trim().min(1).max(2000).describe("Its whole address, such as https://example.org/page"),
      from: z.int().nonnegative().default(0).describe("The character to begin at, for the next part of a long page"),
    }),
    effect: "read",
    bringsIn: true,
    isPublic: true,
    reaches: ({ url }) => webAddress(url),
    timeoutMs,
    async execute({ url, from }, { signal, progress }) {
      progress(`reading ${URL.parse(url)?.host ?? "the page"}`);
      return partOf(await readPage(url, signal), from);
    },
  });
}

function partOf({ url, title = url, text, links, cut }: WebPage, from: number): ToolResult {
  const part = text.slice(from, from + charactersAtOnce).toWellFormed();
  const end = from + part.length;
  const about = { url, title, from, characters: text.length };
  if (from > 0 && part === "")
    return { content: `The page has ${text.length} characters; there are none from ${from} on.`, isError: true };
  const more =
    end < text.length
      ? `\n\n[The page continues: ${text.length - end} more characters, from: ${end}]`
      : cut
        ? "\n\n[The page is longer; the rest is not read]"
        : "";
  const snippet = text.slice(0, snippetCharacters).replaceAll(/\s+/g, " ").toWellFormed();
  return {
    content: `${title}\n${url}\n\n${part}${more}`,
    data: { ...about, links: links.filter((link) => part.includes(link)).slice(0, maxLinks) },
    sources: [{ kind: "web", title, url, snippet }],
  };
}
