import { z } from "zod";
import type { Citation } from "../../../protocol/knowledge/citations.ts";

const place = { start_index: z.int(), end_index: z.int() };

/** Citations of an answer: pages in OpenAI's form, passages of documents likewise. */
export const annotationSchema = z.union([
  z.object({
    type: z.literal("url_citation"),
    url_citation: z.object({ ...place, url: z.string(), title: z.string() }),
  }),
  z.object({
    type: z.literal("file_citation"),
    file_citation: z.object({
      ...place,
      file_id: z.string().describe("Of the document in its collection"),
      filename: z.string(),
      page: z.int().optional(),
      quote: z.string().optional(),
      found: z.boolean().optional().describe("Whether the quotation occurs in the document, word for word"),
    }),
  }),
]);
export type UrlCitation = z.infer<typeof annotationSchema>;

export function annotationOf({ source, start, end, quote, found }: Citation): UrlCitation {
  const { url, title, documentId = "", page } = source;
  const indexes = { start_index: start, end_index: end };
  if (url !== undefined) return { type: "url_citation", url_citation: { ...indexes, url, title } };
  return {
    type: "file_citation",
    file_citation: {
      ...indexes,
      file_id: documentId,
      filename: title,
      ...(page === undefined ? {} : { page }),
      ...(quote === undefined ? {} : { quote }),
      ...(found === undefined ? {} : { found }),
    },
  };
}
