-- SPDX-License-Identifier: Apache-2.0
-- One night held against another, from their reports as they were kept. Locks, errors: none.

-- A figure of both nights. Parameters: i_before, i_after (null: not there, which is nothing). Result: JSON; percent: of the earlier one, one digit behind the point; null where
-- that was nothing.
create or replace function largesse.compare_figure(i_before numeric, i_after numeric) returns json
language sql immutable
as $$
  select json_strip_nulls(json_build_object('before', coalesce(i_before, 0), 'after', coalesce(i_after, 0), 'change', coalesce(i_after, 0) - coalesce(i_before, 0),
                                            'percent', round((coalesce(i_after, 0) - i_before) * 100 / nullif(abs(i_before), 0), 1)))
$$;

-- The counts that can be compared, of a night or of an activity. Parameters: i_figures: JSON as night_totals, or null. Result: a row per figure in the order in which reports
-- show them.
create or replace function largesse.compare_counts(i_figures jsonb)
returns table (place int, figure text, amount numeric)
language sql immutable
as $$
  select f.place, f.figure, f.amount
    from (values (1, 'claims', (i_figures #>> '{claims,count}')::numeric), (2, 'units', (i_figures #>> '{claims,quantity}')::numeric),
                 (3, 'succeeded', (i_figures #>> '{succeeded,count}')::numeric), (4, 'cancelled', (i_figures #>> '{cancelled,count}')::numeric),
                 (5, 'expired', (i_figures #>> '{expired,count}')::numeric), (6, 'failed', (i_figures #>> '{failed,count}')::numeric),
                 (7, 'rolledBack', (i_figures #>> '{rolledBack,count}')::numeric),
                 (8, 'refused', (select sum(r.value::numeric) from jsonb_each_text(i_figures -> 'refusals') r)),
                 (9, 'p50Ms', (i_figures #>> '{timeToDelivery,p50Ms}')::numeric), (10, 'p90Ms', (i_figures #>> '{timeToDelivery,p90Ms}')::numeric),
                 (11, 'p99Ms', (i_figures #>> '{timeToDelivery,p99Ms}')::numeric)) f(place, figure, amount)
   where f.amount is not null
$$;

-- What of a report is compared as a whole. Parameters: i_report: JSON. Result: JSON as compare_counts reads it.
create or replace function largesse.compare_totals(i_report jsonb) returns jsonb
language sql immutable
as $$ select (i_report -> 'totals') || jsonb_build_object('timeToDelivery', i_report -> 'timeToDelivery') $$;

-- The counts of both. Parameters: i_before, i_after: JSON or null. Result: JSON object by figure.
create or replace function largesse.compare_both(i_before jsonb, i_after jsonb) returns json
language sql immutable
as $$
  select json_object_agg(c.figure, largesse.compare_figure(c.before, c.after) order by c.place)
    from (select coalesce(b.place, a.place) as place, coalesce(b.figure, a.figure) as figure, b.amount as before, a.amount as after
            from largesse.compare_counts(i_before) b full join largesse.compare_counts(i_after) a on a.figure = b.figure) c
$$;

-- Amounts and calls of both, by what they are of. Parameters: i_before, i_after: JSON of reports. Result: JSON array; null: none.
create or replace function largesse.compare_money(i_before jsonb, i_after jsonb) returns json
language sql immutable
as $$
  select json_agg(json_build_object('what', m.what, 'provider', m.provider, 'currency', m.currency, 'amount', largesse.compare_figure(m.before, m.after))
                  order by m.what, m.provider, m.currency)
    from (select e.key as what, i ->> 'provider' as provider, i ->> 'currency' as currency, sum((i ->> 'amount')::numeric) filter (where not s.is_after) as before,
                 sum((i ->> 'amount')::numeric) filter (where s.is_after) as after
            from (values (i_before, false), (i_after, true)) s(report, is_after)
            cross join lateral jsonb_each(s.report #> '{totals,money}') e cross join lateral jsonb_array_elements(e.value) i
           where i ->> 'amount' is not null group by 1, 2, 3) m
$$;
create or replace function largesse.compare_providers(i_before jsonb, i_after jsonb) returns json
language sql immutable
as $$
  select json_agg(json_build_object('provider', p.provider, 'calls', largesse.compare_figure(p.before_calls, p.after_calls),
                                    'notDone', largesse.compare_figure(p.before_other, p.after_other), 'p99Ms', largesse.compare_figure(p.before_p99, p.after_p99)) order by p.provider)
    from (select i ->> 'provider' as provider,
                 sum((i ->> 'calls')::numeric) filter (where not s.is_after) as before_calls, sum((i ->> 'calls')::numeric) filter (where s.is_after) as after_calls,
                 sum((i ->> 'calls')::numeric - coalesce((i #>> '{outcomes,done}')::numeric, 0)) filter (where not s.is_after) as before_other,
                 sum((i ->> 'calls')::numeric - coalesce((i #>> '{outcomes,done}')::numeric, 0)) filter (where s.is_after) as after_other,
                 sum((i #>> '{latency,p99Ms}')::numeric) filter (where not s.is_after) as before_p99, sum((i #>> '{latency,p99Ms}')::numeric) filter (where s.is_after) as after_p99
            from (values (i_before, false), (i_after, true)) s(report, is_after) cross join lateral jsonb_array_elements(s.report -> 'providers') i
           group by 1) p
$$;

-- Findings that are alive in one of both nights. Parameters: i_before, i_after: the moments of reports. Result: JSON: counts and items, each opened (in the later one alone),
-- open (in both) or gone (in the earlier one alone); truncated: a report did not list all it had.
create or replace function largesse.compare_findings(i_before jsonb, i_after jsonb) returns json
language sql immutable
as $$
  with sides as (
    select i ->> 'key' as key, i as item, s.is_after
      from (values (i_before, false), (i_after, true)) s(moment, is_after) cross join lateral jsonb_array_elements(s.moment -> 'findings') i
     where i ->> 'state' <> 'gone'
  ), pairs as materialized (
    select coalesce(a.key, b.key) as key, coalesce(a.item, b.item) as item, case when b.key is null then 'opened' when a.key is null then 'gone' else 'open' end as state
      from (select * from sides where is_after) a full join (select * from sides where not is_after) b on b.key = a.key
  )
  select json_build_object(
    'opened', count(*) filter (where b.state = 'opened'), 'open', count(*) filter (where b.state = 'open'), 'gone', count(*) filter (where b.state = 'gone'),
    'truncated', jsonb_array_length(i_before -> 'findings') >= 1000 or jsonb_array_length(i_after -> 'findings') >= 1000,
    'items', coalesce(json_agg(json_strip_nulls(json_build_object('key', b.key, 'kind', b.item ->> 'kind', 'severity', b.item ->> 'severity', 'activityCode', b.item ->> 'activityCode',
                                                                  'claimId', b.item ->> 'claimId', 'expected', b.item ->> 'expected', 'actual', b.item ->> 'actual', 'state', b.state))
                               order by array_position(array['opened', 'open', 'gone'], b.state), b.key), '[]'::json))
    from pairs b
$$;

-- Parameters: i_date, i_with: an earlier or later date; null: the latest report before i_date. Result: one row: outcome ('compared', 'no_report': of i_date, 'no_other': of i_with,
-- or there is none before) and JSON text of the comparison.
create or replace function largesse.night_compare(i_date date, i_with date)
returns table (outcome text, doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_after  largesse.night;
  v_before largesse.night;
begin
  select n.* into v_after from largesse.night n where n.business_date = i_date and n.state = 'done';
  select n.* into v_before from largesse.night n
   where n.state = 'done' and case when i_with is null then n.business_date < i_date else n.business_date = i_with end order by n.business_date desc limit 1;
  outcome := case when v_after.business_date is null then 'no_report' when v_before.business_date is null then 'no_other' else 'compared' end;
  if outcome = 'compared' then
    doc := json_strip_nulls(json_build_object(
      'date', v_after.business_date, 'with', v_before.business_date, 'timeZone', v_after.time_zone,
      'clean', json_build_object('before', v_before.clean, 'after', v_after.clean),
      'totals', largesse.compare_both(largesse.compare_totals(v_before.report::jsonb), largesse.compare_totals(v_after.report::jsonb)),
      'money', coalesce(largesse.compare_money(v_before.report::jsonb, v_after.report::jsonb), '[]'::json),
      'providers', coalesce(largesse.compare_providers(v_before.report::jsonb, v_after.report::jsonb), '[]'::json),
      'activities', largesse.compare_activities(v_before.report::jsonb -> 'activities', v_after.report::jsonb -> 'activities'),
      'findings', largesse.compare_findings(v_before.moment::jsonb, v_after.moment::jsonb)))::text;
  end if;
  return next;
end $$;

-- Activities in which something happened in one of both nights. Parameters: i_before, i_after: JSON arrays of reports. Result: JSON array, by code.
create or replace function largesse.compare_activities(i_before jsonb, i_after jsonb) returns json
language sql immutable
as $$
  select coalesce(json_agg(json_build_object('code', a.code, 'kind', a.kind, 'figures', largesse.compare_both(a.before, a.after)) order by a.code), '[]'::json)
    from (select coalesce(b.value, n.value) ->> 'code' as code, coalesce(b.value, n.value) ->> 'kind' as kind, b.value as before, n.value as after
            from jsonb_array_elements(i_before) b full join jsonb_array_elements(i_after) n on n.value ->> 'code' = b.value ->> 'code') a
$$;
