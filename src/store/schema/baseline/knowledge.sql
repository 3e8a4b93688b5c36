-- Files that people upload, collections of documents, and what is searched in them.

-- 'metadata' is json, which keeps the order of keys that a model is told.
create table uploads (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  bytes bigint not null,
  state text not null check (state in ('receiving', 'reading', 'ready')),
  file text not null,
  sha256 text,
  kind text,
  media_type text,
  metadata json,
  problem text,
  created_at timestamptz not null default now()
);
create index uploads_by_user on uploads (user_id, id);

-- A collection with 'removed_at' is gone for everybody; its documents are removed one at a time.
create table rag_collections (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  description text not null default '',
  settings jsonb not null,
  embedding_model text not null default 'none',
  dimension integer,
  shared_with jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  removed_at timestamptz,
  unique (user_id, name)
);

-- A document's row names two contents: the newest that was brought ('file', 'sha256', 'bytes', 'source'), and the one that is searched
-- ('live_file', 'text_file' and what was found in it), which stays until the newest is ready. 'lease', 'leased_until': who works on
-- it; 'due_at' orders the queue. Everything in files is in 'data/rag_documents'.
create table rag_documents (
  id uuid primary key,
  collection_id uuid not null references rag_collections on delete cascade,
  user_id uuid not null references users on delete cascade,
  name text not null,
  source jsonb not null,
  file text,
  sha256 text,
  bytes bigint not null default 0,
  status text not null check (status in ('queued', 'working', 'ready', 'failed')),
  error text,
  progress jsonb not null default '{}',
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease uuid,
  leased_until timestamptz,
  revision integer not null default 0,
  live_file text,
  live_sha256 text,
  text_file text,
  kind text,
  media_type text,
  metadata jsonb,
  pages integer,
  characters integer not null default 0,
  chunks integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ready_at timestamptz,
  unique (collection_id, name)
);
create index rag_documents_by_hash on rag_documents (collection_id, sha256);
create index rag_documents_by_user on rag_documents (user_id);
create index rag_documents_due on rag_documents (due_at) where status in ('queued', 'working');

-- 'lexical' here and 'graph' below name the row of 'rag_indexes' whose partial index a row is in: it is moved there after it was
-- written, a few at a time, so that no index build ever stops what else the database does. Only chunks of their document's
-- 'revision' are found: those of the next one are written before it counts.
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

-- The terms of chunks where PostgreSQL has no BM25 index.
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

-- Vectors are plain arrays: the same with and without pgvector.
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
