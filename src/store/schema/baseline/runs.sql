-- Runs, what bounds them, what they have done, and what starts them.

-- A child is named by the call of its parent that it stands for, so that one call has one child however often it is taken up.
-- 'takes': which process took it, and when, the first time and the newest ones. 'retry_at': when one that waits for a provider
-- asks again by itself; null: only when somebody says so. 'origin': where one comes from that begins with steps of another
-- run, or stands in its place.
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
  ended_at timestamptz,
  parent_call text,
  takes jsonb not null default '[]',
  retry_at timestamptz,
  origin jsonb
);
create unique index runs_one_live_root on runs (thread_id) where parent_run is null and status in ('queued', 'running', 'waiting');
create unique index runs_one_child on runs (parent_run, parent_call) where parent_run is not null;
create index runs_by_user on runs (user_id, id);
create index runs_by_thread on runs (thread_id, id);
create index runs_waiting on runs (wait_until) where status = 'waiting';
create index runs_live on runs (status) where status in ('queued', 'running', 'waiting');
create index runs_live_children on runs (root_run) where parent_run is not null and status in ('queued', 'running', 'waiting');

-- Calls are open, too, whose results were withdrawn when the run went on. AFTER, so that a finish may update the run and insert
-- the last result in one statement.
create function runs_refuse_open_calls() returns trigger language plpgsql as $$
begin
  if exists (
    select from items c
    where c.kind = 'call' and c.run_id = new.id
      and not exists (
        select from items r
        where r.kind = 'result' and r.run_id = c.run_id and r.step = c.step and r.call_index = c.call_index
      )
  ) or exists (
    select from items w
    where w.kind = 'state' and w.call_index is not null and w.run_id = new.id
      and not exists (
        select from items r
        where r.kind = 'result' and r.run_id = w.run_id and r.step = w.step and r.call_index = w.call_index and r.seq > w.seq
      )
  ) then
    raise exception 'run % can not end with open calls', new.id using errcode = 'CQ004';
  end if;
  return null;
end $$;
create trigger runs_end_whole after update of status on runs for each row
  when (new.status in ('done', 'failed', 'cancelled') and old.status is distinct from new.status)
  execute function runs_refuse_open_calls();

create function runs_take_their_threads() returns trigger language plpgsql as $$
begin
  delete from threads where parent_run = old.id;
  return null;
end $$;
create trigger runs_with_threads after delete on runs for each row execute function runs_take_their_threads();

-- 'reserved': the step of each run whose calls were reserved last; whoever takes the run up in the middle of them, after a crash or
-- a wait, must not take them from the limits again. 'unsettled': what steps at work have reserved, by run and reservation;
-- settled with their answers, and given back by whoever takes a run over from a process that died.
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
  deadline timestamptz,
  reserved jsonb not null default '{}',
  unsettled jsonb not null default '{}'
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

-- What a caller handed over for the time of a run, sealed. Whoever ends the run, and however: the trigger removes it in the same
-- statement.
create table run_secrets (
  run_id uuid not null references runs on delete cascade,
  name text not null,
  user_id uuid not null references users on delete cascade,
  sealed text not null,
  primary key (run_id, name)
);
create index run_secrets_by_user on run_secrets (user_id);

create function runs_forget_secrets() returns trigger language plpgsql as $$
begin
  delete from run_secrets where run_id = new.id;
  return null;
end $$;
create trigger runs_without_secrets after update of status on runs for each row
  when (new.status in ('done', 'failed', 'cancelled') and old.status is distinct from new.status)
  execute function runs_forget_secrets();

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

-- 'scopes': what the key may that made it.
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
  created_at timestamptz not null default now(),
  scopes jsonb
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

-- Hands out jobs in one statement. The lock is taken and given back while the server works on it, so a node that vanishes holds
-- up nobody; what is counted after it is newer than all that others handed out before, so the limit of a user is exact.
create function claim_jobs(queue text, most integer, per_user integer)
returns table (job_id uuid, attempt integer, run_id uuid) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7206001);
  return query
  with counts as materialized (
    select coalesce(jsonb_object_agg(a.group_id, a.active), '{}') as active from (
      select j.group_id, count(*)::integer as active from pgboss.job j
      where j.name = queue and j.state = 'active' and j.group_id is not null group by j.group_id) a),
  next as (
    select j.id, j.group_id, coalesce(((select c.active from counts c) ->> j.group_id)::integer, 0) as active
    from pgboss.job j
    where j.name = queue and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()
      and coalesce(((select c.active from counts c) ->> j.group_id)::integer, 0) < per_user
    order by j.priority desc, j.created_on limit most
    for update of j skip locked),
  ranked as (select n.id, n.active + row_number() over (partition by n.group_id order by n.id) as place from next n)
  update pgboss.job j set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now(),
    retry_count = case when j.started_on is not null then j.retry_count + 1 else j.retry_count end
  where j.name = queue and j.id = any (array(select r.id from ranked r where r.place <= per_user))
  returning j.id, j.retry_count, (j.data ->> 'runId')::uuid;
end $$;
