-- What is said and done in threads. The promises about it are kept here, by the database itself: an item is never changed, a result
-- has its call and only one that stands, items go only with their whole thread.

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
create index items_results on items (coalesce(run_id, thread_id), step, call_index) where kind = 'result';
create unique index items_one_decision on items (thread_id, (body ->> 'question')) where kind = 'decision';

-- A run that has ended may go on: a 'state' item that names a call, or a step with its attempt, withdraws what its run had there
-- before.
create index items_withdrawn on items (run_id, step, call_index) where kind = 'state' and call_index is not null;

-- Messages that brought files, of which a workspace needs copies.
create index items_with_files on items (thread_id) where kind = 'message' and body ? 'files';

-- Finds what of a thread others wrote, however long the thread is: 'run/turn/untrusted.ts' asks in these very words.
create index items_untrusted on items (thread_id)
  where body ->> 'untrusted' = 'true' or (kind = 'message' and body -> 'files' is not null);

-- Where a person has allowed that somebody is told things.
create index items_here on items (thread_id) where kind = 'decision' and body ? 'here';

-- The search holds the beginning of each message: a text search vector has at most a megabyte, and a message that does not fit must
-- not be refused for that.
create function message_text(body jsonb) returns text language sql immutable parallel safe as $$
  select case jsonb_typeof(body -> 'content')
    when 'string' then body ->> 'content'
    when 'array' then (select string_agg(part ->> 'text', ' ') from jsonb_array_elements(body -> 'content') part where part ->> 'type' = 'text')
  end
$$;
create index items_words on items using gin (to_tsvector('simple'::regconfig, left(message_text(body), 50000))) where kind = 'message';

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

-- AFTER, so that a call and its result may come in one statement. A call may have a second result, if the first was withdrawn.
-- Whoever adds to a thread holds its row, so what is counted here can't change meanwhile. An import adds both results in one
-- statement, so each sees the other one.
create function items_result_has_call() returns trigger language plpgsql as $$
begin
  if not exists (
    select from items
    where kind = 'call' and coalesce(run_id, thread_id) = coalesce(new.run_id, new.thread_id)
      and step = new.step and call_index = new.call_index and thread_id = new.thread_id
  ) then
    raise exception 'a result without its call (step %, index %)', new.step, new.call_index using errcode = 'CQ003';
  end if;
  if exists (
    select from items r
    where r.kind = 'result' and coalesce(r.run_id, r.thread_id) = coalesce(new.run_id, new.thread_id)
      and r.step = new.step and r.call_index = new.call_index and r.id <> new.id
      and not exists (
        select from items w
        where w.kind = 'state' and w.run_id = r.run_id and w.step = r.step and w.call_index = r.call_index
          and w.seq > least(r.seq, new.seq) and w.seq < greatest(r.seq, new.seq)
      )
  ) then
    raise exception 'a second result of a call (step %, index %)', new.step, new.call_index
      using errcode = 'unique_violation', constraint = 'items_one_result';
  end if;
  return null;
end $$;
create trigger items_paired after insert on items for each row when (new.kind = 'result') execute function items_result_has_call();

-- What a person thinks of an item; it goes with the item, which itself is never changed.
create table feedback (
  item_id uuid primary key references items (id) on delete cascade,
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('positive', 'negative')),
  created_at timestamptz not null default now()
);

-- Messages that wait for the end of the run at work in their thread.
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
