/** What admins define through the API; every node hears of a change. */
export const definitions = {
  name: "0013-definitions",
  up: `
create table definitions (
  kind text not null check (kind in ('agent', 'model', 'mcp-server', 'default')),
  id text not null,
  revision uuid not null,
  body jsonb,
  sealed text,
  created_by uuid references users on delete set null,
  changed_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (kind, id),
  check ((body is null) <> (sealed is null))
);
create function definitions_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('colloquy_definitions', '');
  return null;
end $$;
create trigger definitions_changed after insert or update or delete on definitions
  for each statement execute function definitions_changed();
`,
} as const;
