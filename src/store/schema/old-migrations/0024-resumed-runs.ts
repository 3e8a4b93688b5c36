/**
 * A run that has ended may go on: a `state` item that names a call, or a step with its attempt, withdraws what its run had
 * there before. So a call may have a second result, if the first was withdrawn, and one only that stands. And where a run
 * comes from that begins with steps of another one, or stands in its place.
 */
export const resumedRuns = {
  name: "0024-resumed-runs",
  up: `
alter table runs add column origin jsonb;

create index items_withdrawn on items (run_id, step, call_index) where kind = 'state' and call_index is not null;
drop index items_one_result;
create index items_results on items (coalesce(run_id, thread_id), step, call_index) where kind = 'result';

-- Whoever adds to a thread holds its row, so what is counted here can't change meanwhile. An import adds both results in one
-- statement, so each sees the other one.
create or replace function items_result_has_call() returns trigger language plpgsql as $$
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

create or replace function runs_refuse_open_calls() returns trigger language plpgsql as $$
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
`,
} as const;
