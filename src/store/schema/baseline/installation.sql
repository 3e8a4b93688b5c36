-- Facts about the installation, what its admins set, and what they did.

create table meta (key text primary key, value text not null);

-- What admins define through the API; every node hears of a change.
create table definitions (
  kind text not null check (kind in ('agent', 'model', 'mcp-server', 'default')),
  id text not null,
  revision uuid not null,
  body jsonb,
  sealed text,
  created_by uuid references users on delete set null,
  changed_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (kind, id),
  check ((body is null) <> (sealed is null))
);

create function definitions_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('colloquy_definitions', '');
  return null;
end $$;
create trigger definitions_changed after insert or update or delete on definitions
  for each statement execute function definitions_changed();

-- Who changed what through the API: a row for each attempt.
create table audit_log (
  id uuid primary key,
  at timestamptz not null default now(),
  user_id uuid,
  user_name text not null,
  via text not null,
  address text not null,
  method text not null,
  path text not null,
  status integer not null,
  request_id text not null
);
create index audit_log_by_time on audit_log (at);

-- How long things are kept. 'days' counts if it is set; null then: for ever. The row '*' says which node is at it, and when anybody
-- last was.
create table retention (
  kind text primary key,
  is_set boolean not null default false,
  days double precision check (days > 0),
  last_at timestamptz,
  last_removed bigint,
  last_error text,
  leased_until timestamptz
);

-- Who is being erased, without the name: that somebody was erased stays, who it was does not.
create table erasures (
  id uuid primary key,
  user_id uuid not null unique,
  asked_by uuid,
  begun_at timestamptz not null default now(),
  step text not null default 'runs',
  touched jsonb not null default '[]',
  problem text,
  leased_until timestamptz,
  done_at timestamptz
);
create index erasures_open on erasures (begun_at) where done_at is null;
