-- SPDX-License-Identifier: Apache-2.0
-- An activity as the API shows it: its configuration, as activity_put takes it, status, time and availability. Issued counts issuing and succeeded, held counts held
-- and offered, both by quantity; waiting likewise. Members that belong to another kind are left out.
-- Parameters: i_code. Result: one row: JSON text and version; none if there is no such activity. Locks: none. Errors: none.
create or replace function largesse.activity_json(i_code text)
returns table (doc text, version bigint)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'code', a.code, 'name', a.name, 'kind', a.kind, 'status', a.status,
           'startAt', largesse.time_text(a.start_at), 'endAt', largesse.time_text(a.end_at), 'timeZone', a.time_zone,
           'eventCode', a.event_code, 'venue', a.venue, 'rewardCode', r.code,
           'needsQualification', a.needs_qualification, 'eligibility', a.eligibility, 'channels', a.channels, 'exclusiveGroup', a.exclusive_group,
           'onRefused', a.on_refused, 'rateLimit', a.rate_limit, 'intake', a.intake, 'pointsCost', a.points_cost,
           'price', case when p.id is not null then jsonb_build_object('amount', p.amount, 'currency', p.currency) end, 'paymentProvider', p.provider,
           'holdFor', case a.kind when 'number' then largesse.span_text(a.hold_for) end, 'latePayment', case a.kind when 'number' then a.late_payment end,
           'signUpAgain', case a.kind when 'registration' then a.sign_up_again end,
           'waitingList', case when a.waiting_max is not null then jsonb_build_object('max', a.waiting_max, 'acceptWithin', largesse.span_text(a.accept_within)) end))
         || case when a.attributes <> '{}' then jsonb_build_object('attributes', a.attributes) else '{}' end
         -- null totals mean unlimited, or as many as there are numbers, and must stay visible
         || jsonb_build_object(
           'stock', jsonb_build_object('total', case when not a.stock_follows_numbers then t.total end)
                    || case when a.segments > 1 then jsonb_build_object('segments', a.segments) else '{}' end,
           'limits', coalesce((select jsonb_agg(jsonb_build_object('count', l.max_count, 'period', l.period) order by l.period)
                                 from largesse.activity_limit l where l.activity_id = a.id), '[]'),
           'serverTime', largesse.time_text(largesse.clock_now()),
           'availability', largesse.activity_availability(a.id, t.total)),
         a.version
    from largesse.activity a
    left join largesse.reward r on r.id = a.reward_id
    left join largesse.reward p on p.id = a.payment_id
    cross join lateral (select a.stock_total + coalesce(sum(d.by), 0) as total from largesse.stock_adjustment d where d.activity_id = a.id) t
   where a.code = i_code
$$;

-- Who has how much of an activity, by quantity: what is held has a deadline and is counted by the index of these; all that is taken and not held is issued.
-- Parameters: i_activity_id, i_total (null: unlimited). Result: JSON. Locks, errors: none.
create or replace function largesse.activity_availability(i_activity_id bigint, i_total numeric) returns jsonb
language sql stable
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
  select jsonb_build_object('total', i_total, 'issued', s.taken - held.quantity, 'held', held.quantity, 'remaining', s.remaining,
                            'waiting', case when s.waiting > 0 then (select coalesce(sum(e.quantity), 0) from largesse.waiting_entry e where e.activity_id = i_activity_id) else 0 end)
    from (select sum(s.remaining) as remaining, sum(s.taken) as taken, sum(s.waiting) as waiting from largesse.stock s where s.activity_id = i_activity_id) s
   cross join (select coalesce(sum(c.quantity), 0) as quantity from largesse.claim c where c.activity_id = i_activity_id and c.deadline is not null) held
$$;
