/** Who changed what through the API: a row for each attempt. */
export const audit = {
  name: "0012-audit",
  up: `
create table audit_log (
  id uuid primary key,
  at timestamptz not null default now(),
  user_id uuid,
  user_name text not null,
  via text not null,
  address text not null,
  method text not null,
  path text not null,
  status integer not null,
  request_id text not null
);
create index audit_log_by_time on audit_log (at);
create index model_calls_by_user on model_calls (user_id, started_at);
`,
} as const;
