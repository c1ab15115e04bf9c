-- SPDX-License-Identifier: Apache-2.0
-- A run of the audit from its beginning to its end. What it found is recorded activity by activity, together with how far it came, so a run that
-- was interrupted goes on behind the last activity that was done.

-- The audits that this database declares. Parameters: none. Result: a row per audit, by name. Locks: none. Errors: none.
create or replace function largesse.audit_list()
returns table (name text, severity text, explanation text, cause text, next_step text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select d.name, d.severity, d.explanation, d.cause, d.next_step from largesse.audit_definition d where d.source = 'audit' order by d.name
$$;

-- Begins a run, or goes on with the newest one of the same scope that has no end.
-- Parameters: i_mode: recent (the last 24 hours), date (i_date, a business date), night (the same for its report, a run of its own) or all; i_code: only this
-- activity, or null; i_resume; i_zone: of business dates.
-- Result: one row: the run, the time it covers, the last activity that is done (0: none), whether it goes on with an earlier one, and whether there is
-- an earlier one of this scope, of the last day and without an end, and no later one that came to its end. Locks: the run that goes on. Errors: P0002 for
-- an unknown activity, a date that has not begun, and what is archived and detached.
create or replace function largesse.audit_begin(i_mode text, i_date date, i_code text, i_resume boolean, i_zone text default 'UTC')
returns table (run_id bigint, from_at timestamptz, until_at timestamptz, reached bigint, is_resumed boolean, has_unfinished boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now      timestamptz := largesse.clock_now();
  v_scope    text := i_mode || coalesce(' ' || i_date, '') || coalesce(' activity ' || i_code, '');
  v_activity bigint;
  v_away     bigint;
  v_old      largesse.audit_run;
  v_from     timestamptz;
  v_until    timestamptz;
begin
  if i_code is not null then
    select a.id into v_activity from largesse.activity a where a.code = i_code;
    if not found then raise exception 'there is no activity %', i_code using errcode = 'no_data_found'; end if;
    if largesse.archive_is_away(v_activity) then raise exception '%: %', i_code, largesse.archive_note(v_activity) using errcode = 'no_data_found'; end if;
  end if;
  select r.* into v_old from largesse.audit_run r
   where r.scope = v_scope and r.finished_at is null and r.started_at > v_now - interval '1 day'
     and not exists (select from largesse.audit_run later where later.scope = v_scope and later.id > r.id and later.finished_at is not null)
   order by r.id desc limit 1 for update;
  has_unfinished := v_old.id is not null;
  is_resumed := i_resume and has_unfinished;
  if is_resumed then
    run_id := v_old.id; from_at := v_old.from_at; until_at := v_old.until_at; reached := v_old.reached;
    return next;
    return;
  end if;
  if i_mode in ('date', 'night') then select w.from_at, w.until_at into v_from, v_until from largesse.night_window(i_date, i_zone) w; end if;
  if i_mode = 'date' then
    select a.id into v_away from largesse.activity a
     where (i_code is null or a.id = v_activity) and a.start_at < v_until and a.latest_end_at > v_from and largesse.archive_is_away(a.id) order by a.id limit 1;
    if found then raise exception '% had activities of a month that is away: %', i_date, largesse.archive_note(v_away) using errcode = 'no_data_found'; end if;
    if v_from > v_now then raise exception '% has not begun', i_date using errcode = 'no_data_found'; end if;  -- "clean" would say nothing
  end if;
  from_at := case when i_mode = 'recent' then v_now - interval '1 day' when i_mode in ('date', 'night') then v_from
               else coalesce((select min(a.start_at) from largesse.activity a where v_activity is null or a.id = v_activity), v_now) end;
  from_at := least(from_at, v_now);
  until_at := case when i_mode in ('date', 'night') then v_until else v_now end;
  reached := 0;
  insert into largesse.audit_run as r (started_at, scope, mode, activity_id, from_at, until_at)
    values (v_now, v_scope, case i_mode when 'night' then 'date' else i_mode end, v_activity, from_at, until_at) returning r.id into run_id;
  return next;
end $$;

-- The next activities that a run comes to. One that ended long ago is looked through for claims of the time; the pages keep each statement short.
-- Parameters: i_run_id, i_after: the last activity seen (the run's reached to begin), i_limit. Result: a row per activity in the order of ids, also for
-- those out of scope, so that the caller knows where to go on; no row: the end. Locks: none. Errors: none.
create or replace function largesse.audit_activities(i_run_id bigint, i_after bigint, i_limit int)
returns table (activity_id bigint, code text, is_in_scope boolean)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  -- What belongs to no activity is looked at with one of them (redemption_not_matching, points_not_matching_ledger), which may have ended long ago.
  with along as materialized (
    select b.id from largesse.audit_run r
     cross join lateral (select b.id from largesse.activity b where b.start_at <= r.from_at order by b.start_at desc, b.id desc limit 1) b
     where r.id = i_run_id and exists (select from largesse.redemption m where m.redeemed_at >= r.from_at and m.redeemed_at < r.until_at)
    union all
    select b.id from largesse.audit_run r
     cross join lateral (select b.id from largesse.activity b order by b.kind = 'exchange' desc, b.id desc limit 1) b
     where r.id = i_run_id and exists (select from largesse.points_entry p where p.at >= r.from_at and p.at < r.until_at and p.activity_id is null)
  )
  select a.id, a.code,
         not largesse.archive_is_away(a.id)  -- nobody changes them, and they would be missed
         and (r.mode = 'all' or a.id in (select along.id from along) or a.start_at < r.until_at and a.latest_end_at > r.from_at
         or r.mode = 'recent' and exists (select from largesse.finding f where f.activity_id = a.id and f.state <> 'gone')
         or exists (select from largesse.claim c
                     where c.activity_id = a.id and c.updated_at >= r.from_at
                       and (c.created_at >= r.from_at and c.created_at < r.until_at
                            or c.updated_at < r.until_at)))
    from largesse.audit_run r
    cross join lateral (
      select a.* from largesse.activity a
       where a.id > i_after and (r.activity_id is null or a.id = r.activity_id) order by a.id limit i_limit) a
   where r.id = i_run_id
   order by a.id
$$;

-- Records what the audits found in one activity, and that the run has passed it.
-- Parameters: i_run_id, i_activity_id; i_kinds: the audits that ran to their end and saw everything; i_failed: how many did not; the findings as parallel arrays.
-- Result: as finding_record. Locks: the run, then the findings. Errors: 55000 when another process goes on with the same run.
create or replace function largesse.audit_record(
  i_run_id bigint, i_activity_id bigint, i_kinds text[], i_failed bigint,
  i_keys text[], i_key_kinds text[], i_claims bigint[], i_expected text[], i_actual text[])
returns table (key text, kind text, severity text, activity_code text, claim_id bigint, expected text, actual text,
               cause text, next_step text, state text, activity_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
begin
  update largesse.audit_run r set reached = i_activity_id, activities = r.activities + 1, failed = r.failed + i_failed
   where r.id = i_run_id and r.reached < i_activity_id and r.finished_at is null;
  if not found then
    raise exception 'another process goes on with this run' using errcode = 'object_not_in_prerequisite_state';
  end if;
  return query
    select * from largesse.finding_record(array[i_activity_id], i_kinds, i_keys, i_key_kinds,
      array_fill(i_activity_id, array[cardinality(i_keys)]), i_claims, i_expected, i_actual);
end $$;

-- What a run that goes on has recorded before it was interrupted. Parameters: i_run_id. Result: as finding_record. Locks: none. Errors: none.
create or replace function largesse.audit_recorded(i_run_id bigint)
returns table (key text, kind text, severity text, activity_code text, claim_id bigint, expected text, actual text,
               cause text, next_step text, state text, activity_id bigint)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select f.key, f.kind, f.severity, a.code, f.claim_id, f.expected, f.actual, largesse.finding_cause(f.kind, f.key, f.actual, d.cause), d.next_step, f.state, f.activity_id
    from largesse.audit_run r
    join largesse.finding f on f.activity_id <= r.reached and (r.activity_id is null or f.activity_id = r.activity_id)
                           and (f.last_seen_at >= r.started_at and f.state <> 'gone' or f.gone_at >= r.started_at)
    left join largesse.activity a on a.id = largesse.finding_about(f.kind, f.activity_id)
    left join largesse.audit_definition d on d.name = f.kind
   where r.id = i_run_id
$$;

-- Ends a run. Parameters: i_run_id, i_findings: how many there are now. Result: how many activities it audited and how many audits could not be run.
-- Locks: the run. Errors: none.
create or replace function largesse.audit_end(i_run_id bigint, i_findings bigint)
returns table (activities bigint, failed bigint)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  update largesse.audit_run r set finished_at = largesse.clock_now(), findings = i_findings where r.id = i_run_id
  returning r.activities, r.failed
$$;

-- The runs, newest first. Parameters: i_after: the last id seen (null to begin), i_limit. Result: id and JSON text. Locks: none. Errors: none.
create or replace function largesse.audit_runs(i_after bigint, i_limit int)
returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select r.id, json_strip_nulls(json_build_object(
           'id', r.id::text, 'scope', r.scope, 'from', largesse.time_text(r.from_at), 'until', largesse.time_text(r.until_at),
           'startedAt', largesse.time_text(r.started_at), 'finishedAt', largesse.time_text(r.finished_at),
           'activities', r.activities, 'findings', r.findings, 'failed', r.failed,
           'clean', case when r.finished_at is not null then r.findings = 0 and r.failed = 0 end))::text
    from largesse.audit_run r where i_after is null or r.id < i_after order by r.id desc limit i_limit
$$;

-- What the reconciler shows in its metrics. Parameters: none. Result: rows (figure, label, amount): 'finding' per audit, 'dead' per provider,
-- 'operations': those that run; 'success': the instant in microseconds at which the last complete run ended (no row: never); of the latest business date that is reported
-- (no row: none): 'night_until', its end, and 'night_took', both in microseconds, 'night_claims', 'night_findings'. Locks: none. Errors: none.
create or replace function largesse.audit_figures()
returns table (figure text, label text, amount bigint)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select 'finding', d.name, (select count(*) from largesse.finding f where f.kind = d.name and f.state <> 'gone')
    from largesse.audit_definition d
  union all
  select 'dead', coalesce(p.provider, d.provider), coalesce(d.letters, 0)
    from (select distinct r.provider from largesse.reward r) p
    full join (select d.provider, count(*) as letters from largesse.dead_letter d where d.closed_at is null group by d.provider) d
      on d.provider = p.provider
  union all
  select 'unmatched', null, (select count(*) from largesse.statements_unmatched())
  union all
  select 'operations', null, (select count(*) from largesse.operation o where o.state = 'running')
  union all
  select 'success', null, (extract(epoch from r.finished_at) * 1000000)::bigint
    from (select max(r.finished_at) as finished_at from largesse.audit_run r where r.failed = 0) r where r.finished_at is not null
  union all
  select f.figure, null, f.amount
    from (select n.* from largesse.night n where n.state = 'done' order by n.business_date desc limit 1) n
    cross join lateral (values ('night_until', (extract(epoch from n.until_at) * 1000000)::bigint),
                               ('night_took', (extract(epoch from n.finished_at - n.started_at) * 1000000)::bigint),
                               ('night_claims', n.claims), ('night_findings', n.findings)) f(figure, amount)
$$;
