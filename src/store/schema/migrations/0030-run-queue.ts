import type { Migration } from "../migration.ts";

/**
 * A run is its own job: who works on it stands in its row, and a node tells for all of its runs at once that it is alive. What a
 * run keeps from its start stands once for all runs that began with the same.
 */
export const runQueue: Migration = {
  name: "0030-run-queue",
  up: `
    create table run_definitions (
      user_id uuid not null references users on delete cascade,
      hash text not null,
      body jsonb not null,
      used_at timestamptz not null default now(),
      primary key (user_id, hash)
    );
    create function definition_hash(body jsonb) returns text language sql immutable parallel safe as $$
      select encode(sha256(convert_to(body::text, 'UTF8')), 'hex')
    $$;
    update runs set definition_hash = definition_hash(definition);
    insert into run_definitions (user_id, hash, body)
      select distinct on (user_id, definition_hash) user_id, definition_hash, definition from runs;
    alter table runs drop column definition, drop column job_id;
    alter table runs set (fillfactor = 80);
    alter table budgets set (fillfactor = 70);
    alter table threads set (fillfactor = 80);
    create index runs_queued on runs (user_id, id) where parent_run is null and status = 'queued';
    create index runs_to_retry on runs (retry_at) where parent_run is null and status = 'waiting' and retry_at is not null;

    create table nodes (id text primary key, seen_at timestamptz not null default now());

    do $$ begin
      if to_regclass('pgboss.job') is not null then
        delete from pgboss.job where name = 'runs';
        delete from pgboss.queue where name = 'runs';
      end if;
    end $$;
    drop function claim_jobs(text, integer, integer);

    -- A run at work has one of its person's places, from 0 up to the limit. Who gives one out holds its lock until the statement has
    -- committed, and looks once more behind the lock, where all that began with it before can be seen: the limit is exact. Nobody waits
    -- for anybody: a place that somebody else is just giving out is passed over.
    alter table runs add column place integer;
    update runs set place = numbered.place from (
      select id, row_number() over (partition by user_id order by id) - 1 as place from runs
      where parent_run is null and status = 'running') numbered where runs.id = numbered.id;
    create function take_places(who uuid, wanted integer, per_user integer) returns integer[] language plpgsql as $$
    declare
      used integer[];
      taken integer[] := '{}';
      first integer := floor(random() * per_user);
      candidate integer;
    begin
      select coalesce(array_agg(r.place), '{}') into used from runs r
        where r.user_id = who and r.parent_run is null and r.status = 'running';
      -- The limit was lowered, or is another one elsewhere: runs beyond it have no place that could be passed over, so only one
      -- asks at a time.
      if exists (select from unnest(used) u where u is null or u >= per_user) then
        if not pg_try_advisory_xact_lock(7206002, hashtext(who::text)) then return taken; end if;
        select coalesce(array_agg(r.place), '{}') into used from runs r
          where r.user_id = who and r.parent_run is null and r.status = 'running';
      end if;
      wanted := least(wanted, per_user - cardinality(used));
      for step in 0 .. per_user - 1 loop
        exit when cardinality(taken) >= wanted;
        candidate := (first + step) % per_user;
        continue when candidate = any (used);
        continue when not pg_try_advisory_xact_lock(7206001, hashtext(who::text || ' ' || candidate));
        continue when exists (select from runs r
          where r.user_id = who and r.parent_run is null and r.status = 'running' and r.place = candidate);
        taken := taken || candidate;
      end loop;
      return taken;
    end $$;

    -- The place with which one more run of this person may begin now, or null. Nobody overtakes a run that is queued.
    create function take_place(who uuid, per_user integer) returns integer language plpgsql as $$
    begin
      if exists (select from runs r where r.user_id = who and r.parent_run is null
        and (r.status = 'queued' or (r.status = 'waiting' and r.retry_at <= now()))) then return null; end if;
      return (take_places(who, 1, per_user))[1];
    end $$;

    -- Gives a node runs to work on, those of each person oldest first: at most its share of what is there, so that other nodes get
    -- theirs. It waits for nobody. A last row without a run tells that more is queued: with epoch 0 it is held up by the limit for
    -- each person or left to others, with epoch 1 somebody was just giving out that person's places.
    create function claim_runs(claimant text, most integer, per_user integer)
    returns table (run_id uuid, run_epoch integer, crashed boolean, retried boolean, last_node text) language plpgsql as $$
    declare
      owner record;
      node_share integer;
      free_places integer[];
      given integer;
      taken integer := 0;
      all_queued integer;
      skipped boolean := false;
    begin
      select count(*) into all_queued from runs r
        where r.parent_run is null and (r.status = 'queued' or (r.status = 'waiting' and r.retry_at <= now()));
      if all_queued = 0 then return; end if;
      node_share := least(most, ceil(all_queued::numeric / greatest(1, (
        select count(*) from nodes n where n.seen_at > now() - interval '10 seconds')))::integer);
      for owner in
        select q.user_id, count(*)::integer as queued from (
          select r.user_id, r.id from runs r where r.parent_run is null and r.status = 'queued'
          union all
          select r.user_id, r.id from runs r where r.parent_run is null and r.status = 'waiting' and r.retry_at <= now()) q
        group by q.user_id order by min(q.id::text)
      loop
        exit when taken >= node_share;
        free_places := take_places(owner.user_id, least(owner.queued, node_share - taken), per_user);
        if cardinality(free_places) = 0 then
          skipped := skipped or per_user > (
            select count(*) from runs r where r.user_id = owner.user_id and r.parent_run is null and r.status = 'running');
          continue;
        end if;
        return query
        with free as materialized (
          select f.id, f.handed_over as was_left, f.retry_at as was_due, f.node as was_with, row_number() over () as number
          from (select r.id, r.handed_over, r.retry_at, r.node from runs r
            where r.user_id = owner.user_id and r.parent_run is null
              and (r.status = 'queued' or (r.status = 'waiting' and r.retry_at <= now()))
            order by r.id limit cardinality(free_places) for no key update skip locked) f)
        update runs r set epoch = r.epoch + 1, status = 'running', wait_reason = null, wait_until = null, retry_at = null,
          node = claimant, place = free_places[free.number], started_at = coalesce(r.started_at, clock_timestamp()),
          takeovers = case when r.handed_over then r.takeovers else r.takeovers + 1 end, handed_over = false,
          takes = (case when jsonb_array_length(r.takes) < 32 then r.takes else r.takes - 1 end) || jsonb_build_array(
            jsonb_build_object('epoch', r.epoch + 1, 'node', claimant, 'at', now(), 'over', not r.handed_over))
        from free where r.id = free.id
        returning r.id, r.epoch, not free.was_left, free.was_due is not null, free.was_with;
        get diagnostics given = row_count;
        taken := taken + given;
      end loop;
      if taken < all_queued then
        run_id := null;
        run_epoch := skipped::integer;
        return next;
      end if;
    end $$;

    create function refuse_used_key() returns boolean language plpgsql as $$
    begin
      raise exception 'the Idempotency-Key names another run' using errcode = 'CQ006';
    end $$;

    -- In the words of the index, or the end of a run reads the results of all runs.
    create or replace function runs_refuse_open_calls() returns trigger language plpgsql as $$
    begin
      if exists (
        select from items c
        where c.kind = 'call' and coalesce(c.run_id, c.thread_id) = new.id
          and not exists (
            select from items r
            where r.kind = 'result' and coalesce(r.run_id, r.thread_id) = new.id and r.step = c.step and r.call_index = c.call_index
          )
      ) or exists (
        select from items w
        where w.kind = 'state' and w.call_index is not null and w.run_id = new.id
          and not exists (
            select from items r
            where r.kind = 'result' and coalesce(r.run_id, r.thread_id) = new.id and r.step = w.step and r.call_index = w.call_index
              and r.seq > w.seq
          )
      ) then
        raise exception 'run % can not end with open calls', new.id using errcode = 'CQ004';
      end if;
      return null;
    end $$;

    -- Every run and every message calls these two. A function of plain SQL with a query in it is planned again in each statement.
    create or replace function permissions_of(whose uuid, standing text) returns jsonb language plpgsql stable as $$
    begin
      if standing = 'admin' then return '["*"]'::jsonb; end if;
      return (select coalesce(jsonb_agg(distinct one.name), '[]'::jsonb) from (
        select jsonb_array_elements_text(coalesce((select permissions from groups where name = 'everyone'),
          '["agent:*", "collection:*", "model:*", "room:*", "tool:*"]'::jsonb)) as name
        union all
        select jsonb_array_elements_text(g.permissions)
        from group_members m join groups g on g.name = m.group_name where m.user_id = whose) one);
    end $$;
    create or replace function message_text(body jsonb) returns text language plpgsql immutable parallel safe as $$
    begin
      case jsonb_typeof(body -> 'content')
        when 'string' then return body ->> 'content';
        when 'array' then return (select string_agg(part ->> 'text', ' ')
          from jsonb_array_elements(body -> 'content') part where part ->> 'type' = 'text');
        else return null;
      end case;
    end $$;
  `,
};
