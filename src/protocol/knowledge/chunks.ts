import { z } from "zod";

/** A verbatim slice of a document's text: `text` is what stands there from `charStart` to `charEnd` (UTF-16 units, exclusive). */
export type Chunk = {
  /** From 0, in the document's order. */
  readonly ordinal: number;
  readonly charStart: number;
  readonly charEnd: number;
  /** From 1; slides too. Absent: the format has no pages. */
  readonly page?: number;
  /** The headings above its beginning, the outermost first. */
  readonly headingPath: readonly string[];
  readonly text: string;
  /** About how many. */
  readonly tokens: number;
};

/** A chunk as it is kept; with an embedding where its collection has a model for that. */
export type EmbeddedChunk = Chunk & { readonly embedding?: Float32Array };

export const documentStatuses = ["queued", "working", "ready", "failed"] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

export const retrievals = ["lexical", "vector", "hybrid"] as const;
export type RetrievalMode = (typeof retrievals)[number];

export const indexTypes = ["auto", "flat", "hnsw", "ivfflat"] as const;
export type IndexType = (typeof indexTypes)[number];

/** How a collection cuts its documents; other values take effect by a reindex. */
const cutting = {
  /** Tokens of a chunk, at most. */
  chunkSize: z.int().min(50).max(8000),
  /** Tokens at its beginning that the chunk before ends with. */
  chunkOverlap: z.int().min(0).max(4000),
};

/** How it is searched. */
const searching = {
  /** Absent: `hybrid` with an embedding model, else `lexical`. */
  retrieval: z.enum(retrievals).optional(),
  /** Of a hybrid: how much the vector side counts, from 0 to 1. */
  hybridWeight: z.number().min(0).max(1),
  indexType: z.enum(indexTypes),
  /** PostgreSQL's text search configuration, such as `english` or `german`. */
  language: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,40}$/, "must be the name of a text search configuration, such as english")
    .default("english"),
  /** Whether a model puts questions into other words before it is searched. */
  rewrite: z.boolean().default(false),
  /** The reranker that orders what was found; absent: the configuration's, or none. `none`: none. */
  reranker: z.string().max(200).optional(),
};

export const collectionSettingsSchema = z.strictObject({ ...cutting, ...searching });
export type CollectionSettings = z.infer<typeof collectionSettingsSchema>;

/** What a text is embedded for; `plain`: whoever asks knows what the model wants to be told. */
export type EmbeddingUse = "document" | "query" | "plain";

/** Turns texts into vectors of `dimension` numbers; several texts at once, and in their order. */
export interface Embedder {
  /** As the configuration names it: `http:…`, `onnx:…`, `gguf:…`. */
  readonly model: string;
  readonly dimension: number;
  /** Throws Unavailable if what embeds is not there now, InvalidInput if it never will be; the signal's reason. */
  embed(texts: readonly string[], use: EmbeddingUse, signal: AbortSignal): Promise<readonly Float32Array[]>;
  /** Gives back what it holds. */
  close?(): Promise<void>;
}
