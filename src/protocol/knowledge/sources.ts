import { z } from "zod";

/**
 * What an answer rests on, for clients to show: a page of the web, or a place in a document. Its number is its place in the
 * list it came in, from 1: what a model reads names it so.
 */
export const sourceSchema = z.strictObject({
  kind: z.enum(["web", "document"]),
  title: z.string(),
  /** Of a page. */
  url: z.string().optional(),
  /** What was found there, in its own words. */
  snippet: z.string().optional(),
  /** When it was published, as it says itself: a date or a moment of ISO 8601 where that can be told. */
  published: z.string().optional(),
  /** Of a document: where it is kept, and where in its text the snippet stands. */
  collectionId: z.string().optional(),
  documentId: z.string().optional(),
  page: z.int().optional(),
  headings: z.array(z.string()).readonly().optional(),
  charStart: z.int().optional(),
  charEnd: z.int().optional(),
});
export type Source = Readonly<z.infer<typeof sourceSchema>>;

/** Of one result. */
export const maxSources = 100;
