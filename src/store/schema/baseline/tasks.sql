-- People's tasks. 'outside': by whose text a task was written.

create table tasks (
  id integer generated always as identity primary key,
  user_id uuid not null references users on delete cascade,
  title text not null,
  description text not null default '',
  status text not null default 'pending' check (status in ('pending', 'completed')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  outside text[] not null default '{}'
);
create index tasks_by_user on tasks (user_id, id);

-- Whoever shows a person's tasks hears that they have changed, whoever changed them.
create function tasks_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('colloquy_tasks', coalesce(new.user_id, old.user_id)::text);
  return null;
end $$;
create trigger tasks_changed after insert or update or delete on tasks
  for each row execute function tasks_changed();

-- Calls of the task tools that came with a key of their own (over MCP): the same key again is answered with what was answered
-- first, and changes nothing.
create table task_calls (
  user_id uuid not null references users on delete cascade,
  key text not null,
  arguments_hash text not null,
  result jsonb,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index task_calls_by_age on task_calls (created_at);
