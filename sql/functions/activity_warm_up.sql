-- SPDX-License-Identifier: Apache-2.0
-- What the first second of an activity needs, brought near before it starts.

-- Reads what claims of an activity will read, so that it is in memory, and says what there is. Makes missing partitions.
-- Parameters: i_code. Result: one row: outcome (ok or ACTIVITY_NOT_FOUND), the providers whose lanes it needs (null: none), the report as JSON text: capacity, loaded, warnings.
-- Locks: as partitions_ensure. Errors: none.
create or replace function largesse.activity_warm_up(i_code text)
returns table (outcome text, provider text, payment_provider text, report text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_activity largesse.activity;
  v_stock    record;
  v_read     jsonb;
  v_numbers  jsonb;
begin
  select * into v_activity from largesse.activity a where a.code = i_code;
  if not found then
    return query select 'ACTIVITY_NOT_FOUND', null::text, null::text, null::text;
    return;
  end if;
  perform largesse.partitions_ensure((v_activity.id / 1000000)::int);
  select sum(s.remaining)::bigint as remaining, count(*) as segments, sum(s.waiting) as waiting into v_stock from largesse.stock s where s.activity_id = v_activity.id;
  -- Reading is the purpose, counting a by-product; what grows without end is read only so far.
  v_read := jsonb_build_object(
    'usage', (select count(*) from (select u.used from largesse.usage u where u.activity_id = v_activity.id limit 200000) u),
    'claims', (select count(*) from (select c.biz_id from largesse.claim c where c.activity_id = v_activity.id order by c.biz_id limit 200000) c),
    'qualifications', (select count(q.claim_id) + count(*) filter (where q.claim_id is null) from largesse.qualification q where q.activity_id = v_activity.id),
    'blockedUsers', (select count(b.reason) + count(*) filter (where b.reason is null) from largesse.blocked_user b where b.activity_id = v_activity.id),
    'queued', (select count(*) from largesse.claim_queue q where q.activity_id = v_activity.id and q.verdict is null));
  v_numbers := (select jsonb_build_object('total', count(*), 'available', count(*) filter (where n.status = 'available'))
                  from largesse.activity_number n where n.activity_id = v_activity.id);
  return query
    select 'ok', (select r.provider from largesse.reward r where r.id = v_activity.reward_id), (select r.provider from largesse.reward r where r.id = v_activity.payment_id),
           json_build_object(
             'activityCode', v_activity.code, 'status', v_activity.status, 'startAt', largesse.time_text(v_activity.start_at),
             'capacity', jsonb_strip_nulls(jsonb_build_object(
               'stock', jsonb_build_object('total', v_activity.stock_total, 'remaining', v_stock.remaining, 'segments', v_stock.segments),
               'qualifications', case when v_activity.needs_qualification then v_read -> 'qualifications' end,
               'numbers', case when v_activity.kind = 'number' then v_numbers end,
               'waiting', case when v_activity.waiting_max is not null then jsonb_build_object('max', v_activity.waiting_max, 'now', v_stock.waiting) end)),
             'loaded', jsonb_build_object('rows', v_read, 'partitions', (select jsonb_agg(c.partition::text) from largesse.claim_partitions(array[v_activity.id]) c)),
             'warnings', (select coalesce(json_agg(json_build_object('code', w.code, 'detail', w.detail)), '[]')
                            from largesse.activity_warnings(v_activity, v_stock.remaining, (v_read ->> 'qualifications')::bigint, (v_numbers ->> 'available')::bigint) w))::text;
end $$;

-- What an operator should see before an activity opens. Parameters: the activity, and what was counted. Result: a row per warning. Locks, errors: none.
create or replace function largesse.activity_warnings(i_activity largesse.activity, i_remaining bigint, i_qualifications bigint, i_available bigint)
returns table (code text, detail text)
language sql stable
as $$
  select w.code, w.detail from (
    select 1, 'NOT_PUBLISHED', 'it is a draft: it does not open by itself' where i_activity.status = 'draft'
    union all select 2, 'PAUSED', 'it is paused: it opens only once it is resumed' where i_activity.status = 'paused'
    union all select 3, 'ENDED', 'it is over' where i_activity.status in ('finished', 'archived')
    union all select 4, 'NO_STOCK', 'nothing is left of its stock' where i_remaining = 0
    union all select 5, 'STOCK_BELOW_SEGMENTS', format('%s units in %s segments', i_remaining, i_activity.segments) where i_remaining between 1 and i_activity.segments - 1
    union all select 6, 'NO_NUMBERS', 'no number is available' where i_activity.kind = 'number' and i_available = 0
    union all select 7, 'NUMBERS_BELOW_STOCK', format('%s numbers are available for a stock of %s', i_available, i_remaining)
      where i_activity.kind = 'number' and i_available > 0 and i_available < i_remaining
    union all select 8, 'NO_QUALIFICATIONS', 'it needs qualifications and none is imported' where i_activity.needs_qualification and i_qualifications = 0
    union all select 9, 'STOCK_BELOW_QUALIFICATIONS', format('%s users are qualified for a stock of %s', i_qualifications, i_remaining)
      where i_activity.needs_qualification and i_qualifications > i_remaining
    union all select 10, 'PROVIDER_UNKNOWN', format('no fulfiller has ever served the provider %s', p.provider)
      from (select distinct r.provider from largesse.reward r where r.id in (i_activity.reward_id, i_activity.payment_id)) p
     where not exists (select from largesse.provider_state s where s.provider = p.provider)
    union all select 11, 'PROVIDER_PAUSED', format('the provider %s is paused', s.provider)
      from largesse.provider_state s where s.provider in (select r.provider from largesse.reward r where r.id in (i_activity.reward_id, i_activity.payment_id))
       and s.paused_until > largesse.clock_now()
    union all select 12, 'PROVIDER_BROKEN', format('the breaker of the provider %s is %s', s.provider, s.breaker)
      from largesse.provider_state s where s.provider in (select r.provider from largesse.reward r where r.id in (i_activity.reward_id, i_activity.payment_id))
       and s.breaker <> 'closed'
    union all select 13, 'NO_FULFILLER', format('no fulfiller that serves the provider %s was seen within the last seconds', s.provider)
      from largesse.provider_state s where s.provider in (select r.provider from largesse.reward r where r.id in (i_activity.reward_id, i_activity.payment_id))
       and not exists (select from largesse.fulfiller_instance i where s.provider = any (i.providers) and i.seen_at > largesse.clock_now() - interval '5 seconds')
  ) w(n, code, detail) order by w.n, w.detail
$$;

-- Published activities that start soon. Parameters: i_before: how soon. Result: a row each: code, start; the soonest first, at most 100. Locks, errors: none.
create or replace function largesse.activity_starting(i_before interval) returns table (code text, start_at timestamptz)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with n as materialized (select largesse.clock_now() as at)
  select a.code, a.start_at from n, largesse.activity a
   where a.status = 'published' and (case a.status when 'published' then a.start_at else a.end_at end) between n.at and n.at + i_before
   order by a.start_at, a.code limit 100
$$;
