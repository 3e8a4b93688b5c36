import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";
import { withoutPieces } from "../../protocol/base/closed-blocks.ts";
import { type ParsedDocument, type ParsedSection, shortened, UnreadableFile } from "./parsed.ts";
import { markdownSections } from "./markdown.ts";

/** Readability needs seconds for a few hundred nested elements, and turndown's stack ends at two thousand. */
const maxDepth = 256;

/** The article of a page, as Markdown; of a page without one, all of it. */
export function parseHtml(html: string): ParsedDocument {
  checkDepth(html);
  const page = withBody(html);
  const { document } = parseHTML(page);
  const title = document.querySelector("title")?.textContent?.trim() ?? "";
  const copy = parseHTML(page).document;
  for (const element of copy.querySelectorAll("body title")) element.remove();
  const article = new Readability(copy, { charThreshold: 100 }).parse();
  for (const element of document.querySelectorAll("script, style, noscript, template, title")) element.remove();
  const content = article?.content ?? document.body?.innerHTML ?? page;
  const text = toMarkdown(content);
  return {
    metadata: {
      ...(title === "" ? {} : { title: shortened(title, 300) }),
      words: text.split(/\s+/).filter(Boolean).length,
      preview: shortened(text.trim(), 500),
    },
    sections: markdownSections(text),
  };
}

/** Returns all sections of HTML that we generated ourselves. */
export function htmlSections(html: string): readonly ParsedSection[] {
  checkDepth(html);
  return markdownSections(toMarkdown(html));
}

/** HTML may leave these tags out, and browsers add them; the parser does not. */
function withBody(html: string): string {
  if (/<body[\s>]/i.test(html)) return html;
  const content = withoutPieces(html, tagsIn(html, /<!doctype|<\/?(?:html|head)(?=[\s>])/gi));
  return `<!doctype html><html><head></head><body>${content}</body></html>`;
}

function toMarkdown(html: string): string {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  return service.turndown(document.body).trim();
}

type HtmlTag = { readonly begin: RegExpExecArray; readonly from: number; readonly to: number };

/** Tags as they begin (a global pattern), each to its `>`. Patterns of whole tags would follow each that has none to the end of the text. */
function* tagsIn(html: string, beginning: RegExp): Generator<HtmlTag> {
  for (let begin = beginning.exec(html); begin; begin = beginning.exec(html)) {
    const end = html.indexOf(">", beginning.lastIndex);
    if (end === -1) return;
    beginning.lastIndex = end + 1;
    yield { begin, from: begin.index, to: end + 1 };
  }
}

/** Counted in the text, before anything builds a tree of it. */
function checkDepth(html: string): void {
  let depth = 0;
  for (const { begin, to } of tagsIn(html, /<(\/?)([a-z][a-z0-9-]*)/gi)) {
    const [, close, name] = begin;
    if (/^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|td|tr|th|dt|dd|option)$/i.test(name!))
      continue;
    if (html[to - 2] === "/") continue;
    depth = close === "/" ? Math.max(0, depth - 1) : depth + 1;
    if (depth > maxDepth)
      throw new UnreadableFile("too-large", `The page has more than ${maxDepth} elements within one another.`);
  }
}
