/**
 * Threads that are put away, read-only links to them, and a search in what was said. The index holds the beginning of each
 * message: a text search vector has at most a megabyte, and a message that does not fit must not be refused for that.
 */
export const sessions = {
  name: "0010-sessions",
  up: `
alter table threads add column archived_at timestamptz;

create table shares (
  id uuid primary key,
  thread_id uuid not null references threads on delete cascade,
  user_id uuid not null references users on delete cascade,
  token_hash text not null unique,
  leaf uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index shares_by_thread on shares (thread_id);

create function message_text(body jsonb) returns text language sql immutable parallel safe as $$
  select case jsonb_typeof(body -> 'content')
    when 'string' then body ->> 'content'
    when 'array' then (select string_agg(part ->> 'text', ' ') from jsonb_array_elements(body -> 'content') part where part ->> 'type' = 'text')
  end
$$;
create index items_words on items using gin (to_tsvector('simple'::regconfig, left(message_text(body), 50000))) where kind = 'message';
`,
} as const;
