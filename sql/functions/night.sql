-- SPDX-License-Identifier: Apache-2.0
-- Who makes the report of which night: one at a time, in order, one row per business date whoever comes first; a lease, so that what a reconciler has left is gone
-- on with by another, and a token, so that one that was only slow changes nothing any more.

-- The next business date to be reported. Nights before the first activity are none. Parameters: i_zone, i_at (local time), i_catch_up: how many nights are looked
-- back for, the latest one included.
-- Result: one row: outcome ('due', 'none', 'zone_unknown') and the date that is due. While somebody holds a night none is due. While requests of its time wait
-- for their judgement it is not due, for up to an hour. Locks, errors: none.
create or replace function largesse.night_due(i_zone text, i_at time, i_catch_up int)
returns table (outcome text, business_date date)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now   timestamptz := largesse.clock_now();
  v_open  largesse.night;
  v_last  date;
  v_first date;
begin
  outcome := 'none';
  select n.* into v_open from largesse.night n where n.state = 'running' order by n.business_date limit 1;
  if v_open.business_date is not null then
    if v_open.lease_until <= v_now then
      outcome := 'due';
      business_date := v_open.business_date;
    end if;
    return next;
    return;
  end if;
  if not largesse.time_zone_is_known(i_zone) then
    outcome := 'zone_unknown';
    return next;
    return;
  end if;
  v_last := largesse.night_latest(i_zone, i_at);
  v_first := greatest(v_last - i_catch_up + 1, coalesce((select min(n.business_date) from largesse.night n), v_last));
  select d.day::date into business_date
    from generate_series(v_first, v_last, interval '1 day') as d(day)
    cross join lateral largesse.night_window(d.day::date, i_zone) w
   where not exists (select from largesse.night n where n.business_date = d.day::date)
     and exists (select from largesse.activity a where a.created_at < w.until_at)
   order by d.day limit 1;
  if business_date is not null and not largesse.night_is_held_up(business_date, i_zone, i_at, v_now) then outcome := 'due'; end if;
  return next;
end $$;

-- Whether queued requests of a night wait to be judged: they become claims of that night. Where an activity is paused they may wait for long, and do not count.
-- Parameters: i_date, i_zone, i_at, i_now. Result: the answer. Locks, errors: none.
create or replace function largesse.night_is_held_up(i_date date, i_zone text, i_at time, i_now timestamptz) returns boolean
language sql stable
as $$
  select i_now < largesse.night_due_at(i_date, i_zone, i_at) + interval '1 hour'
     and exists (select from largesse.claim_queue q join largesse.activity a on a.id = q.activity_id and a.status in ('published', 'ongoing', 'finished')
                  where q.verdict is null and q.queued_at < (select w.until_at from largesse.night_window(i_date, i_zone) w))
$$;

-- Takes a night: a new one, one that was left, or (i_again) one that is done, whose figures are then made once more and compared.
-- Parameters: i_date (null: what is due; then i_at and i_catch_up say what that is), i_zone, i_holder (a process), i_lease.
-- Result: one row: outcome ('taken', 'none': nothing is due, 'busy': somebody is making it, 'done', 'not_over', 'zone_unknown'), the date, the token, and whether
-- it goes on with what was begun. Locks: the night. Errors: none.
create or replace function largesse.night_take(
  i_date date, i_zone text, i_at time, i_catch_up int, i_holder text, i_lease interval, i_again boolean)
