-- SPDX-License-Identifier: Apache-2.0
-- The parts of a review put together. Locks, errors: none.

-- Durations that were counted. Parameters: i_ms and i_counts in parallel; a duration may be there more than once. Result: JSON; null: none.
create or replace function largesse.review_delays(i_ms bigint[], i_counts bigint[]) returns json
language sql immutable
as $$
  select json_build_object('count', max(d.total), 'p50Ms', min(d.ms) filter (where d.upto >= d.total * 0.5), 'p90Ms', min(d.ms) filter (where d.upto >= d.total * 0.9),
                           'p99Ms', min(d.ms) filter (where d.upto >= d.total * 0.99), 'maxMs', max(d.ms))
    from (select h.ms, sum(h.n) over (order by h.ms) as upto, sum(h.n) over () as total
            from (select u.ms, sum(u.n) as n from unnest(i_ms, i_counts) as u(ms, n) group by u.ms) h) d
  having count(*) > 0
$$;

-- What a review is of. Parameters: i_what, i_code. Result: JSON.
create or replace function largesse.review_subject(i_what text, i_code text) returns json
language sql stable
as $$
  select json_strip_nulls(case i_what
    when 'event' then (select json_build_object('code', e.code, 'name', e.name, 'timeZone', e.time_zone) from largesse.event e where e.code = i_code)
    else (select json_build_object('code', a.code, 'name', a.name, 'kind', a.kind, 'status', a.status, 'startAt', largesse.time_text(a.start_at),
                                   'endAt', largesse.time_text(a.end_at), 'timeZone', a.time_zone, 'eventCode', a.event_code) from largesse.activity a where a.code = i_code) end)
$$;

