-- SPDX-License-Identifier: Apache-2.0
-- What a claim would be answered, rule by rule, without making it. Everything here is STABLE: the server itself refuses a write or a lock.

-- The limits of an activity against what a user has used in the periods that contain an instant.
-- Parameters: the activity, the request, the instant. Result: a row per limit, nth in the order of judgement; code is null where the quantity fits.
-- Locks, errors: none.
create or replace function largesse.explain_limits(i_activity largesse.activity, i_user_id bigint, i_quantity int, i_at timestamptz)
returns table (nth int, rule text, code text, "limit" bigint, count bigint, resets_at timestamptz)
language sql stable
as $$
  select array_position(array['total', 'day', 'week', 'month', 'event'], l.period), 'limit.' || l.period, case when n.used + i_quantity > l.max_count then 'LIMIT_REACHED' end, l.max_count, n.used,
         largesse.period_reset(l.period, i_at, i_activity.time_zone)
    from largesse.activity_limit l
   cross join lateral (
     select coalesce(case l.period
       when 'event' then (select e.used from largesse.event_usage e where e.event_code = i_activity.event_code and e.user_id = i_user_id)
       else (select u.used from largesse.usage u
              where u.activity_id = i_activity.id and u.user_id = i_user_id and u.period = l.period
                and u.period_start = largesse.period_start(l.period, i_at, i_activity.time_zone)) end, 0) as used) n
   where l.activity_id = i_activity.id
$$;

-- The stock of an activity, all segments together. Parameters: i_activity_id. Result: one row; remaining is null where it is unlimited. Locks, errors: none.
create or replace function largesse.explain_stock(i_activity_id bigint) returns table (remaining bigint, taken bigint, waiting bigint)
language sql stable
as $$
  select sum(s.remaining)::bigint, coalesce(sum(s.taken), 0)::bigint, coalesce(sum(s.waiting), 0)::bigint from largesse.stock s where s.activity_id = i_activity_id
$$;

-- How a claim for some units would begin. Parameters: the activity; its stock; the quantity. Result: the claim's first status; null: there is nothing left for it.
-- Locks, errors: none.
create or replace function largesse.explain_start(i_activity largesse.activity, i_remaining bigint, i_taken bigint, i_waiting bigint, i_quantity int) returns text
language sql immutable
as $$
  select case
    when i_waiting = 0 and (i_remaining is null or i_remaining >= i_quantity) then
      case when i_activity.payment_id is not null then 'held' when i_activity.reward_id is not null then 'issuing' else 'succeeded' end
    -- More places than there are would be waited for in vain.
    when i_waiting < i_activity.waiting_max and (i_remaining is null or i_quantity <= i_remaining + i_taken) then 'waiting' end
$$;

-- The claim for which a user of a registration is told that he is registered already: he waits, or has as much as he may, or gave up his place where that is for good.
-- Parameters: the activity, the user, whether a limit of it refuses. Result: the claim; no row without one. Locks, errors: none.
create or replace function largesse.explain_registered(i_activity largesse.activity, i_user_id bigint, i_is_over boolean) returns setof largesse.claim
language sql stable
as $$
  select c.* from largesse.claim c
   where i_activity.kind = 'registration' and c.activity_id = i_activity.id and c.user_id = i_user_id
     and (c.status = 'waiting' or c.status in ('offered', 'held', 'issuing', 'succeeded') and i_is_over or c.status = 'cancelled' and not i_activity.sign_up_again)
   order by c.status = 'cancelled', c.id desc limit 1
$$;

-- Every rule about who may claim, in the order in which claim_submit judges them.
-- Parameters: the activity, the request (numbers: null or those asked for), the instant. Result: a row per rule that the activity has; code is null where it is
-- kept; more = further members that explain it, never null. Locks, errors: none.
create or replace function largesse.explain_rules(
  i_activity largesse.activity, i_user_id bigint, i_quantity int, i_channel text, i_numbers bigint[], i_at timestamptz)