returns table (outcome text, business_date date, token bigint, is_resumed boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now   timestamptz := largesse.clock_now();
  v_date  date := i_date;
  v_night largesse.night;
  v_is_away boolean;
begin
  is_resumed := false;
  if v_date is null then
    select d.outcome, d.business_date into outcome, v_date from largesse.night_due(i_zone, i_at, i_catch_up) d;
    if outcome <> 'due' then return next; return; end if;
  elsif not largesse.time_zone_is_known(i_zone) then
    outcome := 'zone_unknown'; return next; return;
  end if;
  business_date := v_date;
  insert into largesse.night as n (business_date, time_zone, from_at, until_at, state, holder, token, lease_until, started_at)
    select v_date, w.time_zone, w.from_at, w.until_at, 'running', i_holder, 1, v_now + i_lease, v_now
      from largesse.night_window(v_date, i_zone) w where w.until_at + largesse.night_grace() <= v_now
    on conflict on constraint night_pkey do nothing returning n.* into v_night;
  if v_night.token is not null then
    outcome := 'taken'; token := v_night.token; return next; return;
  end if;
  select n.* into v_night from largesse.night n where n.business_date = v_date for update;
  if not found then outcome := 'not_over';
  elsif v_night.state = 'done' and not i_again then outcome := 'done';
  elsif v_night.state = 'running' and v_night.lease_until > v_now and v_night.holder is distinct from i_holder then outcome := 'busy';
  else
    -- What is away can be counted no more: it keeps its figures.
    v_is_away := exists (select from largesse.night_activity a where a.business_date = v_date and largesse.archive_is_away(a.activity_id));
    if v_night.state = 'done' then delete from largesse.night_activity a where a.business_date = v_date and not largesse.archive_is_away(a.activity_id); end if;
    update largesse.night n
       set state = 'running', holder = i_holder, token = n.token + 1, lease_until = v_now + i_lease,
           whole = case when v_night.state = 'running' or v_is_away then n.whole end
     where n.business_date = v_date
      returning n.token into token;
    outcome := 'taken';
    is_resumed := v_night.state = 'running';
  end if;
  return next;
end $$;

-- Keeps a night for longer; an i_lease of 0 leaves it to whoever comes. Parameters: i_date, i_token, i_lease. Result: false: it was lost. Locks: the night. Errors: none.
create or replace function largesse.night_extend(i_date date, i_token bigint, i_lease interval) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  update largesse.night n set lease_until = largesse.clock_now() + i_lease where n.business_date = i_date and n.token = i_token and n.state = 'running';
  return found;
end $$;

-- Which figures the reports of this version have. Parameters: none. Result: a number that grows. Locks, errors: none.
create or replace function largesse.night_shape() returns int
language sql immutable parallel safe
as $$ select 2 $$;

-- Ends a night: puts its report together and tells the business, once. Made once more it keeps the report of the first time, and says whether the figures are still the same.
-- Parameters: i_date, i_token, i_run_id: the audit. Result: one row as night_show, or none: it was lost. Locks: the night. Errors: none.
create or replace function largesse.night_finish(i_date date, i_token bigint, i_run_id bigint)
returns table (doc text, findings bigint, failed bigint, is_unchanged boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now    timestamptz := largesse.clock_now();
  v_night  largesse.night;
  v_report text;
  v_run    largesse.audit_run;
  v_failed bigint;
begin
  select n.* into v_night from largesse.night n where n.business_date = i_date and n.token = i_token and n.state = 'running' for update;
  if not found then return; end if;
  v_report := largesse.night_report(i_date);
  -- A report of a version that made fewer figures keeps them; those that it has must be the same.
  is_unchanged := v_night.report is null or v_night.report = v_report or v_night.shape < largesse.night_shape() and v_report::jsonb @> v_night.report::jsonb;
  select r.* into strict v_run from largesse.audit_run r where r.id = i_run_id;
  -- A provider whose statements could not be matched is as an audit that could not be run.
  v_failed := v_run.failed + (select count(*) from largesse.statements_unmatched());
  v_report := coalesce(v_night.report, v_report);
  update largesse.night n
     set state = 'done', holder = null, lease_until = null, run_id = i_run_id, finished_at = v_now, report = v_report,
         clean = v_run.findings = 0 and v_failed = 0 and is_unchanged, findings = v_run.findings, failed = v_failed,
         shape = case when v_night.report is null then largesse.night_shape() else v_night.shape end,
         claims = (v_report::json #>> '{totals,claims,count}')::bigint, quantity = (v_report::json #>> '{totals,claims,quantity}')::bigint,
         moment = largesse.night_moment(i_date, i_run_id, v_now, is_unchanged)
   where n.business_date = i_date;
  if v_night.report is null then
    perform largesse.event_emit('report.finished', v_now, array['report.' || i_date], array[i_date::text], array[''], array[largesse.night_head(n)::text])
      from largesse.night n where n.business_date = i_date;
  end if;
  findings := v_run.findings;
  failed := v_failed;
  select s.doc into doc from largesse.night_show(i_date) s;
  return next;
end $$;

-- The outside of a report. Parameters: i_night. Result: JSON, members that are not known left out. Locks, errors: none.
create or replace function largesse.night_head(i_night largesse.night) returns json
language sql stable
as $$
  select json_strip_nulls(json_build_object(
           'date', i_night.business_date, 'timeZone', i_night.time_zone, 'from', largesse.time_text(i_night.from_at), 'until', largesse.time_text(i_night.until_at),
           'state', i_night.state, 'startedAt', largesse.time_text(i_night.started_at), 'finishedAt', largesse.time_text(i_night.finished_at),
           'clean', i_night.clean, 'findings', i_night.findings, 'failed', i_night.failed, 'claims', i_night.claims, 'quantity', i_night.quantity))
$$;

-- The reports, newest first. Parameters: i_after: the last date seen (null to begin), i_limit. Result: the date and JSON text. Locks, errors: none.
create or replace function largesse.night_list(i_after date, i_limit int)
returns table (place text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select n.business_date::text, largesse.night_head(n)::text
    from largesse.night n where i_after is null or n.business_date < i_after order by n.business_date desc limit i_limit
$$;

-- One report. Parameters: i_date. Result: one row of JSON text, or none; a report under way has neither report nor moment. Locks, errors: none.
create or replace function largesse.night_show(i_date date)
returns table (doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select left(h.head, -1) || coalesce(',"report":' || n.report, '') || coalesce(',"moment":' || n.moment, '') || '}'
    from largesse.night n cross join lateral (select largesse.night_head(n)::text as head) h where n.business_date = i_date
$$;
