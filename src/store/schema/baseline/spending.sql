-- What accounts and groups may spend on models in a day or a month, what they have spent, and what is reserved for requests at work.
-- Times are UTC.

create table model_calls (
  id uuid primary key,
  user_id uuid,
  run_id uuid,
  step text,
  attempt integer,
  asked text not null,
  model text not null,
  provider text not null,
  started_at timestamptz not null,
  first_part_ms double precision,
  total_ms double precision not null,
  input_tokens bigint,
  output_tokens bigint,
  cost double precision,
  finish text,
  error text
);
create index model_calls_by_time on model_calls (started_at);
create index model_calls_by_run on model_calls (run_id) where run_id is not null;
create index model_calls_by_user on model_calls (user_id, started_at);

create table spending_budgets (
  id uuid primary key,
  kind text not null check (kind in ('user', 'group', 'default')),
  user_id uuid references users on delete cascade,
  group_name text references groups on delete cascade,
  period text not null check (period in ('day', 'month')),
  tokens_max bigint check (tokens_max >= 0),
  cost_max double precision check (cost_max >= 0),
  requests_max bigint check (requests_max >= 0),
  warn_at double precision not null check (warn_at > 0 and warn_at <= 1),
  on_limit text not null check (on_limit in ('wait', 'refuse', 'warn')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((kind = 'user') = (user_id is not null) and (kind = 'group') = (group_name is not null)),
  check (num_nonnulls(tokens_max, cost_max, requests_max) > 0)
);
create unique index spending_budgets_one on spending_budgets (kind, period, user_id, group_name) nulls not distinct;

-- 'who' is 'user <id>' or 'group <name>': what was spent stays, whatever becomes of the budget.
create table spending (
  who text not null,
  period text not null,
  starts_at timestamptz not null,
  user_id uuid references users on delete cascade,
  group_name text references groups on delete cascade,
  tokens bigint not null default 0,
  cost double precision not null default 0,
  requests bigint not null default 0,
  unpriced bigint not null default 0,
  warned_at timestamptz,
  primary key (who, period, starts_at)
);
create index spending_by_user on spending (user_id) where user_id is not null;
create index spending_by_age on spending (starts_at);

-- A reservation counts as long as its run is at work at its epoch, or until its time has come: that of a process that died ends with
-- the next owner of its run, and nobody has to give it back.
create table spending_holds (
  id uuid not null,
  who text not null,
  period text not null,
  starts_at timestamptz not null,
  user_id uuid not null references users on delete cascade,
  run_id uuid,
  epoch integer,
  until timestamptz,
  tokens bigint not null,
  cost double precision not null,
  created_at timestamptz not null default now(),
  primary key (id, who, period)
);
create index spending_holds_of on spending_holds (who, period, starts_at);
create index spending_holds_by_age on spending_holds (created_at);

create function budgets_of(whose uuid)
returns table (id uuid, kind text, group_name text, who text, period text, tokens_max bigint, cost_max double precision,
  requests_max bigint, warn_at double precision, on_limit text)
language sql stable as $$
  select b.id, b.kind, b.group_name, 'user ' || whose, b.period, b.tokens_max, b.cost_max, b.requests_max, b.warn_at, b.on_limit
  from spending_budgets b where b.user_id = whose
    or b.kind = 'default' and not exists (select from spending_budgets own where own.user_id = whose and own.period = b.period)
  union all
  select b.id, b.kind, b.group_name, 'group ' || b.group_name, b.period, b.tokens_max, b.cost_max, b.requests_max, b.warn_at, b.on_limit
  from group_members m join spending_budgets b on b.group_name = m.group_name where m.user_id = whose
$$;

create function period_start(period text) returns timestamptz language sql stable as $$
  select date_trunc(period, now() at time zone 'UTC') at time zone 'UTC'
$$;
create function period_end(period text) returns timestamptz language sql stable as $$
  select (date_trunc(period, now() at time zone 'UTC') + ('1 ' || period)::interval) at time zone 'UTC'
$$;

-- What is reserved and still counts.
create function held_spending(of_who text, of_period text, of_start timestamptz)
returns table (tokens bigint, cost double precision, requests bigint) language sql volatile as $$
  select coalesce(sum(h.tokens), 0)::bigint, coalesce(sum(h.cost), 0)::double precision, count(*) from spending_holds h
  where h.who = of_who and h.period = of_period and h.starts_at = of_start and (h.until > now()
    or exists (select from runs r where r.id = h.run_id and r.epoch = h.epoch and r.status = 'running'))
$$;

-- The counter of a period begins with what the call log knows of it, so that a new budget counts what was spent before it.
create function begin_spending(of_who text, of_period text, whose uuid, of_group text) returns void language plpgsql as $$
begin
  if exists (select from spending s where s.who = of_who and s.period = of_period and s.starts_at = period_start(of_period)) then
    return;
  end if;
  insert into spending (who, period, starts_at, user_id, group_name, tokens, cost, requests, unpriced)
  select of_who, of_period, period_start(of_period), case when of_group is null then whose end, of_group,
    coalesce(sum(coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0)), 0), coalesce(sum(c.cost), 0),
    count(c.id) filter (where c.error is null), count(c.id) filter (where c.error is null and c.cost is null)
  from model_calls c where c.started_at >= period_start(of_period)
    and c.user_id in (select whose where of_group is null union all select m.user_id from group_members m where m.group_name = of_group)
  on conflict do nothing;