returns table (n int, rule text, code text, "limit" bigint, count bigint, resets_at timestamptz, more jsonb)
language sql stable
as $$
  select 1, 'status', case i_activity.status when 'paused' then 'PAUSED' when 'draft' then 'ACTIVITY_NOT_FOUND' end, null::bigint, null::bigint, null::timestamptz,
         jsonb_build_object('status', i_activity.status)
  union all
  select 2, 'window', case when i_activity.status in ('finished', 'archived') or i_at >= i_activity.end_at then 'ENDED'
                           when i_at < i_activity.start_at then 'NOT_STARTED' end, null, null, null,
         jsonb_build_object('startAt', largesse.time_text(i_activity.start_at), 'endAt', largesse.time_text(i_activity.end_at))
  union all
  select 3, 'registration', case when c.id is not null then 'ALREADY_REGISTERED' end, null, null, null,
         case when c.id is not null then jsonb_build_object('claim', largesse.claim_json(c, i_activity.code)::jsonb) else '{}' end
    from (select exists (
            select from largesse.explain_limits(i_activity, i_user_id, i_quantity, i_at) l where l.code is not null) as is_over) o
    left join lateral largesse.explain_registered(i_activity, i_user_id, o.is_over) c on true
   where i_activity.kind = 'registration'
  union all
  select 3 + l.nth, l.rule, l.code, l."limit", l.count, l.resets_at, '{}' from largesse.explain_limits(i_activity, i_user_id, i_quantity, i_at) l
  union all
  select 9, 'blocked', case when exists (select from largesse.blocked_user b where b.activity_id = i_activity.id and b.user_id = i_user_id) then 'BLOCKED' end,
         null, null, null, '{}'
  union all
  select 10, 'channel', case when i_channel = any (i_activity.channels) then null else 'CHANNEL_NOT_ALLOWED' end, null, null, null,
         jsonb_build_object('channels', i_activity.channels)
   where i_activity.channels is not null
  union all
  select 11, 'qualification', case when q.activity_id is null then 'NOT_QUALIFIED' when q.claim_id is not null then 'QUALIFICATION_USED' end, null, null, null, '{}'
    from (values (1)) one left join largesse.qualification q on q.activity_id = i_activity.id and q.user_id = i_user_id
   where i_activity.needs_qualification
  union all
  select 12, 'eligibility',
         case when largesse.claim_is_eligible(i_activity.eligibility::jsonpath, i_user_id, i_channel, i_quantity) then null else 'NOT_ELIGIBLE' end, null, null, null, jsonb_build_object('eligibility', i_activity.eligibility)
   where i_activity.eligibility is not null
  union all
  select 13, 'exclusiveGroup', case when g.live > 0 and g.activity_id <> i_activity.id then 'EXCLUSIVE_GROUP' end, null, null, null,
         jsonb_build_object('exclusiveGroup', i_activity.exclusive_group)
    from (values (1)) one left join largesse.group_member g on g.group_name = i_activity.exclusive_group and g.user_id = i_user_id
   where i_activity.exclusive_group is not null
  union all
  select 14, 'points', case when coalesce(p.balance, 0) < i_activity.points_cost::numeric * i_quantity then 'INSUFFICIENT_POINTS' end, null, null, null,
         jsonb_build_object('balance', coalesce(p.balance, 0), 'needed', i_activity.points_cost::numeric * i_quantity)
    from (values (1)) one left join largesse.points_account p on p.user_id = i_user_id
   where i_activity.points_cost is not null
  union all
  select 15, 'numbers', case when t.taken is not null then 'NUMBER_TAKEN' end, null, null, null,
         jsonb_strip_nulls(jsonb_build_object('numbers', to_jsonb(t.taken)))
    from (select array_agg(w.number order by w.number) as taken
            from unnest(i_numbers) w(number)
           where not exists (select from largesse.activity_number a
                              where a.activity_id = i_activity.id and a.number = w.number and a.status = 'available')) t
   where i_activity.kind = 'number'
  union all
  select 16, 'stock', case when largesse.explain_start(i_activity, s.remaining, s.taken, s.waiting, i_quantity) is null then 'SOLD_OUT' end, null, null, null,
         jsonb_strip_nulls(jsonb_build_object('remaining', s.remaining, 'wanted', i_quantity,
                                              'waiting', case when i_activity.waiting_max is not null then s.waiting end, 'waitingMax', i_activity.waiting_max))
    from largesse.explain_stock(i_activity.id) s
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
-- Result: verdict as claim_submit's (ACCEPTED, REPLAYED, BIZ_ID_REUSED or a refusal's code; QUEUED or the verdict that is kept for a click that was queued), detail =
-- {allowed, code?, status?, replayed?, claim?, request?, at, checks} as JSON
-- text; null with INVALID_REQUEST, numbers where the kind has none or none where it needs them. Errors: none.
create or replace function largesse.claim_explain(
  i_code text, i_user_id bigint, i_biz_id text, i_quantity int, i_channel text, i_numbers bigint[], i_at timestamptz)
