-- SPDX-License-Identifier: Apache-2.0
-- Fetching statements: which date is due, who fetches it, and what went wrong.

-- Takes the oldest date whose statement is due and not here: one process has it until it may be tried again. Parameters: i_provider, i_zone and i_at: from which local time of the
-- next day it can be had, i_catch_up: how many days are looked back for, i_retry: not sooner after a failed attempt.
-- Result: one row with the date, or none. Locks: the date's row. Errors: 22023 for an unknown zone.
create or replace function largesse.statement_fetch_take(i_provider text, i_zone text, i_at time, i_catch_up int, i_retry interval)
returns table (business_date date)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now   timestamptz := largesse.clock_now();
  v_last  date := (v_now at time zone i_zone)::date;
  v_first date;
begin
  while largesse.local_instant(v_last + 1 + i_at, i_zone) > v_now loop v_last := v_last - 1; end loop;
  -- Not before the first one that was had or tried; the latest one in any case.
  v_first := greatest(v_last - i_catch_up + 1,
                      least(v_last, (select min(s.business_date) from largesse.statement s where s.provider = i_provider),
                            (select min(f.business_date) from largesse.statement_fetch f where f.provider = i_provider)));
  for business_date in
    select d.day::date from generate_series(v_first, v_last, interval '1 day') as d(day)
     where not exists (select from largesse.statement s where s.provider = i_provider and s.state = 'active' and s.business_date <= d.day::date
                                                          and s.until_at >= largesse.local_instant(d.day::date + 1 + time '00:00', s.time_zone))
     order by 1
  loop
    insert into largesse.statement_fetch as f (provider, business_date, attempts, last_at, fault) values (i_provider, business_date, 1, v_now, 'being fetched')
    on conflict on constraint statement_fetch_pkey do update set attempts = f.attempts + 1, last_at = v_now where f.last_at <= v_now - i_retry;
    if found then return next; return; end if;
  end loop;
end $$;

-- What became of a fetch. Parameters: i_provider, i_date, i_fault (null: the statement is here), i_actor (null: it was due by itself), i_reason.
-- Result: none. Locks: the date's row, the log. Errors: none.
create or replace function largesse.statement_fetch_done(i_provider text, i_date date, i_fault text, i_actor text, i_reason text) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  insert into largesse.statement_fetch as f (provider, business_date, attempts, last_at, fault) values (i_provider, i_date, 1, largesse.clock_now(), left(i_fault, 600))
  on conflict on constraint statement_fetch_pkey do update set fault = excluded.fault;
  if i_actor is not null and i_fault is null then
    perform largesse.log_append(i_actor, 'statement.fetch', i_provider || '/' || i_date, i_reason);
  end if;
end $$;

-- What could not be fetched, of a date and the 30 days before it, for the night's report. Parameters: i_date. Result: JSON; null: nothing. Locks, errors: none.
create or replace function largesse.statements_not_fetched(i_date date) returns json
language sql stable
set search_path = largesse, pg_temp
as $$
  select json_agg(json_build_object('provider', f.provider, 'date', f.business_date, 'attempts', f.attempts, 'fault', f.fault) order by f.provider, f.business_date)
    from largesse.statement_fetch f
   where f.fault is not null and f.business_date <= i_date and f.business_date >= i_date - 30
     -- As statement_fetch_take looks: a file may cover several days.
     and not exists (select from largesse.statement s where s.provider = f.provider and s.state = 'active' and s.business_date <= f.business_date
                                                        and s.until_at >= largesse.local_instant(f.business_date + 1 + time '00:00', s.time_zone))
$$;