end $$;

-- Reserves for a request what it may come to, of all budgets of the account or, by an error, of none. Null: it has none.
create function hold_spending(hold uuid, whose uuid, of_run uuid, at_epoch integer, for_seconds integer,
  more_tokens bigint, more_cost double precision) returns jsonb language plpgsql as $$
declare
  b record;
  s record;
  h record;
  reached text;
  state jsonb;
begin
  for b in select * from budgets_of(whose) x order by x.who, x.period loop
    perform begin_spending(b.who, b.period, whose, b.group_name);
    select * into s from spending x where x.who = b.who and x.period = b.period and x.starts_at = period_start(b.period) for update;
    select * into h from held_spending(b.who, b.period, s.starts_at);
    reached := case
      when b.on_limit = 'warn' then null
      when s.tokens + h.tokens + more_tokens > b.tokens_max then 'tokens'
      when s.cost + h.cost + more_cost > b.cost_max then 'cost'
      when s.requests + h.requests + 1 > b.requests_max then 'requests' end;
    if reached is not null then
      raise exception 'a budget is reached' using errcode = 'CQ005', detail = jsonb_build_object(
        'id', b.id, 'kind', b.kind, 'group', b.group_name, 'period', b.period, 'what', reached, 'onLimit', b.on_limit,
        'max', case reached when 'tokens' then b.tokens_max when 'cost' then b.cost_max else b.requests_max end,
        'used', case reached when 'tokens' then s.tokens when 'cost' then s.cost else s.requests end,
        'held', case reached when 'tokens' then h.tokens when 'cost' then h.cost else h.requests end,
        'asked', case reached when 'tokens' then more_tokens when 'cost' then more_cost else 1 end,
        'endsAt', period_end(b.period))::text;
    end if;
    insert into spending_holds (id, who, period, starts_at, user_id, run_id, epoch, until, tokens, cost)
    values (hold, b.who, b.period, s.starts_at, whose, of_run, at_epoch, now() + for_seconds * interval '1 second', more_tokens, more_cost);
    state := coalesce(state, '{}');
    if s.tokens >= b.warn_at * b.tokens_max or s.cost >= b.warn_at * b.cost_max or s.requests >= b.warn_at * b.requests_max then
      state := state || jsonb_build_object('warning', jsonb_build_object('id', b.id, 'kind', b.kind, 'group', b.group_name,
        'period', b.period, 'first', s.warned_at is null));
      update spending x set warned_at = now()
      where x.who = b.who and x.period = b.period and x.starts_at = s.starts_at and x.warned_at is null;
    end if;
  end loop;
  return state;
end $$;

-- What it came to, in place of what was reserved. True: something was.
create function settle_spending(hold uuid, used_tokens bigint, used_cost double precision, used_requests integer, used_unpriced integer)
returns boolean language plpgsql as $$
declare
  h record;
  settled boolean := false;
begin
  for h in select x.who, x.period, x.starts_at from spending_holds x where x.id = hold order by x.who, x.period loop
    update spending s set tokens = s.tokens + used_tokens, cost = s.cost + used_cost, requests = s.requests + used_requests,
      unpriced = s.unpriced + used_unpriced
    where s.who = h.who and s.period = h.period and s.starts_at = h.starts_at;
    settled := true;
  end loop;
  delete from spending_holds x where x.id = hold;
  return settled;
end $$;
