import { z } from "zod";
import type { CollectionView } from "../knowledge/collections.ts";
import type { Added } from "../knowledge/documents.ts";
import { collectionSettingsSchema, documentStatuses } from "../protocol/knowledge.ts";
import type { RagDocument } from "../store/rag-documents.ts";
import { idSchema } from "../protocol/shapes.ts";

const time = z.string().describe("ISO 8601");

export const collectionSchema = z.object({
  id: idSchema,
  name: z.string(),
  description: z.string(),
  owner: z.string(),
  isOwn: z.boolean().describe("Whether you may change it"),
  embeddingModel: z.string().describe("`none`, `http:…`, `onnx:…` or `gguf:…`"),
  dimension: z.int().nullable().describe("Numbers of an embedding; null while there are none"),
  settings: collectionSettingsSchema,
  sharedWith: z.array(z.string()).readonly(),
  counts: z.object({
    documents: z.int(),
    queued: z.int(),
    working: z.int(),
    ready: z.int(),
    failed: z.int(),
    chunks: z.int(),
    bytes: z.number().describe("Of all originals"),
  }),
  createdAt: time,
  updatedAt: time,
});

export function collectionView(view: CollectionView, userId: string): z.infer<typeof collectionSchema> {
  const { id, name, description, owner, embeddingModel, dimension, settings, sharedWith, counts } = view;
  const isOwn = view.userId === userId;
  return {
    id,
    name,
    description,
    owner,
    isOwn,
    embeddingModel,
    dimension,
    settings,
    // With whom else is between the owner and them.
    sharedWith: isOwn ? sharedWith : [],
    counts,
    createdAt: view.createdAt.toISOString(),
    updatedAt: view.updatedAt.toISOString(),
  };
}

export const documentSchema = z.object({
  id: idSchema,
  collectionId: idSchema,
  name: z.string(),
  source: z.looseObject({ kind: z.enum(["file", "upload", "folder", "url", "session"]) }),
  bytes: z.number(),
  sha256: z.string().nullable(),
  status: z.enum(documentStatuses).describe("Of its newest content; what was ready before is searched until that is"),
  error: z.string().nullable().describe("Why it can't be read; while it is queued, why it could not until now"),
  progress: z
    .object({
      stage: z.enum(["fetching", "reading", "embedding", "storing"]).optional(),
      done: z.int().optional(),
      total: z.int().optional(),
    })
    .describe("While it is worked on; of `total` chunks"),
  revision: z.int().describe("How often it became ready; 0: nothing of it is searched"),
  kind: z.string().nullable(),
  mediaType: z.string().nullable(),
  metadata: z.looseObject({}).nullable().describe("What is in it: pages, headings, columns, …"),
  pages: z.int().nullable(),
  characters: z.int(),
  chunks: z.int(),
  createdAt: time,
  updatedAt: time,
  readyAt: time.nullable(),
});

export function documentView(document: RagDocument): z.infer<typeof documentSchema> {
  const { id, collectionId, name, source, bytes, sha256, status, error, progress, revision } = document;
  const { kind, mediaType, metadata, pages, characters, chunks, createdAt, updatedAt, readyAt } = document;
  return {
    id,
    collectionId,
    name,
    source,
    bytes,
    sha256,
    status,
    error,
    progress,
    revision,
    kind,
    mediaType,
    metadata,
    pages,
    characters,
    chunks,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    readyAt: readyAt?.toISOString() ?? null,
  };
}

export const addedSchema = z.object({
  outcome: z
    .enum(["added", "replaced", "unchanged", "duplicate"])
    .describe("`duplicate`: this content is there under the name of the document that is told"),
  document: documentSchema,
});

export function addedView({ outcome, document }: Added): z.infer<typeof addedSchema> {
  return { outcome, document: documentView(document) };
}
