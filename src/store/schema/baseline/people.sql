-- Accounts, how they log in, and what they may do.

-- 'looks' is what a name looks like, once among all accounts. Those that looked alike when this came stay: the oldest of them
-- counts, and the others, which are 'alike', keep their names from being taken too.
create table users (
  id uuid primary key,
  name text not null unique,
  role text not null check (role in ('admin', 'user')),
  disabled boolean not null default false,
  created_at timestamptz not null default now(),
  is_owner boolean not null default false,
  password_hash text,
  password_set_at timestamptz,
  looks text,
  alike boolean not null default false
);
create unique index users_one_owner on users (is_owner) where is_owner;
create unique index users_by_looks on users (looks) where not alike;

-- A key may what its scopes name. One from before there were scopes keeps what it had until it is cut, or until 'unscoped_until'.
create table api_keys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  label text not null,
  hash text not null unique,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  scopes jsonb,
  expires_at timestamptz,
  unscoped_until timestamptz default now() + interval '90 days',
  constraint api_keys_name_scopes check (scopes is not null or unscoped_until is not null)
);

-- The group 'everyone' has a row only once it was changed.
create table groups (
  name text primary key,
  permissions jsonb not null,
  created_at timestamptz not null default now()
);
-- 'issuer': who said so when the person logged in; null if an admin did.
create table group_members (
  group_name text not null references groups on delete cascade,
  user_id uuid not null references users on delete cascade,
  issuer text,
  primary key (group_name, user_id)
);
create index group_members_by_user on group_members (user_id);

-- What an account may do is worked out in this one place, which everybody asks who needs a caller: requests, runs that are
-- taken up, schedules.
create function permissions_of(whose uuid, standing text) returns jsonb language sql stable as $$
  select case when standing = 'admin' then '["*"]'::jsonb else (
    select coalesce(jsonb_agg(distinct one.name), '[]'::jsonb) from (
      select jsonb_array_elements_text(coalesce((select permissions from groups where name = 'everyone'),
        '["agent:*", "collection:*", "model:*", "room:*", "tool:*"]'::jsonb)) as name
      union all
      select jsonb_array_elements_text(g.permissions)
      from group_members m join groups g on g.name = m.group_name where m.user_id = whose) one) end
$$;

create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index identities_by_user on identities (user_id);

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

-- 'open' shows that a browser of this machine is its owner's.
create table account_links (
  id uuid primary key,
  purpose text not null check (purpose in ('setup', 'invite', 'reset', 'open')),
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

-- How users are signed in to MCP servers: tokens, and sign-ins that have begun, both sealed.
create table mcp_credentials (
  user_id uuid not null references users on delete cascade,
  server text not null,
  login text,
  sign_in text,
  renewed_by timestamptz,
  primary key (user_id, server)
);
