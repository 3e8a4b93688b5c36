/**
 * The first tables. The promises about threads are kept here, by the database itself: an item is never changed, a
 * result has its call and only one, a run with open calls can't end, items go only with their whole thread.
 */
export const begin = {
  name: "0001-begin",
  up: `
create table meta (key text primary key, value text not null);

create table users (
  id uuid primary key,
  name text not null unique,
  role text not null check (role in ('admin', 'user')),
  disabled boolean not null default false,
  created_at timestamptz not null default now()
);

create table api_keys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  label text not null,
  hash text not null unique,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);

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
  expires_at timestamptz
);
create unique index threads_session on threads (user_id, session_key) where session_key is not null;
create index threads_listed on threads (user_id, id) where not hidden;
create index threads_expiring on threads (expires_at) where expires_at is not null;

create table runs (
  id uuid primary key,
  thread_id uuid not null references threads on delete cascade,
  user_id uuid not null references users,
  agent text not null,
  parent_run uuid,
  root_run uuid not null,
  status text not null check (status in ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
  wait_reason text,
  wait_until timestamptz,
  epoch integer not null default 0,
  job_id uuid,
  node text,
  takeovers integer not null default 0,
  handed_over boolean not null default true,
  cancel_asked boolean not null default false,
  steered integer not null default 0,
  definition jsonb not null,
  definition_hash text not null,
  caller jsonb not null,
  error jsonb,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz
);
create unique index runs_one_live_root on runs (thread_id) where parent_run is null and status in ('queued', 'running', 'waiting');
create index runs_by_user on runs (user_id, id);
create index runs_by_thread on runs (thread_id, id);
create index runs_waiting on runs (wait_until) where status = 'waiting';
create index runs_live on runs (status) where status in ('queued', 'running', 'waiting');

create table items (
  thread_id uuid not null references threads on delete cascade,
  seq bigint not null,
  id uuid not null unique,
  user_id uuid not null,
  parent_id uuid,
  run_id uuid,
  kind text not null check (kind in ('message', 'call', 'result', 'question', 'decision', 'plan', 'summary', 'state', 'notice')),
  step text,
  call_index integer,
  attempt integer,
  author text,
  body jsonb not null,
  created_at timestamptz not null default now(),
  primary key (thread_id, seq),
  check (kind not in ('call', 'result') or (step is not null and call_index is not null))
);
create index items_by_run on items (run_id, seq) where run_id is not null;
create unique index items_one_call on items (coalesce(run_id, thread_id), step, call_index) where kind = 'call';
create unique index items_one_result on items (coalesce(run_id, thread_id), step, call_index) where kind = 'result';
create unique index items_one_decision on items (thread_id, (body ->> 'question')) where kind = 'decision';

create table budgets (
  root_run uuid primary key references runs on delete cascade,
  user_id uuid not null,
  steps integer not null default 0,
  steps_max integer not null,
  calls integer not null default 0,
  calls_max integer not null,
  writes integer not null default 0,
  writes_max integer not null,
  tokens bigint not null default 0,
  tokens_max bigint,
  cost double precision not null default 0,
  cost_max double precision,
  left_ms bigint not null,
  deadline timestamptz
);

create table ledger (
  run_id uuid not null references runs on delete cascade,
  step text not null,
  call_index integer not null,
  user_id uuid not null,
  tool text not null,
  status text not null check (status in ('executing', 'done', 'failed', 'unknown')),
  key uuid not null unique,
  arguments_hash text not null,
  until timestamptz,
  result jsonb,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (run_id, step, call_index)
);
create index ledger_open on ledger (status) where status in ('executing', 'unknown');

create table idempotency_keys (
  user_id uuid not null references users on delete cascade,
  key text not null,
  body_hash text not null,
  run_id uuid not null,
  thread_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

create table pending (
  run_id uuid primary key,
  message_id uuid not null unique,
  thread_id uuid not null references threads on delete cascade,
  user_id uuid not null,
  position bigint generated always as identity,
  start jsonb not null,
  created_at timestamptz not null default now()
);
create index pending_in_order on pending (thread_id, position);

-- "Always": lifts the question for this person, tool and pattern of arguments.
create table grants (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  tool text not null,
  pattern jsonb not null,
  created_at timestamptz not null default now()
);
create index grants_by_user on grants (user_id, tool);

-- Written with the event itself, so that none is lost; delivered at least once.
create table deliveries (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  hook text not null,
  body jsonb not null,
  tries integer not null default 0,
  next_try timestamptz not null default now(),
  failed_at timestamptz,
  error text,
  created_at timestamptz not null default now()
);
create index deliveries_due on deliveries (next_try) where failed_at is null;

create table schedules (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  thread_id uuid not null references threads on delete cascade,
  agent text not null,
  prompt text not null,
  cron text not null,
  time_zone text not null,
  missed text not null check (missed in ('skip', 'once')),
  enabled boolean not null default true,
  last_run uuid,
  last_error text,
  created_at timestamptz not null default now()
);
create index schedules_by_user on schedules (user_id, id);

-- Emptied by a crash of the database, which is right: a text without its process is told anew.
create unlogged table deltas (
  run_id uuid not null,
  step text not null,
  attempt integer not null,
  kind text not null,
  off integer not null,
  body text not null,
  thread_id uuid not null,
  primary key (run_id, step, attempt, kind, off)
);
create index deltas_by_thread on deltas (thread_id);

create table model_calls (
  id uuid primary key,
  user_id uuid,
  run_id uuid,
  step text,
  attempt integer,
  asked text not null,
  model text not null,
  provider text not null,
  started_at timestamptz not null,
  first_part_ms double precision,
  total_ms double precision not null,
  input_tokens bigint,
  output_tokens bigint,
  cost double precision,
  finish text,
  error text
);
create index model_calls_by_time on model_calls (started_at);
create index model_calls_by_run on model_calls (run_id) where run_id is not null;

create table tasks (
  id integer generated always as identity primary key,
  user_id uuid not null references users on delete cascade,
  title text not null,
  description text not null default '',
  status text not null default 'pending' check (status in ('pending', 'completed')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index tasks_by_user on tasks (user_id, id);

-- An item is immutable. The one exception is erasing a person: the body becomes {"erased": true}, all else stays.
create function items_refuse_update() returns trigger language plpgsql as $$
begin
  if new.body = '{"erased": true}'::jsonb
     and (new.thread_id, new.seq, new.id, new.user_id, new.kind) = (old.thread_id, old.seq, old.id, old.user_id, old.kind)
     and (new.parent_id, new.run_id, new.step, new.call_index, new.attempt) is not distinct from
         (old.parent_id, old.run_id, old.step, old.call_index, old.attempt)
     and new.created_at = old.created_at then
    return new;
  end if;
  raise exception 'an item is never changed (thread %, seq %)', old.thread_id, old.seq using errcode = 'CQ001';
end $$;
create trigger items_immutable before update on items for each row execute function items_refuse_update();

-- A cascade from threads finds the thread already gone.
create function items_refuse_delete() returns trigger language plpgsql as $$
begin
  if exists (select from threads where id = old.thread_id) then
    raise exception 'items go only with their whole thread (thread %, seq %)', old.thread_id, old.seq using errcode = 'CQ002';
  end if;
  return old;
end $$;
create trigger items_whole_threads before delete on items for each row execute function items_refuse_delete();

create function items_refuse_truncate() returns trigger language plpgsql as $$
begin
  raise exception 'items go only with their whole thread' using errcode = 'CQ002';
end $$;
create trigger items_no_truncate before truncate on items for each statement execute function items_refuse_truncate();

-- AFTER, so that a call and its result may come in one statement.
create function items_result_has_call() returns trigger language plpgsql as $$
begin
  if not exists (
    select from items
    where kind = 'call' and coalesce(run_id, thread_id) = coalesce(new.run_id, new.thread_id)
      and step = new.step and call_index = new.call_index and thread_id = new.thread_id
  ) then
    raise exception 'a result without its call (step %, index %)', new.step, new.call_index using errcode = 'CQ003';
  end if;
  return null;
end $$;
create trigger items_paired after insert on items for each row when (new.kind = 'result') execute function items_result_has_call();

-- AFTER, so that a finish may update the run and insert the last result in one statement.
create function runs_refuse_open_calls() returns trigger language plpgsql as $$
begin
  if exists (
    select from items c
    where c.kind = 'call' and c.run_id = new.id
      and not exists (
        select from items r
        where r.kind = 'result' and r.run_id = c.run_id and r.step = c.step and r.call_index = c.call_index
      )
  ) then
    raise exception 'run % can not end with open calls', new.id using errcode = 'CQ004';
  end if;
  return null;
end $$;
create trigger runs_end_whole after update of status on runs for each row
  when (new.status in ('done', 'failed', 'cancelled') and old.status is distinct from new.status)
  execute function runs_refuse_open_calls();
`,
} as const;
