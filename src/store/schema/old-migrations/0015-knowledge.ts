/**
 * Collections of documents. A document's row names two contents: the newest that was brought (`file`, `sha256`, `bytes`, `source`),
 * and the one that is searched (`live_file`, `text_file` and what was found in it), which stays until the newest is ready.
 * `lease`, `leased_until`: who works on it; `due_at` orders the queue. A collection
 * with `removed_at` is gone for everybody; its documents are removed one at a time. Everything in files is in `data/rag_documents`.
 */
export const knowledge = {
  name: "0015-knowledge",
  up: `
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
`,
} as const;
