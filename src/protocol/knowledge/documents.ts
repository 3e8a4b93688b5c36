import { z } from "zod";
import { documentStatuses } from "./chunks.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

const progressSchema = z.object({
  stage: z.enum(["fetching", "reading", "embedding", "storing"]).optional(),
  done: z.int().optional(),
  total: z.int().optional(),
});
/** `done` of `total` chunks. */
export type DocumentProgress = Shape<typeof progressSchema>;

/** A document of a collection. */
export const documentSchema = z.object({
  id: idSchema,
  collectionId: idSchema,
  name: z.string(),
  source: z.looseObject({
    kind: z.enum(["file", "upload", "folder", "url", "session"]),
    url: z.string().optional().describe("Of one of the web: from where"),
  }),
  bytes: z.number(),
  sha256: z.string().nullable(),
  status: z.enum(documentStatuses).describe("Of its newest content; what was ready before is searched until that is"),
  error: z.string().nullable().describe("Why it can't be read; while it is queued, why it could not until now"),
  progress: progressSchema.describe("While it is worked on; of `total` chunks"),
  revision: z.int().describe("How often it became ready; 0: not searchable yet"),
  kind: z.string().nullable(),
  mediaType: z.string().nullable(),
  metadata: z.looseObject({}).nullable().describe("Description of the content: pages, headings, columns, …"),
  pages: z.int().nullable(),
  characters: z.int(),
  chunks: z.int(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  readyAt: timeSchema.nullable(),
});
export type DocumentView = Shape<typeof documentSchema>;

/** What became of a document that was brought. */
export const addedSchema = z.object({
  /** `unchanged`: it is there with this content. */
  outcome: z
    .enum(["added", "replaced", "unchanged", "duplicate"])
    .describe("`duplicate`: the content already exists in the returned document"),
  document: documentSchema,
});
export type DocumentResultView = Shape<typeof addedSchema>;

/** What became of several. */
export const allAddedSchema = z.object({
  data: z.array(addedSchema),
  problems: z
    .array(z.object({ name: z.string(), message: z.string() }))
    .readonly()
    .describe("What could not be added, and why; the rest was"),
  removed: z.int().optional().describe("Documents of the folder whose files are gone"),
});
export type DocumentResultsView = Shape<typeof allAddedSchema>;

/** A verbatim slice of a document's text, as people read it. */
export const chunkSchema = z.object({
  ordinal: z.int().describe("From 0"),
  charStart: z.int(),
  charEnd: z.int().describe("Exclusive; in UTF-16 units"),
  page: z.int().nullable(),
  headingPath: z.array(z.string()).readonly(),
  tokens: z.int().describe("About how many"),
  overlap: z.int().describe("Characters at its beginning with which the chunk before ends"),
  text: z.string(),
});
export type ChunkView = Shape<typeof chunkSchema>;

/** A part of a document's text, in UTF-16 units; `characters` are those of the whole text. */
export const textPartSchema = z.object({
  documentId: idSchema,
  from: z.int(),
  to: z.int(),
  characters: z.int(),
  text: z.string(),
});
export type TextPart = Shape<typeof textPartSchema>;
