/** Files that people upload; `json`, which keeps the order of keys that a model is told. The index finds the messages that brought some, of which a workspace needs copies. */
export const uploads = {
  name: "0011-uploads",
  up: `
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
create index items_with_files on items (thread_id) where kind = 'message' and body ? 'files';
`,
} as const;
