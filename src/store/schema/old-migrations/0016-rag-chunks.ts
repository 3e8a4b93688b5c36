/**
 * What is searched: chunks, their vectors, and the terms of chunks where PostgreSQL has no BM25 index. `lexical` and `graph` name
 * the row of `rag_indexes` whose partial index a row is in: it is moved there after it was written, a few at a time, so that
 * no index build ever stops what else the database does. Only chunks of their document's `revision` are found: those of the next
 * one are written before it counts. Vectors are plain arrays: the same with and without pgvector.
 */
export const ragChunks = {
  name: "0016-rag-chunks",
  up: `
create table rag_chunks (
  id bigint generated always as identity primary key,
  collection_id uuid not null references rag_collections on delete cascade,
  document_id uuid not null references rag_documents on delete cascade,
  revision integer not null default 0,
  ordinal integer not null,
  char_start integer not null,
  char_end integer not null,
  page integer,
  heading_path text[] not null,
  heading text not null,
  text text not null,
  tokens integer not null,
  lexical integer,
  unique (document_id, revision, ordinal)
);
create index rag_chunks_by_collection on rag_chunks (collection_id, lexical);

create table rag_terms (
  chunk_id bigint primary key references rag_chunks on delete cascade,
  collection_id uuid not null,
  document_id uuid not null,
  config text not null,
  terms tsvector not null,
  length integer not null
) with (toast_tuple_target = 8160);
create index rag_terms_by_collection on rag_terms (collection_id) include (length);
create index rag_terms_by_term on rag_terms using gin (terms);

create table rag_vectors (
  chunk_id bigint primary key references rag_chunks on delete cascade,
  collection_id uuid not null,
  document_id uuid not null,
  model text not null,
  dimension integer not null,
  graph integer,
  embedding real[] not null
) with (toast_tuple_target = 8160);
alter table rag_vectors alter column embedding set storage external;
create index rag_vectors_by_collection on rag_vectors (collection_id, graph);

create table rag_indexes (
  id integer generated always as identity primary key,
  collection_id uuid not null references rag_collections on delete cascade,
  kind text not null check (kind in ('bm25', 'hnsw', 'ivfflat')),
  state text not null check (state in ('building', 'ready')),
  text_config text,
  model text,
  dimension integer,
  lists integer,
  created_at timestamptz not null default now()
);
create index rag_indexes_by_collection on rag_indexes (collection_id);

create table rag_traces (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  collection_ids uuid[] not null,
  run_id uuid,
  question text not null,
  trace jsonb not null,
  created_at timestamptz not null default now()
);
create index rag_traces_by_user on rag_traces (user_id, id);
`,
} as const;
