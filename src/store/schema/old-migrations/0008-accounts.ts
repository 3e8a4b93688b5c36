/**
 * Passwords, logins and groups. What an account may do is worked out in one place, `permissions_of`, which everybody asks
 * who needs a caller: requests, runs that are taken up, schedules. The group `everyone` has a row only once it was changed.
 */
export const accounts = {
  name: "0008-accounts",
  up: `
alter table users add column is_owner boolean not null default false;
alter table users add column password_hash text;
alter table users add column password_set_at timestamptz;
update users set is_owner = true where name = 'owner';
create unique index users_one_owner on users (is_owner) where is_owner;

alter table api_keys add column scopes jsonb;
alter table api_keys add column expires_at timestamptz;

create table signing_keys (id text primary key, sealed text not null, created_at timestamptz not null default now());

create table web_sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  label text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index web_sessions_by_user on web_sessions (user_id);
create index web_sessions_ending on web_sessions (expires_at);

create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index identities_by_user on identities (user_id);

create table groups (
  name text primary key,
  permissions jsonb not null,
  created_at timestamptz not null default now()
);
create table group_members (
  group_name text not null references groups on delete cascade,
  user_id uuid not null references users on delete cascade,
  issuer text,
  primary key (group_name, user_id)
);
create index group_members_by_user on group_members (user_id);

create table account_links (
  id uuid primary key,
  purpose text not null check (purpose in ('setup', 'invite', 'reset')),
  user_id uuid references users on delete cascade,
  role text not null default 'user' check (role in ('admin', 'user')),
  groups jsonb not null default '[]',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create unique index account_links_one_setup on account_links (purpose) where purpose = 'setup' and used_at is null;

create table login_failures (
  key text primary key,
  failures integer not null,
  last_at timestamptz not null default now()
);
create index login_failures_by_age on login_failures (last_at);

create function permissions_of(whose uuid, standing text) returns jsonb language sql stable as $$
  select case when standing = 'admin' then '["*"]'::jsonb else (
    select coalesce(jsonb_agg(distinct one.name), '[]'::jsonb) from (
      select jsonb_array_elements_text(
        coalesce((select permissions from groups where name = 'everyone'), '["agent:*", "model:*", "tool:*"]'::jsonb)) as name
      union all
      select jsonb_array_elements_text(g.permissions)
      from group_members m join groups g on g.name = m.group_name where m.user_id = whose) one) end
$$;

update runs set caller = jsonb_set(caller, '{permissions}', '["agent:*", "model:*", "tool:*"]' || (caller -> 'permissions'))
where status in ('queued', 'running', 'waiting') and not caller -> 'permissions' ? '*';
update pending set start = jsonb_set(start, '{caller,permissions}', '["agent:*", "model:*", "tool:*"]' || (start #> '{caller,permissions}'))
where not start #> '{caller,permissions}' ? '*';
`,
} as const;
