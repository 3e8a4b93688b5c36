-- What a thread is a room of, who comes in, and in whose name agents work for what was said while they worked.

create table rooms (
  thread_id uuid primary key references threads on delete cascade,
  user_id uuid not null references users,
  kind text,
  spec jsonb,
  created_at timestamptz not null default now()
);
create index rooms_by_user on rooms (user_id, thread_id);

-- A person's handle is the name by which agents know them.
create table room_people (
  thread_id uuid not null references rooms on delete cascade,
  user_id uuid not null references users on delete cascade,
  handle text not null,
  joined_at timestamptz not null default now(),
  primary key (thread_id, user_id),
  unique (thread_id, handle)
);
create index room_people_by_user on room_people (user_id, thread_id);

create table room_callers (
  message_id uuid primary key,
  thread_id uuid not null references threads on delete cascade,
  user_id uuid not null references users on delete cascade,
  caller jsonb not null
);
create index room_callers_by_thread on room_callers (thread_id);

-- Who has the room open, by connection; one that was not renewed for a minute is gone.
create table room_presence (
  connection uuid primary key,
  thread_id uuid not null references rooms on delete cascade,
  user_id uuid not null references users on delete cascade,
  seen_at timestamptz not null default now()
);
create index room_presence_by_thread on room_presence (thread_id);
