import type { ColumnType, Generated } from "kysely";

type Time = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
/** Read as a value, written as JSON text. */
type Json<Value> = ColumnType<Value, string, string>;

/** Those of collections of documents. */
export type RagTables = {
  rag_collections: {
    id: string;
    user_id: string;
    name: string;
    description: Generated<string>;
    settings: Json<unknown>;
    embedding_model: Generated<string>;
    dimension: number | null;
    shared_with: Generated<Json<readonly string[]>>;
    created_at: Time;
    updated_at: Time;
    removed_at: NullableTime;
  };
  rag_documents: {
    id: string;
    collection_id: string;
    user_id: string;
    name: string;
    source: Json<unknown>;
    /** The newest content, in `data/rag_documents`. */
    file: string | null;
    sha256: string | null;
    bytes: Generated<number>;
    status: "queued" | "working" | "ready" | "failed";
    error: string | null;
    progress: Generated<Json<unknown>>;
    attempts: Generated<number>;
    due_at: Time;
    /** Who works on it, and until when without a sign of life. */
    lease: string | null;
    leased_until: NullableTime;
    revision: Generated<number>;
    /** What is searched. */
    live_file: string | null;
    live_sha256: string | null;
    text_file: string | null;
    kind: string | null;
    media_type: string | null;
    metadata: Json<unknown> | null;
    pages: number | null;
    characters: Generated<number>;
    chunks: Generated<number>;
    created_at: Time;
    updated_at: Time;
    ready_at: NullableTime;
  };
  rag_chunks: {
    id: Generated<number>;
    collection_id: string;
    document_id: string;
    /** Of its document; only chunks of the present one are found. */
    revision: Generated<number>;
    ordinal: number;
    char_start: number;
    char_end: number;
    page: number | null;
    heading_path: readonly string[];
    /** As it is searched, before the text. */
    heading: string;
    text: string;
    tokens: number;
    /** The BM25 index it is in. */
    lexical: number | null;
  };
  rag_terms: {
    chunk_id: number;
    collection_id: string;
    document_id: string;
    config: string;
    terms: string;
    length: number;
  };
  rag_vectors: {
    chunk_id: number;
    collection_id: string;
    document_id: string;
    model: string;
    dimension: number;
    /** The vector index it is in. */
    graph: number | null;
    embedding: readonly number[];
  };
  rag_indexes: {
    id: Generated<number>;
    collection_id: string;
    kind: "bm25" | "hnsw" | "ivfflat";
    state: "building" | "ready";
    text_config: string | null;
    model: string | null;
    dimension: number | null;
    lists: number | null;
    created_at: Time;
  };
  rag_traces: {
    id: string;
    user_id: string;
    collection_ids: readonly string[];
    run_id: string | null;
    question: string;
    trace: Json<unknown>;
    created_at: Time;
  };
};
