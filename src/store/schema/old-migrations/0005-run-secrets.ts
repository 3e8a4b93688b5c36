/**
 * What a caller handed over for the time of a run, sealed. Whoever ends the run, and however: the trigger removes it in the
 * same statement.
 */
export const runSecrets = {
  name: "0005-run-secrets",
  up: `
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
`,
} as const;
