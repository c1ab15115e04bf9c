-- SPDX-License-Identifier: Apache-2.0
-- What a scheduler keeps in memory of each activity that is not a draft and not archived.
-- Parameters: i_changed_since ('-infinity': everything). Result: a row per activity changed since; waiting: how many wait in its list; has_rules: more than
-- its window, stock and limits decides about a claim, or more than delivery follows. Locks: none. Errors: none.
create or replace function largesse.activity_cache(i_changed_since timestamptz)
returns table (id bigint, code text, kind text, status text, start_at timestamptz, end_at timestamptz, reward_code text, provider text,
               remaining bigint, changed_at timestamptz, payment_provider text, intake text, rate_limit jsonb, segments smallint, waiting bigint,
               waiting_max int, has_rules boolean)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.id, a.code, a.kind, a.status, a.start_at, a.end_at, r.code, r.provider,
         s.remaining, a.changed_at, p.provider, a.intake, a.rate_limit, a.segments, s.waiting, a.waiting_max, largesse.activity_has_rules(a)
    from largesse.activity a left join largesse.reward r on r.id = a.reward_id left join largesse.reward p on p.id = a.payment_id
    cross join lateral (select sum(s.remaining)::bigint as remaining, sum(s.waiting)::bigint as waiting from largesse.stock s where s.activity_id = a.id) s
   where a.changed_at >= i_changed_since and (a.status not in ('draft', 'archived') or i_changed_since > '-infinity')
$$;

-- Whether a claim of an activity is more than window, stock, limits and a delivery. Users who are blocked are no rule of the activity: they come and go.
-- Parameters: i_activity. Result: true or false. Locks: none. Errors: none.
create or replace function largesse.activity_has_rules(i_activity largesse.activity) returns boolean
language sql stable
as $$
  select i_activity.kind <> 'reward' or i_activity.reward_id is null or i_activity.channels is not null or i_activity.eligibility is not null
      or i_activity.needs_qualification or i_activity.exclusive_group is not null or i_activity.waiting_max is not null
      or exists (select from largesse.activity_limit l where l.activity_id = i_activity.id and l.period = 'event')
$$;
