-- SPDX-License-Identifier: Apache-2.0
-- What a claim would be answered, rule by rule, without making it. Everything here is STABLE: the server itself refuses a write or a lock.

-- What is judged by the eligibility of an activity: attributes and progress of the user, and the request.
-- Parameters: the request. Result: {user, progress, request}. Locks, errors: none.
create or replace function largesse.explain_facts(i_user_id bigint, i_channel text, i_quantity int) returns jsonb
language sql stable
set search_path = largesse, pg_temp
as $$
  select jsonb_build_object(
    'user', coalesce((select u.attributes from largesse.user_attribute u where u.user_id = i_user_id), '{}'),
    'progress', coalesce((select jsonb_object_agg(p.task, p.value) from largesse.user_progress p where p.user_id = i_user_id), '{}'),
    'request', jsonb_strip_nulls(jsonb_build_object('channel', i_channel, 'quantity', i_quantity)))
$$;

-- The limits of an activity against what a user has used in the periods that contain an instant.
-- Parameters: the activity, the request, the instant. Result: a row per limit in the order of judgement; code is null where the quantity fits.
-- Locks, errors: none.
create or replace function largesse.explain_limits(i_activity largesse.activity, i_user_id bigint, i_quantity int, i_at timestamptz)
returns table (rule text, code text, "limit" bigint, count bigint, resets_at timestamptz)
language sql stable
set search_path = largesse, pg_temp
as $$
  select 'limit.' || l.period, case when n.used + i_quantity > l.max_count then 'LIMIT_REACHED' end, l.max_count, n.used,
         largesse.period_reset(l.period, i_at, i_activity.time_zone)
    from largesse.activity_limit l
   cross join lateral (
     select coalesce(case l.period
       when 'event' then (select e.used from largesse.event_usage e where e.event_code = i_activity.event_code and e.user_id = i_user_id)
       else (select u.used from largesse.usage u
              where u.activity_id = i_activity.id and u.user_id = i_user_id and u.period = l.period
                and u.period_start = largesse.period_start(l.period, i_at, i_activity.time_zone)) end, 0) as used) n
   where l.activity_id = i_activity.id
   order by array_position(array['total', 'day', 'week', 'month', 'event'], l.period)
$$;

-- Every rule about who may claim, in the order in which claim_submit judges them.
-- Parameters: the activity, the request (numbers: null or those asked for), the instant. Result: a row per rule that the activity has; code is null where it is
-- kept; more = further members that explain it, never null. Locks, errors: none.
create or replace function largesse.explain_rules(
  i_activity largesse.activity, i_user_id bigint, i_quantity int, i_channel text, i_numbers bigint[], i_at timestamptz)
