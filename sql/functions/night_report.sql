-- SPDX-License-Identifier: Apache-2.0
-- A night's report, put together from the figures of its activities; and what was so at the moment when it was made, which is no part of it.

-- The same kind of figure over all activities. Parameters: i_figures (JSON of activities), i_name. Result: JSON. Locks, errors: none.
create or replace function largesse.night_sum(i_figures jsonb[], i_name text) returns json
language sql immutable
as $$
  select largesse.night_count(coalesce(sum((f -> i_name ->> 'count')::bigint), 0)::bigint, sum((f -> i_name ->> 'quantity')::bigint)) from unnest(i_figures) f
$$;

-- Money over all activities, by what became of it, provider and currency. Parameters: i_figures. Result: JSON; null: none. Locks, errors: none.
create or replace function largesse.night_money(i_figures jsonb[]) returns json
language sql immutable
as $$
  select json_object_agg(w.what, w.items order by w.what)
    from (select s.what, json_agg(json_strip_nulls(json_build_object('provider', s.provider, 'currency', s.currency, 'count', s.n, 'quantity', s.quantity,
                                                                     'amount', s.amount)) order by s.provider, s.currency) as items
            from (select m.key as what, i ->> 'provider' as provider, i ->> 'currency' as currency, sum((i ->> 'count')::bigint) as n,
                         sum((i ->> 'quantity')::numeric) as quantity, sum((i ->> 'amount')::numeric) as amount
                    from unnest(i_figures) f cross join lateral jsonb_each(f -> 'money') m cross join lateral jsonb_array_elements(m.value) i
                   group by 1, 2, 3) s
           group by s.what) w
$$;

-- What remains of money that came and went: paid less refunded, delivered less reversed, by provider and currency. Parameters: i_money: as night_money gives it.
-- Result: JSON; null: none. Locks, errors: none.
create or replace function largesse.night_net(i_money json) returns json
language sql immutable
as $$
  select json_agg(json_build_object('of', s.of, 'provider', s.provider, 'currency', s.currency, 'amount', s.amount) order by s.of, s.provider, s.currency)
    from (select case when m.key in ('paid', 'refunded') then 'payments' else 'deliveries' end as of, i ->> 'provider' as provider, i ->> 'currency' as currency,
                 sum(case when m.key in ('refunded', 'reversed') then -(i ->> 'amount')::numeric else (i ->> 'amount')::numeric end) as amount
            from json_each(i_money) m cross join lateral json_array_elements(m.value) i
           where i ->> 'amount' is not null group by 1, 2, 3) s
$$;

