import { z } from "zod";
import { ColloquyError, LostRun, messageOf } from "../../protocol/base/errors.ts";
import type { Source } from "../../protocol/knowledge/sources.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import type { FoundPassage, RetrievePassages } from "../../knowledge/search/retrieve.ts";
import { defineTool } from "../core/define-tool.ts";
import { errorResult } from "../core/tool-result.ts";

export type RagToolOptions = {
  readonly retrieve: RetrievePassages;
  /** The prompt `rag_query` with these values in it. */
  readonly prompt: (values: Readonly<Record<string, string>>) => Promise<string>;
};

const timeoutMs = 120_000;

const input = z.object({
  query: z.string().trim().min(1).max(2000).describe("A whole question, or the words that the passage would have"),
  collections: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe("Names of collections; absent: all that there are"),
  documents: z
    .array(z.string().min(1).max(500))
    .max(20)
    .optional()
    .describe("Only documents of these names; * stands for any text, as in report-*.pdf"),
  max_results: z.int().min(1).max(30).optional().describe("How many passages, 8 when absent"),
});

/** Finds passages in the collections of documents that the caller may search. */
export function ragTool({ retrieve, prompt }: RagToolOptions): Tool {
  return defineTool({
    name: "rag",
    description:
      "Searches the documents that people have put into collections, and gives the passages that fit best, word for word. For " +
      "what is in manuals, reports, contracts, notes and other files of theirs. One question at a time; ask again in other " +
      "words if what you need is not among them.",
    input,
    effect: "read",
    bringsIn: true,
    timeoutMs,
    async execute({ query, collections, documents, max_results: limit }, context) {
      try {
        const { passages, trace, traceId } = await retrieve(
          context.caller,
          {
            question: query,
            collections,
            limit,
            runId: context.runId,
            ...(documents && { filters: { documents } }),
            rewrite: (question) => rewritten(question, prompt, context),
          },
          context.signal,
        );
        return resultOf({ query, passages, notes: trace.notes, traceId });
      } catch (error) {
        // What the model asked for wrongly, it may ask for otherwise.
        if (error instanceof ColloquyError && error.status < 500) return errorResult(error.message);
        throw error;
      }
    },
  });
}

async function rewritten(question: string, prompt: RagToolOptions["prompt"], context: ToolContext): Promise<string> {
  try {
    const { text } = await context.step({ messages: [{ role: "user", content: await prompt({ question }) }] });
    return text;
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof LostRun) throw error;
    context.progress(`the question was searched unchanged: ${messageOf(error)}`);
    return "";
  }
}

function resultOf({
  query,
  passages,
  notes,
  traceId,
}: {
  readonly query: string;
  readonly passages: readonly FoundPassage[];
  readonly notes: readonly string[];
  readonly traceId: string;
}): ToolResult {
  const data = { query, trace: traceId, notes, passages: passages.length };
  const told = notes.map((note) => `Note: ${note}`);
  if (passages.length === 0)
    return { content: [`Nothing was found for “${query}”. Try other words.`, ...told].join("\n"), data };
  const content = [
    ...passages.map((passage, at) => `[${at + 1}] ${passageLocation(passage)}\n${passage.text}`),
    "Put the number of the passage behind each statement that rests on it: [1]. What you quote in quotation marks before a number is compared with the passage, so take it over word for word.",
    ...told,
  ];
  return { content: content.join("\n\n"), data, sources: passages.map(sourceOf) };
}

function passageLocation({ documentName, collectionName, page, headingPath }: FoundPassage): string {
  const place = [documentName, ...(page === null ? [] : [`page ${page}`]), ...headingPath.slice(-2)].join(", ");
  return `${place} (collection ${collectionName})`;
}

function sourceOf(passage: FoundPassage): Source {
  const { documentName, collectionId, documentId, page, headingPath, charStart, charEnd, text } = passage;
  return {
    kind: "document",
    title: documentName,
    snippet: text,
    collectionId,
    documentId,
    ...(page === null ? {} : { page }),
    ...(headingPath.length > 0 && { headings: headingPath }),
    charStart,
    charEnd,
  };
}
