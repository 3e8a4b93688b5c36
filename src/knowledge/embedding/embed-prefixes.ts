/**
 * What families of models were trained to see before a document and before a question; without it they find less. Others take
 * both as they are.
 */
const families: readonly (readonly [name: RegExp, document: string, query: string])[] = [
  [/nomic-embed/i, "search_document: ", "search_query: "],
  [/(^|[/:-])(multilingual-)?e5-/i, "passage: ", "query: "],
  [/mxbai-embed|snowflake-arctic-embed/i, "", "Represent this sentence for searching relevant passages: "],
  [/bge-(small|base|large)-en/i, "", "Represent this sentence for searching relevant passages: "],
];

export function prefixOf(model: string, kind: "document" | "query"): string {
  const family = families.find(([name]) => name.test(model));
  return family ? family[kind === "document" ? 1 : 2] : "";
}
