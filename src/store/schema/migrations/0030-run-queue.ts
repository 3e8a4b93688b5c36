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

    -- Whether one more run of this person may begin now. The lock lasts until the statement that asks has committed, and what is
    -- counted after it is newer than all that began before, so the limit is exact. It waits for nobody: whoever meets another one is
    -- queued. Nobody overtakes a run that is.
    create function may_begin(who uuid, per_user integer) returns boolean language plpgsql as $$
    begin
      if not pg_try_advisory_xact_lock(7206001, hashtext(who::text)) then return false; end if;
      return (select count(*) from runs r where r.user_id = who and r.parent_run is null and r.status = 'running') < per_user
        and not exists (select from runs r where r.user_id = who and r.parent_run is null and r.status = 'queued');
    end $$;

    -- Gives a node runs to work on, those of each person oldest first: at most its share of what is there, so that other nodes get
    -- theirs. It waits for nobody. A last row without a run tells that more is queued: with epoch 0 it is held up by the limit for
    -- each person or left to others, with epoch 1 somebody was just being asked about it.
    create function claim_runs(claimant text, most integer, per_user integer)
    returns table (run_id uuid, run_epoch integer, crashed boolean, retried boolean, last_node text) language plpgsql as $$
    declare
      owner record;
      places integer;
      given integer;
      total integer := 0;
      taken integer := 0;
      all_queued integer;
      skipped boolean := false;
    begin
      select count(*) into all_queued from runs r
        where r.parent_run is null and (r.status = 'queued' or (r.status = 'waiting' and r.retry_at <= now()));
      if all_queued = 0 then return; end if;
      places := least(most, ceil(all_queued::numeric / greatest(1, (
        select count(*) from nodes n where n.seen_at > now() - interval '10 seconds')))::integer);
      for owner in
        select q.user_id from (
          select r.user_id, r.id from runs r where r.parent_run is null and r.status = 'queued'
          union all
          select r.user_id, r.id from runs r where r.parent_run is null and r.status = 'waiting' and r.retry_at <= now()) q
        group by q.user_id order by min(q.id::text)
      loop
        exit when taken >= places;
        if not pg_try_advisory_xact_lock(7206001, hashtext(owner.user_id::text)) then
          skipped := true;
          continue;
        end if;
        select count(*) into total from runs r where r.user_id = owner.user_id and r.parent_run is null and r.status = 'running';
        continue when total >= per_user;
        return query
        with free as materialized (
          select f.id, f.handed_over as was_left, f.retry_at as was_due, f.node as was_with from runs f
          where f.user_id = owner.user_id and f.parent_run is null
            and (f.status = 'queued' or (f.status = 'waiting' and f.retry_at <= now()))
          order by f.id limit least(per_user - total, places - taken) for no key update skip locked)
        update runs r set epoch = r.epoch + 1, status = 'running', wait_reason = null, wait_until = null, retry_at = null,
          node = claimant, started_at = coalesce(r.started_at, clock_timestamp()),
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
  `,
};