-- Parameters: i_what, i_code; the buckets as review_begin gave them; i_parts: JSON texts of review_part, of all activities. Result: one row of JSON text.
create or replace function largesse.review_end(i_what text, i_code text, i_from timestamptz, i_width int, i_buckets int, i_parts text[])
returns table (doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB'
as $$
begin
  return query
  with part as materialized (
    select (p.doc::jsonb ->> 'a')::bigint as activity_id, p.doc::jsonb as j from unnest(i_parts) p(doc)
  ), claims as materialized (
    select p.activity_id, (g ->> 0)::int as made, (g ->> 1)::int as done, (g ->> 2)::int as taken, (g ->> 3)::int as expired, (g ->> 4)::int as retaken, (g ->> 5)::int as ended,
           g ->> 6 as status, g ->> 7 as failure_code, (g ->> 8)::int as reward_id, (g ->> 9)::int as payment_id, (g ->> 10)::boolean as is_paid,
           (g ->> 11)::boolean as is_refunded, (g ->> 12)::boolean as is_reversed, (g ->> 13)::boolean as is_under_review, (g ->> 14)::bigint as n, (g ->> 15)::bigint as quantity
      from part p cross join lateral jsonb_array_elements(p.j -> 'groups') g
  ), calls as materialized (
    select g ->> 0 as provider, g ->> 1 as step, g ->> 2 as outcome, (g ->> 3)::bigint as ms, (g ->> 4)::boolean as is_again, (g ->> 5)::bigint as n
      from part p cross join lateral jsonb_array_elements(p.j -> 'calls') g
  ), refused as materialized (
    select p.activity_id, (g ->> 0)::int as bucket, g ->> 1 as code, (g ->> 2)::bigint as n from part p cross join lateral jsonb_array_elements(p.j -> 'refusals') g
  ), stocks as materialized (
    select p.activity_id, (p.j ->> 'total')::bigint as total, (p.j ->> 'adjustments')::bigint as adjustments, (p.j ->> 'held')::bigint as held,
           (p.j ->> 'remaining')::bigint as remaining
      from part p where p.j ? 'groups'
  ), moves as (
    select m.bucket, sum(m.units) as units
      from (select c.taken as bucket, -c.quantity as units from claims c where c.taken is not null
            union all select c.expired, c.quantity from claims c where c.taken is not null and c.expired is not null
            union all select c.retaken, -c.quantity from claims c where c.taken is not null and c.retaken is not null
            union all select c.ended, c.quantity from claims c where c.taken is not null and c.ended is not null and (c.expired is null or c.retaken is not null)
            union all select (g ->> 0)::int, (g ->> 1)::bigint from part p cross join lateral jsonb_array_elements(p.j -> 'adjusted') g) m
     group by m.bucket
  ), series as materialized (
    select b.bucket, coalesce(made.n, 0) as claims, coalesce(made.quantity, 0) as quantity, coalesce(done.n, 0) as succeeded, coalesce(ended.n, 0) as ended,
           made.outcomes, coalesce(r.n, 0) as refused, r.codes,
           case when (select count(*) > 0 and count(*) = count(s.total) from stocks s)
             then (select sum(s.total) from stocks s) + coalesce(sum(m.units) over (order by b.bucket), 0) end as remaining
      from generate_series(0, i_buckets) b(bucket)
      left join (select o.made, sum(o.n) as n, sum(o.quantity) as quantity, json_object_agg(o.status, o.n order by o.status) as outcomes
                   from (select c.made, c.status, sum(c.n)::bigint as n, sum(c.quantity)::bigint as quantity from claims c group by 1, 2) o group by 1) made on made.made = b.bucket
      left join (select c.done, sum(c.n) as n from claims c where c.done is not null group by 1) done on done.done = b.bucket
      left join (select e.at, sum(e.n) as n
                   from (select c.ended as at, c.n from claims c where c.ended is not null
                         union all select c.expired, c.n from claims c where c.expired is not null and c.status = 'expired') e group by 1) ended on ended.at = b.bucket
      left join (select f.bucket, sum(f.n) as n, json_object_agg(f.code, f.n order by f.code) as codes
                   from (select q.bucket, q.code, sum(q.n)::bigint as n from refused q group by 1, 2) f group by 1) r on r.bucket = b.bucket
      left join moves m on m.bucket = b.bucket
  ), money as (
    select m.what, w.provider, w.currency, sum(m.n) as n, sum(m.quantity) as quantity, sum(m.quantity * w.amount) as amount
      from (select 'delivered' as what, c.reward_id as terms, c.n, c.quantity from claims c where c.done is not null
            union all select 'reversed', c.reward_id, c.n, c.quantity from claims c where c.is_reversed
            union all select 'paid', c.payment_id, c.n, c.quantity from claims c where c.is_paid
            union all select 'refunded', c.payment_id, c.n, c.quantity from claims c where c.is_refunded) m
      join largesse.reward w on w.id = m.terms group by 1, 2, 3
  )
  select json_strip_nulls(json_build_object(
    i_what, largesse.review_subject(i_what, i_code), 'at', largesse.time_text(largesse.clock_now()), 'from', largesse.time_text(i_from),
    'until', largesse.time_text(i_from + i_width * i_buckets * interval '1 second'), 'bucketSeconds', i_width,
    'claims', (select json_build_object('count', coalesce(sum(c.n), 0), 'quantity', coalesce(sum(c.quantity), 0), 'underReview', coalesce(sum(c.n) filter (where c.is_under_review), 0),
                                        'byStatus', coalesce((select json_object_agg(t.status, json_build_object('count', t.n, 'quantity', t.quantity) order by t.status)
                                                                from (select c.status, sum(c.n) as n, sum(c.quantity) as quantity from claims c group by 1) t), '{}'::json)) from claims c),
    'refused', coalesce((select sum(r.n) from refused r), 0),
    'refusals', coalesce((select json_object_agg(r.code, r.n order by r.code) from (select r.code, sum(r.n) as n from refused r group by 1) r), '{}'::json),
    'stock', (select largesse.review_stock(sum(s.total)::bigint, sum(s.adjustments)::bigint, sum(s.held)::bigint, sum(s.remaining)::bigint)
                from stocks s having count(*) > 0 and count(*) = count(s.total)),
    'held', (select coalesce(sum(s.held), 0) from stocks s),
    'timeToDelivery', (select largesse.review_delays(array_agg((g ->> 0)::bigint), array_agg((g ->> 1)::bigint)) from part p cross join lateral jsonb_array_elements(p.j -> 'delays') g),
    'providers', coalesce((select json_agg(json_build_object(
                     'provider', q.provider, 'calls', q.n, 'repeated', q.again,
                     'outcomes', (select json_object_agg(o.outcome, o.n order by o.outcome) from (select c.outcome, sum(c.n) as n from calls c where c.provider = q.provider group by 1) o),
                     'steps', (select json_object_agg(o.step, o.n order by o.step) from (select c.step, sum(c.n) as n from calls c where c.provider = q.provider group by 1) o),
                     'latency', q.latency) order by q.provider)
                   from (select c.provider, sum(c.n) as n, coalesce(sum(c.n) filter (where c.is_again), 0) as again, largesse.review_delays(array_agg(c.ms), array_agg(c.n)) as latency
                           from calls c group by 1) q), '[]'::json),
    'money', coalesce((select json_object_agg(w.what, w.items order by w.what)
                         from (select m.what, json_agg(json_strip_nulls(json_build_object('provider', m.provider, 'currency', m.currency, 'count', m.n, 'quantity', m.quantity,
                                                                                          'amount', m.amount)) order by m.provider, m.currency) as items from money m group by 1) w), '{}'::json),
    'limits', coalesce((select json_agg(json_build_object('period', l.period, 'max', l.most, 'users', l.users, 'atLimit', l.at_limit) order by l.period, l.most)
                          from (select g ->> 0 as period, (g ->> 1)::bigint as most, sum((g ->> 2)::bigint) as users, sum((g ->> 3)::bigint) as at_limit
                                  from part p cross join lateral jsonb_array_elements(p.j -> 'limits') g group by 1, 2) l), '[]'::json),
    'causes', json_build_object(
       'failures', coalesce((select json_agg(json_build_object('code', f.code, 'count', f.n) order by f.n desc, f.code)
                               from (select coalesce(c.failure_code, 'NONE') as code, sum(c.n) as n from claims c where c.status in ('failed', 'rolled_back') group by 1
                                      order by 2 desc, 1 limit 20) f), '[]'::json),
       'deadLetters', coalesce((select json_agg(json_build_object('provider', l.provider, 'cause', l.cause, 'fingerprint', l.fingerprint, 'count', l.n, 'open', l.still_open)
                                                order by l.n desc, l.provider, l.fingerprint)
                                  from (select g ->> 0 as provider, g ->> 1 as cause, g ->> 2 as fingerprint, sum((g ->> 3)::bigint) as n, sum((g ->> 4)::bigint) as still_open
                                          from part p cross join lateral jsonb_array_elements(p.j -> 'letters') g group by 1, 2, 3 order by 4 desc, 1, 3 limit 20) l), '[]'::json)),
    'series', (select json_agg(json_build_object('at', largesse.time_text(i_from + s.bucket * i_width * interval '1 second'), 'claims', s.claims, 'quantity', s.quantity,
                                                 'outcomes', s.outcomes, 'succeeded', s.succeeded, 'ended', s.ended, 'refused', s.refused, 'refusals', s.codes,
                                                 'remaining', s.remaining) order by s.bucket) from series s where s.bucket < i_buckets),
    'after', (select json_build_object('claims', s.claims, 'quantity', s.quantity, 'outcomes', s.outcomes, 'succeeded', s.succeeded, 'ended', s.ended, 'refused', s.refused,
                                       'refusals', s.codes, 'remaining', s.remaining) from series s where s.bucket = i_buckets),
    'sessions', case i_what when 'event' then coalesce((
       select json_agg(json_build_object(
                'code', a.code, 'name', a.name, 'kind', a.kind, 'status', a.status, 'startAt', largesse.time_text(a.start_at), 'endAt', largesse.time_text(a.end_at),
                'claims', coalesce(c.n, 0), 'quantity', coalesce(c.quantity, 0), 'succeeded', coalesce(c.succeeded, 0), 'failed', coalesce(c.failed, 0),
                'refused', coalesce((select sum(r.n) from refused r where r.activity_id = a.id), 0),
                'stock', case when s.total is not null then largesse.review_stock(s.total, s.adjustments, s.held, s.remaining) end) order by a.start_at, a.code)
         from stocks s join largesse.activity a on a.id = s.activity_id
         left join (select c.activity_id, sum(c.n) as n, sum(c.quantity) as quantity, sum(c.n) filter (where c.status = 'succeeded') as succeeded,
                           sum(c.n) filter (where c.status = 'failed') as failed from claims c group by 1) c on c.activity_id = s.activity_id), '[]'::json) end))::text;
end $$;

-- The audit's equation: held + remaining = total + adjustments. Parameters: its terms. Result: JSON; difference: what the left side has more.
create or replace function largesse.review_stock(i_total bigint, i_adjustments bigint, i_held bigint, i_remaining bigint) returns json
language sql immutable
as $$
  select json_build_object('total', i_total, 'adjustments', i_adjustments, 'held', i_held, 'remaining', coalesce(i_remaining, 0),
                           'difference', i_held + coalesce(i_remaining, 0) - i_total - i_adjustments)
$$;
