/**
 * Threads that are gone and whose files may still be there: noted by the statement that removes the thread, whichever that
 * is, so that no crash forgets files. Threads of child runs work with the files of their root's.
 */
export const removedThreads = {
  name: "0009-removed-threads",
  up: `
create table removed_threads (
  thread_id uuid primary key,
  user_id uuid not null,
  remove_at timestamptz not null default now()
);

create function threads_leave_files() returns trigger language plpgsql as $$
begin
  insert into removed_threads (thread_id, user_id) values (old.id, old.user_id) on conflict do nothing;
  return null;
end $$;
create trigger threads_with_files after delete on threads for each row
  when (old.parent_run is null) execute function threads_leave_files();
`,
} as const;