returns table (n int, rule text, code text, "limit" bigint, count bigint, resets_at timestamptz, more jsonb)
language sql stable
set search_path = largesse, pg_temp
as $$
  select 1, 'status', case i_activity.status when 'paused' then 'PAUSED' when 'draft' then 'ACTIVITY_NOT_FOUND' end, null::bigint, null::bigint, null::timestamptz,
         jsonb_build_object('status', i_activity.status)
  union all
  select 2, 'window', case when i_activity.status in ('finished', 'archived') or i_at >= i_activity.end_at then 'ENDED'
                           when i_at < i_activity.start_at then 'NOT_STARTED' end, null, null, null,
         jsonb_build_object('startAt', largesse.time_text(i_activity.start_at), 'endAt', largesse.time_text(i_activity.end_at))
  union all
  select 3, l.rule, l.code, l."limit", l.count, l.resets_at, '{}' from largesse.explain_limits(i_activity, i_user_id, i_quantity, i_at) l
  union all
  select 4, 'blocked', case when exists (select from largesse.blocked_user b where b.activity_id = i_activity.id and b.user_id = i_user_id) then 'BLOCKED' end,
         null, null, null, '{}'
  union all
  select 5, 'channel', case when i_channel = any (i_activity.channels) then null else 'CHANNEL_NOT_ALLOWED' end, null, null, null,
         jsonb_build_object('channels', i_activity.channels)
   where i_activity.channels is not null
  union all
  select 6, 'qualification', case when q.activity_id is null then 'NOT_QUALIFIED' when q.claim_id is not null then 'QUALIFICATION_USED' end, null, null, null, '{}'
    from (values (1)) one left join largesse.qualification q on q.activity_id = i_activity.id and q.user_id = i_user_id
   where i_activity.needs_qualification
  union all
  select 7, 'eligibility',
         case when jsonb_path_match(largesse.explain_facts(i_user_id, i_channel, i_quantity), i_activity.eligibility::jsonpath, '{}', true)
              then null else 'NOT_ELIGIBLE' end, null, null, null, jsonb_build_object('eligibility', i_activity.eligibility)
   where i_activity.eligibility is not null
  union all
  select 8, 'exclusiveGroup', case when g.live > 0 and g.activity_id <> i_activity.id then 'EXCLUSIVE_GROUP' end, null, null, null,
         jsonb_build_object('exclusiveGroup', i_activity.exclusive_group)
    from (values (1)) one left join largesse.group_member g on g.group_name = i_activity.exclusive_group and g.user_id = i_user_id
   where i_activity.exclusive_group is not null
  union all
  select 9, 'points', case when coalesce(p.balance, 0) < i_activity.points_cost * i_quantity then 'INSUFFICIENT_POINTS' end, null, null, null,
         jsonb_build_object('balance', coalesce(p.balance, 0), 'needed', i_activity.points_cost * i_quantity)
    from (values (1)) one left join largesse.points_account p on p.user_id = i_user_id
   where i_activity.points_cost is not null
  union all
  select 10, 'stock', case when s.remaining < i_quantity or s.waiting > 0
                           then case when s.waiting < i_activity.waiting_max then null else 'SOLD_OUT' end end, null, null, null,
         jsonb_strip_nulls(jsonb_build_object('remaining', s.remaining, 'wanted', i_quantity,
                                              'waiting', case when i_activity.waiting_max is not null then s.waiting end))
    from (select sum(s.remaining)::bigint as remaining, coalesce(sum(s.waiting), 0)::bigint as waiting
            from largesse.stock s where s.activity_id = i_activity.id) s
  union all
  select 11, 'numbers', case when t.taken is not null then 'NUMBER_TAKEN' end, null, null, null,
         jsonb_strip_nulls(jsonb_build_object('numbers', to_jsonb(t.taken)))
    from (select array_agg(w.number order by w.number) as taken
            from unnest(i_numbers) w(number)
           where not exists (select from largesse.activity_number a
                              where a.activity_id = i_activity.id and a.number = w.number and a.status = 'available')) t
   where i_activity.kind = 'number'
$$;

-- The claim that stands in the way of signing up a second time: one that lives, or one that was cancelled where that is for good.
-- Parameters: the activity, the user. Result: the claim; null without one. Locks, errors: none.
create or replace function largesse.explain_registered(i_activity largesse.activity, i_user_id bigint) returns largesse.claim
language sql stable
set search_path = largesse, pg_temp
as $$
  select c from largesse.claim c
   where c.activity_id = i_activity.id and c.user_id = i_user_id
     and (c.status in ('waiting', 'offered', 'held', 'issuing', 'succeeded') or c.status = 'cancelled' and not i_activity.sign_up_again)
   order by c.status = 'cancelled', c.id desc limit 1
$$;

-- How a claim that is accepted would begin. Parameters: the activity, what is left and waits, the quantity. Result: its status. Locks, errors: none.
create or replace function largesse.explain_status(i_activity largesse.activity, i_remaining bigint, i_waiting bigint, i_quantity int) returns text
language sql immutable
as $$
  select case when i_activity.waiting_max is not null and (i_waiting > 0 or i_remaining < i_quantity) then 'waiting'
              when i_activity.payment_id is not null then 'held'
              when i_activity.reward_id is not null then 'issuing' else 'succeeded' end
$$;

-- Checks as the API shows them, from what explain_rules says. Parameters: one rule. Result: an object. Locks, errors: none.
create or replace function largesse.explain_check(i_rule text, i_code text, i_limit bigint, i_count bigint, i_resets_at timestamptz, i_more jsonb) returns jsonb
language sql stable
as $$
  select jsonb_build_object('rule', i_rule, 'ok', i_code is null)
      || jsonb_strip_nulls(jsonb_build_object('code', i_code, 'limit', i_limit, 'count', i_count, 'resetsAt', largesse.time_text(i_resets_at)))
      || i_more
