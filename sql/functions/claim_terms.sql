-- SPDX-License-Identifier: Apache-2.0
-- By what claims of an activity are judged at an instant.
-- Parameters: i_activity_id; i_now; i_sweep_after: how long the first message of a new claim may take. Result: one row; none if there is no such activity.
-- Locks: none. Errors: none.
create or replace function largesse.claim_terms(i_activity_id bigint, i_now timestamptz, i_sweep_after interval) returns setof largesse.claim_terms
language sql stable rows 1
as $$
  select a.id, a.code, a.kind, a.status, a.start_at, a.end_at, a.time_zone, i_now, i_now + i_sweep_after, i_now + a.hold_for, a.reward_id, a.payment_id,
         case when a.payment_id is not null then 'held' when a.reward_id is not null then 'issuing' else 'succeeded' end,
         case when a.payment_id is not null then 'charge' when a.reward_id is not null then 'deliver' end,
         l.periods, l.starts, l.maxima, l.resets, a.event_code, l.event_max,
         a.channels, a.eligibility::jsonpath, a.needs_qualification, b.has_blocked, a.exclusive_group, a.points_cost, a.sign_up_again, a.waiting_max,
         a.segments::int,
         a.kind in ('reward', 'registration') and a.channels is null and a.eligibility is null and not a.needs_qualification and not b.has_blocked
           and a.exclusive_group is null and l.event_max is null
           -- Who gave his place up may have no counter that tells: he waited, or the limits were replaced since.
           and a.sign_up_again
    from largesse.activity a
    cross join lateral (
      select coalesce(array_agg(l.period) filter (where l.period <> 'event'), '{}') as periods,
             coalesce(array_agg(l.max_count) filter (where l.period <> 'event'), '{}') as maxima,
             coalesce(array_agg(largesse.period_start(l.period, i_now, a.time_zone)) filter (where l.period <> 'event'), '{}') as starts,
             coalesce(array_agg(largesse.period_reset(l.period, i_now, a.time_zone)) filter (where l.period <> 'event'), '{}') as resets,
             max(l.max_count) filter (where l.period = 'event') as event_max
        from (select l.period, l.max_count from largesse.activity_limit l where l.activity_id = a.id
               order by array_position(array['total', 'day', 'week', 'month', 'event'], l.period)) l) l
    cross join lateral (select exists (select from largesse.blocked_user b where b.activity_id = a.id) as has_blocked) b
   where a.id = i_activity_id
$$;

-- How the stock of an activity decides about some claims, when it is the same for all of them, which are n in number, i_smallest the smallest of them.
-- Newcomers join the waiting list while anybody waits. Parameters: what is left and how many wait, read under the stock lock.
-- Result: take, wait or sold_out; null: it must be decided one after the other. Locks, errors: none.
create or replace function largesse.claim_stock_decision(
  i_waiting_max int, i_waiting bigint, i_remaining bigint, i_wanted bigint, i_smallest bigint, i_count bigint) returns text
language sql immutable
as $$
  select case
    when coalesce(i_waiting, 0) = 0 and (i_remaining is null or i_remaining >= i_wanted) then 'take'
    when coalesce(i_waiting, 0) > 0 or i_remaining < i_smallest then
      case when i_waiting_max is null or i_waiting >= i_waiting_max then 'sold_out'
           when i_waiting + i_count <= i_waiting_max then 'wait' end
  end
$$;

-- Whether an activity takes a request that was queued at an instant: the window is that instant's, a pause is the present one.
-- Parameters: i_terms; i_queued_at (null: not queued). Result: null when open, else the refusal's code. Locks, errors: none.
create or replace function largesse.claim_open_state(i_terms largesse.claim_terms, i_queued_at timestamptz) returns text
language sql immutable
as $$
  select largesse.activity_open_state(
    case when i_queued_at is not null and i_terms.activity_status = 'finished' then 'ongoing' else i_terms.activity_status end,
    i_terms.start_at, i_terms.end_at, coalesce(i_queued_at, i_terms.now))
$$;

-- Whether a user may claim by the activity's predicate over {user, progress, request}. What cannot be evaluated for him (a member that he lacks, a text where a
-- number is needed) is a no for him alone.
-- Parameters: i_predicate; the user and his request. Result: true or false. Locks, errors: none.
create or replace function largesse.claim_is_eligible(i_predicate jsonpath, i_user_id bigint, i_channel text, i_quantity int) returns boolean
language sql stable
as $$
  -- With time zones: without them a comparison of a date with an instant is an error that "silent" does not cover.
  select coalesce(jsonb_path_match_tz(
    jsonb_build_object(
      'user', coalesce((select u.attributes from largesse.user_attribute u where u.user_id = i_user_id), '{}'),
      'progress', coalesce((select jsonb_object_agg(p.task, p.value) from largesse.user_progress p where p.user_id = i_user_id), '{}'),
      'request', jsonb_strip_nulls(jsonb_build_object('channel', i_channel, 'quantity', i_quantity))),
    i_predicate, '{}', true), false)
$$;

-- The numbers of each request, from pairs (request, number). Parameters: i_count requests; the pairs as parallel arrays. Result: an array with one text per request,
-- such as {3,17} ascending, or null for a request without numbers; null where no request has any. Locks, errors: none.
create or replace function largesse.claim_number_sets(i_count int, i_ords int[], i_numbers bigint[]) returns text[]
language sql immutable
as $$
  select case when coalesce(cardinality(i_ords), 0) > 0 then (
    select array_agg(g.numbers::text order by o.ord)
      from generate_series(1, i_count) o(ord)
      left join (select n.ord, array_agg(n.number order by n.number) as numbers from unnest(i_ords, i_numbers) as n(ord, number) group by n.ord) g on g.ord = o.ord) end
$$;
