/**
 * Runs within a run. A child is named by the call of its parent that it stands for, so that one call has one child however
 * often it is taken up; its hidden thread goes with its parent.
 */
export const childRuns = {
  name: "0002-child-runs",
  up: `
alter table runs add column parent_call text;
create unique index runs_one_child on runs (parent_run, parent_call) where parent_run is not null;
create index runs_live_children on runs (root_run) where parent_run is not null and status in ('queued', 'running', 'waiting');
create index threads_of_runs on threads (parent_run) where parent_run is not null;

create function runs_take_their_threads() returns trigger language plpgsql as $$
begin
  delete from threads where parent_run = old.id;
  return null;
end $$;
create trigger runs_with_threads after delete on runs for each row execute function runs_take_their_threads();
`,
} as const;