$$;

-- A dry run: the verdict that claim_submit would give to this request, with every rule that was looked at. Reads only, takes no lock.
-- Parameters: i_code; the request (i_numbers: null without); i_at: the instant by which to judge (null: now). The status of the activity and what is left and used
-- are those of the present, also for another instant.
-- Result: verdict as claim_submit's (ACCEPTED, REPLAYED, BIZ_ID_REUSED or a refusal's code), detail = {allowed, code?, status?, replayed?, claim?, at, checks} as JSON
-- text. Errors: none.
create or replace function largesse.claim_explain(
  i_code text, i_user_id bigint, i_biz_id text, i_quantity int, i_channel text, i_numbers bigint[], i_at timestamptz)
returns table (verdict text, detail text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_at       timestamptz := coalesce(i_at, largesse.clock_now());
  v_activity largesse.activity;
  v_known    largesse.claim;
  v_checks   jsonb;
  v_stock    record;
  v_more     jsonb := '{}';
begin
  select * into v_activity from largesse.activity a where a.code = i_code;
  if not found then
    v_checks := jsonb_build_array(largesse.explain_check('activity', 'ACTIVITY_NOT_FOUND', null, null, null, '{}'));
    return query select 'ACTIVITY_NOT_FOUND', largesse.explain_doc('ACTIVITY_NOT_FOUND', v_at, v_checks, '{}');
    return;
  end if;
  select * into v_known from largesse.claim c where c.activity_id = v_activity.id and c.biz_id = i_biz_id;
  verdict := case when not found then null
                  when (v_known.user_id, v_known.quantity) = (i_user_id, i_quantity) and v_known.channel is not distinct from i_channel
                       and v_known.numbers is not distinct from i_numbers then 'REPLAYED'
                  else 'BIZ_ID_REUSED' end;
  v_checks := jsonb_build_array(largesse.explain_check('idempotency', case verdict when 'BIZ_ID_REUSED' then verdict end, null, null, null, '{}'));
  if verdict is not null then
    if verdict = 'REPLAYED' then v_more := jsonb_build_object('replayed', true, 'claim', largesse.claim_json(v_known, i_code)::jsonb); end if;
    detail := largesse.explain_doc(verdict, v_at, v_checks, v_more);
    return next;
    return;
  end if;

  select v_checks || jsonb_agg(largesse.explain_check(r.rule, r.code, r."limit", r.count, r.resets_at, r.more) order by r.n, r.nth),
         -- The end is judged before a pause, a pause before the start.
         coalesce(largesse.activity_open_state(v_activity.status, v_activity.start_at, v_activity.end_at, v_at),
                  (array_agg(r.code order by r.n, r.nth) filter (where r.code is not null))[1])
    into v_checks, verdict
    from largesse.explain_rules(v_activity, i_user_id, i_quantity, i_channel, i_numbers, v_at)
           with ordinality as r(n, rule, code, "limit", count, resets_at, more, nth);
  select sum(s.remaining)::bigint as remaining, sum(s.waiting) as waiting into v_stock from largesse.stock s where s.activity_id = v_activity.id;
  if verdict is null then
    verdict := 'ACCEPTED';
    v_more := jsonb_build_object('status', largesse.explain_status(v_activity, v_stock.remaining, v_stock.waiting, i_quantity));
  end if;
  detail := largesse.explain_doc(verdict, v_at, v_checks, v_more);
  return next;
end $$;

-- The whole answer of a dry run. Parameters: the verdict, the instant, the checks, further members. Result: JSON text. Locks, errors: none.
create or replace function largesse.explain_doc(i_verdict text, i_at timestamptz, i_checks jsonb, i_more jsonb) returns text
language sql stable
as $$
  select (jsonb_build_object('allowed', i_verdict in ('ACCEPTED', 'REPLAYED'), 'at', largesse.time_text(i_at))
          || case when i_verdict in ('ACCEPTED', 'REPLAYED') then '{}' else jsonb_build_object('code', i_verdict) end
          || i_more || jsonb_build_object('checks', i_checks))::text
$$;
