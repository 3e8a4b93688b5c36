import type { EmbeddingUse } from "../../protocol/knowledge/chunks.ts";

/**
 * Prefixes that model families were trained with before documents and questions; without them they find less. Other models take
 * both unchanged.
 */
const families: readonly (readonly [name: RegExp, document: string, query: string])[] = [
  [/nomic-embed/i, "search_document: ", "search_query: "],
  [/(^|[/:-])(multilingual-)?e5-/i, "passage: ", "query: "],
  [/mxbai-embed|snowflake-arctic-embed/i, "", "Represent this sentence for searching relevant passages: "],
  [/bge-(small|base|large)-en/i, "", "Represent this sentence for searching relevant passages: "],
];

export function prefixOf(model: string, use: EmbeddingUse): string {
  if (use === "plain") return "";
  const family = families.find(([name]) => name.test(model));
  return family ? family[use === "document" ? 1 : 2] : "";
}
