-- SPDX-License-Identifier: Apache-2.0
-- Repairs of counters: what the claims say, counted again under their locks.

-- Stock of an activity: left = total and adjustments less what claims hold, taken = what claims hold, evenly over its segments, of which each is there once.
-- Parameters: i_activity_id, i_claim_id, i_subject (not used), i_apply. Result: one row: before, after, outcome; not_repairable where claims hold more than there is, or
-- where claims are missing and nobody has said why.
-- Locks: the activity, its stock; then as waiting_promote. Errors: 40P01, 40001 (repeat).
create or replace function largesse.repair_stock(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_total bigint;  -- null: unlimited
  v_held  bigint;
  v_stock record;
  v_segments int;
begin
  perform largesse.repair_lock(i_activity_id, i_apply);
  -- As published: a total that was changed by hand gives nobody more until somebody has decided which is right.
  select b.total, a.segments into v_total, v_segments from largesse.activity a cross join lateral largesse.audit_stock_of(a.id, 0) b where a.id = i_activity_id;
  select sum(s.remaining) as remaining, sum(s.taken) as taken, array_agg(s.segment order by s.segment) as segments into v_stock from largesse.stock s where s.activity_id = i_activity_id;
  select coalesce(sum(c.quantity), 0) into v_held
    from largesse.claim c where c.activity_id = i_activity_id and c.status in (select s.status from largesse.claim_state s where s.holds_stock);
  before := case when v_stock.segments is null then 'no stock row' else format('remaining %s, taken %s', coalesce(v_stock.remaining::text, 'unlimited'), v_stock.taken) end;
  if v_stock.segments <> (select array_agg(n::smallint order by n) from generate_series(0, v_segments - 1) n) then
    before := format('%s, in segments %s of %s', before, array_to_string(v_stock.segments, ' '), v_segments);
  end if;
  after := format('remaining %s, taken %s', coalesce((v_total - v_held)::text, 'unlimited'), v_held);
  outcome := 'repaired';
  if after = before then
    outcome := 'already_right';
  elsif largesse.audit_missing_unexplained(i_activity_id) > 0 then
    -- What it gives back here would be given twice.
    outcome := 'not_repairable'; after := 'claims are missing that were perhaps delivered (claim_missing): see to them first';
  elsif v_total < v_held then
    outcome := 'not_repairable'; after := format('claims hold %s more than there is', v_held - v_total);
  elsif i_apply then
    delete from largesse.stock s where s.activity_id = i_activity_id and s.segment not between 0 and v_segments - 1;
    insert into largesse.stock as s (activity_id, segment, remaining, taken)
      select i_activity_id, n, (v_total - v_held) / v_segments + (n < (v_total - v_held) % v_segments)::int, v_held / v_segments + (n < v_held % v_segments)::int
        from generate_series(0, v_segments - 1) n
      on conflict (activity_id, segment) do update set remaining = excluded.remaining, taken = excluded.taken;
    perform largesse.waiting_promote(i_activity_id, 100);
    update largesse.activity a set changed_at = largesse.clock_now() where a.id = i_activity_id;  -- schedulers that remember "sold out" read it anew
  end if;
  return next;
end $$;

-- The total of an activity is the one that was published; if another was meant, an adjustment says so. Parameters: i_activity_id, i_claim_id, i_subject (not used),
-- i_apply. Result: one row: before, after, outcome; none where it is not known what was published. Locks: the activity, its stock. Errors: 40P01 (repeat).
create or replace function largesse.repair_stock_total(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_stock record;
begin
  perform largesse.repair_lock(i_activity_id, i_apply);
  select * into v_stock from largesse.audit_stock_of(i_activity_id, 0) b where b.published is not null;
  if not found then return; end if;
  before := format('total %s', coalesce(v_stock.stock_total::text, 'unlimited'));
  after := format('total %s', v_stock.published);
  outcome := case when after = before then 'already_right' else 'repaired' end;
  if i_apply and outcome = 'repaired' then
    update largesse.activity a set stock_total = v_stock.published, version = a.version + 1, changed_at = largesse.clock_now() where a.id = i_activity_id;
  end if;
  return next;
end $$;

-- A user's counter of a limit and period. Parameters: i_activity_id, i_claim_id (not used), i_subject ('usage user 7 day 2026-11-29'), i_apply. Result: one row, or none where
-- the subject is not such a text; not_repairable where claims hold more than any limit allowed. Locks: the activity, its stock, the counter. Errors: 40P01 (repeat).
create or replace function largesse.repair_usage(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_asked text[] := regexp_match(i_subject, '^usage user ([0-9]{1,19}) ([a-z]+) (-infinity|[0-9]{4}-[0-9]{2}-[0-9]{2})$');
  v_row   largesse.usage;
  v_right bigint;
  v_limit bigint;
  v_peak  bigint;
  v_max   bigint;  -- the highest limit by which the user may have come to what the claims hold
begin
  if v_asked is null then return; end if;
  perform largesse.repair_lock(i_activity_id, i_apply);
  select coalesce(sum(c.quantity), 0), coalesce(max(l.max_count), 0), coalesce(max(l.peak), 0) into v_right, v_limit, v_peak
    from largesse.activity a
    join largesse.audit_limits(i_activity_id) l on l.period = v_asked[2]
    left join largesse.claim c on c.activity_id = i_activity_id and c.user_id = v_asked[1]::bigint
                              and c.status in (select s.status from largesse.claim_state s where s.holds_allowance)
                              and largesse.period_start(l.period, c.created_at, a.time_zone) = v_asked[3]::date
   where a.id = i_activity_id;
  select u.* into v_row from (select) one
    left join largesse.usage u on u.activity_id = i_activity_id and u.user_id = v_asked[1]::bigint and u.period = v_asked[2] and u.period_start = v_asked[3]::date;
  v_max := greatest(v_limit, least(v_row.max_used, v_peak));
  before := coalesce('used ' || v_row.used, 'no counter') || case when v_row.max_used > v_peak then format(' of at most %s', v_row.max_used) else '' end;
  after := format('used %s', v_right) || case when v_row.max_used > v_peak then format(' of at most %s', v_max) else '' end;
  outcome := case when v_right = coalesce(v_row.used, 0) and not coalesce(v_row.max_used > v_peak, false) then 'already_right'
                  when v_right > v_max then 'not_repairable' else 'repaired' end;
  if outcome = 'not_repairable' then
    -- A counter above the limit would say that the limit had once been higher, and user_over_limit would be silent.
    after := format('claims hold %s more than the limit allows', v_right - v_max);
  elsif i_apply and outcome = 'repaired' then
    -- What is over a limit that was lowered stays so: the next claim is judged by the limit of then.
    insert into largesse.usage as u (activity_id, user_id, period, period_start, used, max_used)
      values (i_activity_id, v_asked[1]::bigint, v_asked[2], v_asked[3]::date, v_right, v_max)
      on conflict (activity_id, user_id, period, period_start) do update set used = excluded.used, max_used = excluded.max_used;
  end if;
  return next;
end $$;

-- A user's counter of an event. Other sessions change it too, always together with their claims: whoever holds the counter sees all claims whose part is in it.
-- Parameters: i_activity_id: any of its sessions, i_claim_id (not used), i_subject ('event usage user 7'), i_apply. Result: as repair_usage. Locks: the activity, its stock,
-- the counter. Errors: 40P01 (repeat).
create or replace function largesse.repair_event_usage(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_user  bigint := substring(i_subject from '^event usage user ([0-9]{1,19})$')::bigint;
  v_event text := (select a.event_code from largesse.activity a where a.id = i_activity_id);
  v_row   largesse.event_usage;
  v_right bigint;
  v_limit record;
  v_max   bigint;
  v_made  boolean := false;  -- the counter, here
begin
  if v_user is null or v_event is null then return; end if;
  perform largesse.repair_lock(i_activity_id, i_apply);
  if i_apply then
    insert into largesse.event_usage (event_code, user_id, used, max_used)
      select v_event, v_user, 0, coalesce(max(l.max_count), 0) from largesse.activity_limit l where l.activity_id = i_activity_id and l.period = 'event'
      on conflict do nothing;
    v_made := found;
    perform 1 from largesse.event_usage u where u.event_code = v_event and u.user_id = v_user for update;
  end if;
  select coalesce(sum(c.quantity), 0) + coalesce((select sum(u.quantity) from largesse.archive_event_usage u where u.event_code = v_event and u.user_id = v_user), 0) into v_right
    from largesse.activity a
    join largesse.activity_limit l on l.activity_id = a.id and l.period = 'event'
    join largesse.claim c on c.activity_id = a.id and c.user_id = v_user
   where a.event_code = v_event and not largesse.archive_is_away(a.id) and c.status in (select s.status from largesse.claim_state s where s.holds_allowance);
  select l.max_count, l.peak into v_limit from largesse.audit_event_limit(v_event) l;
  select u.* into v_row from (select) one left join largesse.event_usage u on u.event_code = v_event and u.user_id = v_user;
  v_max := greatest(v_limit.max_count, least(v_row.max_used, v_limit.peak));
  before := case when v_made then 'no counter' else coalesce('used ' || v_row.used, 'no counter') end || case when v_row.max_used > v_limit.peak then format(' of at most %s', v_row.max_used) else '' end;
  after := format('used %s', v_right) || case when v_row.max_used > v_limit.peak then format(' of at most %s', v_max) else '' end;
  outcome := case when v_right = coalesce(v_row.used, 0) and not coalesce(v_row.max_used > v_limit.peak, false) then 'already_right'
                  when v_right > v_max then 'not_repairable' else 'repaired' end;
  if outcome = 'not_repairable' then
    after := format('claims hold %s more than the limit allows', v_right - v_max);
  elsif i_apply and outcome = 'repaired' then
    update largesse.event_usage u set used = v_right, max_used = v_max where u.event_code = v_event and u.user_id = v_user;
  end if;
  return next;
end $$;
