/** Whoever shows a person's tasks hears that they have changed, whoever changed them. */
export const taskChanges = {
  name: "0020-task-changes",
  up: `
create function tasks_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('colloquy_tasks', coalesce(new.user_id, old.user_id)::text);
  return null;
end $$;
create trigger tasks_changed after insert or update or delete on tasks
  for each row execute function tasks_changed();
`,
} as const;
