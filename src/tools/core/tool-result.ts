import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import { maxSources, type Source, sourceSchema } from "../../protocol/knowledge/sources.ts";
import type { ToolResult } from "../../protocol/agents/tools.ts";

/** Maximum characters of a result for the model: more would push the conversation out of its context. */
export const maximumContentCharacters = 100_000;
/** Of what a source says. */
const maxSnippetCharacters = 4000;
/** Of where its text comes from. */
const maxNames = 8;
const maxNameCharacters = 200;
/** What a trace keeps of one result at most. */
export const maximumDataCharacters = 1_000_000;

/**
 * Converts what a tool returned into a ToolResult. Text becomes the content; a ToolResult is kept; any other value is
 * written as JSON and kept as `data`, as plain JSON. Throws for what JSON can't hold (cycles, bigint).
 */
export function toToolResult(value: unknown): ToolResult {
  if (value === undefined) return { content: "Done." };
  if (typeof value === "string") return { content: boundContent(value) };
  if (isToolResult(value)) {
    const data = value.data === undefined ? undefined : boundData(writeJson(value.data));
    const { ask, uncertain, isError, untrusted, from } = value;
    const sources = Array.isArray(value.sources) ? boundSources(value.sources) : undefined;
    return {
      content: boundContent(value.content),
      ...(isError && { isError: true }),
      ...(uncertain && { uncertain: true as const }),
      ...(untrusted && { untrusted: true as const }),
      ...(Array.isArray(from) && from.length > 0 && { from: boundFrom(from) }),
      ...data,
      ...(sources?.length && { sources }),
      ...(ask && { ask }),
    };
  }
  const text = writeJson(value);
  return { content: boundContent(text), ...boundData(text) };
}

export function errorResult(content: string): ToolResult {
  return { content: boundContent(content), isError: true };
}

const resultKeys: ReadonlySet<string> = new Set([
  "content",
  "isError",
  "data",
  "sources",
  "untrusted",
  "from",
  "ask",
  "uncertain",
] satisfies readonly (keyof ToolResult)[]);

/** An object of a ToolResult's keys alone, so that a row that happens to have a `content` column is still JSON. */
function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== "object" || value === null || !("content" in value)) return false;
  if (typeof value.content !== "string") return false;
  return Object.keys(value).every((key) => resultKeys.has(key));
}

function boundContent(text: string): string {
  if (text.length <= maximumContentCharacters) return storable(text);
  const kept = text.slice(0, maximumContentCharacters);
  return `${storable(kept)}\n[cut here: ${text.length - kept.length} more characters]`;
}

function boundData(json: string): { readonly data?: unknown } {
  return json.length <= maximumDataCharacters ? { data: JSON.parse(json) } : {};
}

/** Limits the number and length of source names, whoever provided them. */
export function boundFrom(given: readonly unknown[]): readonly string[] {
  const names = given.filter((name): name is string => typeof name === "string" && name !== "");
  return [...new Set(names.map((name) => storable(name.slice(0, maxNameCharacters))))].slice(0, maxNames);
}

/** Drops invalid sources and shortens long ones. */
function boundSources(given: readonly unknown[]): readonly Source[] {
  return given.slice(0, maxSources).flatMap((each) => {
    const parsed = sourceSchema.safeParse(JSON.parse(writeJson(each)));
    if (!parsed.success) return [];
    const { title, snippet, url, ...rest } = parsed.data;
    return [
      {
        ...rest,
        title: storable(title.slice(0, 500)),
        // Clients make links of them.
        ...(url !== undefined && url.length <= 4000 && /^https?:\/\//i.test(url) && { url }),
        ...(snippet !== undefined && { snippet: storable(snippet.slice(0, maxSnippetCharacters)) }),
      },
    ];
  });
}

function writeJson(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol")
    throw new TypeError(`A tool can't return a ${typeof value}.`);
  return jsonText(value);
}

/** Replaces half surrogate pairs, which truncation or a file may have left. */
function storable(text: string): string {
  return plainText(text).toWellFormed();
}