-- Everything of all activities together. Parameters: i_figures. Result: JSON. Locks, errors: none.
create or replace function largesse.night_totals(i_figures jsonb[]) returns json
language sql immutable
as $$
  select json_strip_nulls(json_build_object(
    'activities', coalesce(cardinality(i_figures), 0),
    'claims', largesse.night_sum(i_figures, 'claims'), 'succeeded', largesse.night_sum(i_figures, 'succeeded'),
    'cancelled', largesse.night_sum(i_figures, 'cancelled'), 'expired', largesse.night_sum(i_figures, 'expired'),
    'failed', largesse.night_sum(i_figures, 'failed'), 'rolledBack', largesse.night_sum(i_figures, 'rolledBack'),
    'claimsByHour', (select json_agg(h.n order by h.ord)
                       from (select e.ord, sum(e.value::bigint)::bigint as n
                               from unnest(i_figures) f cross join lateral jsonb_array_elements_text(f -> 'claimsByHour') with ordinality as e(value, ord) group by e.ord) h),
    'refusals', (select json_object_agg(r.code, r.n order by r.code)
                   from (select e.key as code, sum(e.value::bigint)::bigint as n
                           from unnest(i_figures) f cross join lateral jsonb_each_text(f -> 'refusals') e group by e.key) r),
    'points', (select json_build_object('taken', sum((f #>> '{points,taken}')::numeric), 'returned', sum((f #>> '{points,returned}')::numeric))
                 from unnest(i_figures) f having count(f -> 'points') > 0),
    'money', m.money, 'net', largesse.night_net(m.money)))
    from (select largesse.night_money(i_figures) as money) m
$$;

-- The report. Parameters: i_date. Result: JSON text; the same bytes whenever it is made. Locks, errors: none.
create or replace function largesse.night_report(i_date date) returns text
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_night   largesse.night;
  v_figures jsonb[];
  v_by_kind json;
begin
  select n.* into strict v_night from largesse.night n where n.business_date = i_date;
  select array_agg(a.figures::jsonb) into v_figures from largesse.night_activity a where a.business_date = i_date and a.figures <> '';
  select json_object_agg(k.kind, largesse.night_totals(k.figures) order by k.kind) into v_by_kind
    from (select f ->> 'kind' as kind, array_agg(f) as figures from unnest(v_figures) f group by 1) k;
  return json_strip_nulls(json_build_object(
    'date', i_date, 'timeZone', v_night.time_zone, 'from', largesse.time_text(v_night.from_at), 'until', largesse.time_text(v_night.until_at),
    'totals', largesse.night_totals(v_figures), 'byKind', coalesce(v_by_kind, '{}'::json),
    'activities', coalesce((select json_agg(a.figures::json order by a.figures::json ->> 'code')
                              from largesse.night_activity a where a.business_date = i_date and a.figures <> ''), '[]'::json),
    'pointsGranted', (select json_build_object('count', count(*), 'points', sum(p.amount)) from largesse.points_entry p
                       where p.at >= v_night.from_at and p.at < v_night.until_at and p.activity_id is null having count(*) > 0),
    'redemptions', largesse.night_redemptions(v_night.from_at, v_night.until_at),
    'timeToDelivery', v_night.whole::json -> 'timeToDelivery', 'providers', v_night.whole::json -> 'providers', 'returns', v_night.whole::json -> 'returns',
    'deadLetters', coalesce((select json_agg(json_build_object('provider', d.provider, 'cause', d.cause, 'opened', d.n) order by d.provider, d.cause)
                               from (select l.provider, l.cause, count(*) as n from largesse.dead_letter l
                                      where l.opened_at >= v_night.from_at and l.opened_at < v_night.until_at group by 1, 2) d), '[]'::json)))::text;
end $$;

-- Orders with a discount that were redeemed and given back within a time. Parameters: i_from, i_until. Result: JSON; null: none. Locks, errors: none.
create or replace function largesse.night_redemptions(i_from timestamptz, i_until timestamptz) returns json
language sql stable
set search_path = largesse, pg_temp
as $$
  select json_agg(json_strip_nulls(json_build_object('what', s.what, 'currency', s.currency, 'count', s.n, 'total', s.total, 'discount', s.discount, 'payable', s.payable))
                  order by s.what, s.currency)
    from (select r.what, r.currency, count(*) as n, sum(r.total) as total, sum(r.discount) as discount, sum(r.payable) as payable
            from (select 'redeemed' as what, r.asked ->> 'currency' as currency, r.total, r.discount, r.payable
                    from largesse.redemption r where r.redeemed_at >= i_from and r.redeemed_at < i_until
                  union all
                  select 'released', r.asked ->> 'currency', r.total, r.discount, r.payable
                    from largesse.redemption r where r.released_at >= i_from and r.released_at < i_until) r
           group by r.what, r.currency) s
$$;

-- What was so when a report was made: what its audit found, what is open, what has changed since the report before it; and the newest entry of the operator log, so that
-- a kept report proves how long the log was and what it said. Parameters: i_date, i_run_id, i_now, i_is_unchanged: whether the figures are those of the first time.
-- Result: JSON text; at most 1000 findings are listed. Locks, errors: none.
create or replace function largesse.night_moment(i_date date, i_run_id bigint, i_now timestamptz, i_is_unchanged boolean) returns text
language sql stable
set search_path = largesse, pg_temp
as $$
  with found as materialized (
    select f.*, row_number() over (order by f.state = 'gone', array_position(array['critical', 'high', 'medium'], f.severity), f.activity_id, f.key) as place
      from largesse.audit_recorded(i_run_id) f
  )
  select json_strip_nulls(json_build_object(
    'at', largesse.time_text(i_now), 'clean', r.findings = 0 and r.failed = 0 and i_is_unchanged and not exists (select from largesse.statements_unmatched()), 'figuresUnchanged', i_is_unchanged,
    'auditId', r.id::text, 'audited', r.activities, 'failed', r.failed, 'findingCount', r.findings,
    'opened', (select count(*) from found f where f.state = 'opened'), 'open', (select count(*) from found f where f.state = 'open'),
    'gone', (select count(*) from found f where f.state = 'gone'),
    'findings', coalesce((select json_agg(json_strip_nulls(json_build_object(
                   'key', f.key, 'kind', f.kind, 'severity', f.severity, 'activityCode', f.activity_code,
                   'claimId', case when f.claim_id is not null then f.activity_id || '-' || f.claim_id end,
                   'expected', f.expected, 'actual', f.actual, 'cause', f.cause, 'nextStep', f.next_step, 'state', f.state,
                   'openedAt', (select largesse.time_text(o.opened_at) from largesse.finding o where o.key = f.key))) order by f.place)
                 from found f where f.place <= 1000), '[]'::json),
    'since', (select json_build_object('date', p.business_date, 'opened', (select count(*) from largesse.finding f where f.state <> 'gone' and f.opened_at > p.finished_at),
                                       'gone', (select count(*) from largesse.finding f where f.state = 'gone' and f.gone_at > p.finished_at))
                from (select n.business_date, n.finished_at from largesse.night n
                       where n.business_date < i_date and n.state = 'done' order by n.business_date desc limit 1) p),
    'statements', (select json_agg(largesse.statement_json(s) order by s.provider) from largesse.statement s where s.business_date = i_date and s.state = 'active'),
    'statementsNotFetched', largesse.statements_not_fetched(i_date),
    'statementsNotMatched', (select json_agg(json_build_object('provider', f.provider, 'at', largesse.time_text(f.at), 'fault', f.fault) order by f.provider) from largesse.statements_unmatched() f),
    'log', (select json_build_object('seq', h.seq, 'hash', encode(h.hash, 'hex')) from largesse.operator_log_head h),
    'deadLettersOpen', coalesce((select json_object_agg(d.provider, d.n order by d.provider)
                                   from (select l.provider, count(*) as n from largesse.dead_letter l where l.closed_at is null group by 1) d), '{}'::json),
    'queued', (select count(*) from largesse.claim_queue q where q.verdict is null)))::text
    from largesse.audit_run r where r.id = i_run_id
$$;