returns table (verdict text, detail text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_at       timestamptz := coalesce(i_at, largesse.clock_now());
  v_activity largesse.activity;
  v_known    largesse.claim;
  v_queued   largesse.claim_queue;
  v_checks   jsonb;
  v_more     jsonb := '{}';
begin
  select * into v_activity from largesse.activity a where a.code = i_code;
  if not found then
    v_checks := jsonb_build_array(largesse.explain_check('activity', 'ACTIVITY_NOT_FOUND', null, null, null, '{}'));
    return query select 'ACTIVITY_NOT_FOUND', largesse.explain_doc('ACTIVITY_NOT_FOUND', v_at, v_checks, '{}');
    return;
  end if;
  if (v_activity.kind = 'number') <> (i_numbers is not null) and v_activity.status <> 'draft' then
    verdict := 'INVALID_REQUEST';
    return next;
    return;
  end if;
  select * into v_known from largesse.claim c where c.activity_id = v_activity.id and c.biz_id = i_biz_id;
  verdict := case when not found then null
                  when largesse.request_is_same(v_known.user_id, v_known.quantity, v_known.channel, v_known.numbers, i_user_id, i_quantity, i_channel, i_numbers) then 'REPLAYED'
                  else 'BIZ_ID_REUSED' end;
  if verdict is null and v_activity.intake = 'queued' then
    select * into v_queued from largesse.claim_queue q
     where q.activity_id = v_activity.id and q.biz_id = i_biz_id and (q.judged_at is null or q.judged_at > largesse.clock_now() - largesse.claim_queue_keeps());
    if found then
      verdict := case when not largesse.claim_queue_is_same(v_queued, i_user_id, i_quantity, i_channel, i_numbers) then 'BIZ_ID_REUSED'
                      else coalesce(v_queued.verdict, 'QUEUED') end;
      v_more := case verdict when 'BIZ_ID_REUSED' then '{}' else jsonb_build_object('replayed', true, 'request', largesse.claim_queue_json(v_queued, i_code,
        coalesce((select h.judged from largesse.claim_queue_head h where h.activity_id = v_activity.id), 0))::jsonb) end;
    end if;
  end if;
  v_checks := jsonb_build_array(largesse.explain_check('idempotency', case when verdict not in ('REPLAYED', 'QUEUED') then verdict end, null, null, null, '{}'));
  if verdict is not null then
    if verdict = 'REPLAYED' then v_more := jsonb_build_object('replayed', true, 'claim', largesse.claim_json(v_known, i_code)::jsonb); end if;
    detail := largesse.explain_doc(verdict, v_at, v_checks, v_more);
    return next;
    return;
  end if;

  select v_checks || jsonb_agg(largesse.explain_check(r.rule, r.code, r."limit", r.count, r.resets_at, r.more) order by r.n),
         -- The end is judged before a pause, a pause before the start.
         coalesce(largesse.activity_open_state(v_activity.status, v_activity.start_at, v_activity.end_at, v_at),
                  (array_agg(r.code order by r.n) filter (where r.code is not null))[1])
    into v_checks, verdict
    from largesse.explain_rules(v_activity, i_user_id, i_quantity, i_channel, i_numbers, v_at) r;
  if verdict is null then
    verdict := 'ACCEPTED';
    v_more := (select jsonb_build_object('status', largesse.explain_start(v_activity, s.remaining, s.taken, s.waiting, i_quantity)) from largesse.explain_stock(v_activity.id) s);
  end if;
  detail := largesse.explain_doc(verdict, v_at, v_checks, v_more);
  return next;
end $$;

-- The whole answer of a dry run. Parameters: the verdict, the instant, the checks, further members. Result: JSON text. Locks, errors: none.
create or replace function largesse.explain_doc(i_verdict text, i_at timestamptz, i_checks jsonb, i_more jsonb) returns text
language sql stable
as $$
  select (jsonb_build_object('allowed', i_verdict in ('ACCEPTED', 'REPLAYED', 'QUEUED'), 'at', largesse.time_text(i_at))
          || case when i_verdict in ('ACCEPTED', 'REPLAYED', 'QUEUED') then '{}' else jsonb_build_object('code', i_verdict) end
          || i_more || jsonb_build_object('checks', i_checks))::text
$$;
