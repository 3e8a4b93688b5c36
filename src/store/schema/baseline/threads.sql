-- Threads, read-only links to them, and what they leave behind.

-- A thread of a child run is hidden, and goes with its 'parent_run'. 'outside': whose text stands in the thread that no item of it
-- tells (that of a fork); 'outside_read': up to where a person has read what came from outside. 'files_brought': somebody has
-- put files into its workspace. 'key_id': the key with which it was begun.
create table threads (
  id uuid primary key,
  user_id uuid not null references users,
  title text not null default '',
  agent text,
  hidden boolean not null default false,
  parent_run uuid,
  session_key text,
  next_seq bigint not null default 1,
  leaf uuid,
  previous_leaf uuid,
  pending integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  expires_at timestamptz,
  archived_at timestamptz,
  files_brought boolean not null default false,
  outside text[] not null default '{}',
  outside_read bigint not null default 0,
  key_id uuid
);
create unique index threads_session on threads (user_id, session_key) where session_key is not null;
create index threads_listed on threads (user_id, id) where not hidden;
create index threads_expiring on threads (expires_at) where expires_at is not null;
create index threads_of_runs on threads (parent_run) where parent_run is not null;

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

-- Threads that are gone and whose files may still be there: noted by the statement that removes the thread, whichever that is, so
-- that no crash forgets files. Threads of child runs work with the files of their root's.
create table removed_threads (
  thread_id uuid primary key,
  user_id uuid not null,
  remove_at timestamptz not null default now()
);

create function threads_leave_files() returns trigger language plpgsql as $$
begin
  insert into removed_threads (thread_id, user_id) values (old.id, old.user_id) on conflict do nothing;
  return null;
end $$;
create trigger threads_with_files after delete on threads for each row
  when (old.parent_run is null) execute function threads_leave_files();
