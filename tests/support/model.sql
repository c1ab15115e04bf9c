-- SPDX-License-Identifier: Apache-2.0
-- What the model test asks of a database, one call a step. Time stands still but for what the test says.
create schema probe;
create or replace function largesse.clock_now() returns timestamptz language sql volatile parallel safe
as $$ select current_setting('probe.now')::timestamptz $$;
create function probe.at(i_ms bigint) returns void language sql as $$
  select set_config('probe.now', (timestamptz '1970-01-01Z' + i_ms * interval '1 millisecond')::text, false)
$$;
select probe.at(1790812800000);
select largesse.reward_put('gift', 'wallet', 100, 'CNY', '{}');
insert into largesse.provider_state (provider, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at)
  select p, 1, 0, true, true, true, largesse.clock_now() from unnest(array['wallet', 'bank']) p;

-- An answer for each request: verdict, claim, and what else the model knows of it.
create function probe.answer(i_verdict text, i_claim bigint, i_status text, i_detail text) returns text language sql as $$
  select concat_ws(' ', i_verdict, coalesce(i_claim::text, split_part(coalesce(d -> 'claim' ->> 'claimId', d ->> 'claimId'), '-', 2), '-'),
                   case i_verdict when 'ACCEPTED' then i_status when 'REPLAYED' then d ->> 'status' when 'LIMIT_REACHED' then d ->> 'rule' else '-' end)
    from (select case when i_detail like '{%' then i_detail::jsonb end as d) t
$$;
create function probe.submit(i_activity bigint, i_biz text[], i_users bigint[], i_quantities int[], i_channels text[], i_ords int[], i_numbers bigint[], i_segment int)
returns text language sql as $$
  select string_agg(probe.answer(s.verdict, s.claim_id, s.status, s.detail), ',' order by s.ord)
    from largesse.claim_submit(i_activity, i_biz, i_users, i_quantities, i_channels, '5 s', i_ords, i_numbers, null, i_segment) s where s.ord > 0
$$;
create function probe.explain(i_code text, i_biz text, i_user bigint, i_quantity int, i_channel text, i_numbers bigint[]) returns text language sql as $$
  select e.verdict || ' ' || case e.verdict when 'ACCEPTED' then e.detail::jsonb ->> 'status' when 'REPLAYED' then e.detail::jsonb -> 'claim' ->> 'status' else '-' end
    from largesse.claim_explain(i_code, i_user, i_biz, i_quantity, i_channel, i_numbers, null) e
$$;
-- The attempt that is taken and what it does, or nothing.
create function probe.take(i_activity bigint, i_claim bigint) returns text language plpgsql as $$
declare
  k largesse.claim;
begin
  select * into k from largesse.claim c where c.activity_id = i_activity and c.id = i_claim;
  return coalesce((select concat_ws(' ', t.attempt, t.doing)
    from largesse.claim_take(array[i_activity], array[i_claim], array[k.attempts], '90 days', '0 s',
      (select r.provider from largesse.reward r where r.id = largesse.step_terms(k.step, k.reward_id, k.payment_id))) t), '');
end $$;
create function probe.settle(i_activity bigint, i_claim bigint, i_attempt int, i_step text, i_outcome text) returns text language sql as $$
  select coalesce((select s.status from largesse.claim_settle(array[i_activity], array[i_claim], array[i_attempt], array[1], array[i_step], array[i_outcome], array['probe'], array[200],
    array['ref'], array['X1'], array['detail'], array[largesse.clock_now()], array[1000::bigint], array[30000::bigint], array[null::text])  s), 'nothing')
$$;
create function probe.tell(i_activity bigint, i_claim bigint, i_outcome text, i_event text) returns text language sql as $$
  select a.verdict from largesse.callback_apply('bank', i_event, i_activity || '-' || i_claim || '-p', i_activity, i_claim, 'charge', i_outcome, 'ref', 'F1', 'told', null, null, '{}', null, true) a
$$;
create function probe.roll_back(i_activity bigint, i_claim bigint) returns text language plpgsql as $$
declare
  v_id   bigint;
  v_step record;
begin
  select o.operation_id into v_id from largesse.operation_begin('roll_back', null, array[i_activity], array[i_claim], null, null, null, null, 'test', 'test', null, false, 1000, null) o;
  select string_agg(s.outcome, ',') as outcome into v_step from largesse.operation_step(v_id, 10) s;
  return v_step.outcome;
end $$;

create function probe.debt(i_state text) returns text language sql immutable as $$
  select case when i_state is null then '-' when i_state in ('done', 'not_found') then 'settled' else 'owed' end
$$;
-- Everything about an activity, a line each.
create function probe.books(i_activity bigint) returns text language sql as $$
  with a as (select * from largesse.activity where id = i_activity), f as (select (j.doc::jsonb -> 'availability') as f from a, largesse.activity_json(a.code) j)
  select string_agg(x, e'\n' order by kind, k1, k2, k3) from (
    select 1 as kind, 0::bigint as k1, 0::bigint as k2, 0::bigint as k3,
           concat_ws(' ', 'figures', coalesce(f ->> 'total', '-'), f ->> 'issued', f ->> 'held', coalesce(f ->> 'remaining', '-'), f ->> 'waiting') as x from f
    union all select 2, c.id, 0, 0, concat_ws(' ', 'claim', c.id, c.biz_id, c.user_id, c.quantity, c.status,
        case when c.payment is null then '-' when c.payment in ('refused', 'done', 'void', 'closed') then c.payment else 'open' end,
        'refund', probe.debt(c.refund), 'reversal', probe.debt(c.reversal), case when c.review_since is not null then 'review' else '-' end, coalesce(c.points, 0))
      from largesse.claim c where c.activity_id = i_activity
    union all select 3, u.user_id, array_position(array['total', 'day', 'week', 'month'], u.period), case when isfinite(u.period_start) then u.period_start - date '1970-01-01' else 0 end,
        concat_ws(' ', 'usage', u.user_id, u.period, case when isfinite(u.period_start) then u.period_start - date '1970-01-01' else 0 end, u.used)
      from largesse.usage u where u.activity_id = i_activity and u.used > 0
    union all select 4, n.number, 0, 0, concat_ws(' ', 'number', n.number, n.status, coalesce(n.claim_id::text, '-')) from largesse.activity_number n where n.activity_id = i_activity
    union all select 5, w.position, 0, 0, concat_ws(' ', 'waits', w.user_id, w.quantity, w.claim_id) from largesse.waiting_entry w where w.activity_id = i_activity
    union all select 6, q.user_id, 0, 0, concat_ws(' ', 'qualified', q.user_id, coalesce(q.claim_id::text, '-')) from largesse.qualification q where q.activity_id = i_activity) t
$$;
-- What users have across activities.
create function probe.user_books() returns text language sql as $$
  select string_agg(x, e'\n' order by kind, k1, k2) from (
    select 1 as kind, p.user_id as k1, 0::bigint as k2, concat_ws(' ', 'points', p.user_id, p.balance) as x from largesse.points_account p where p.balance > 0
    union all select 2, substr(e.event_code, 2)::bigint, e.user_id, concat_ws(' ', 'event', e.event_code, e.user_id, e.used) from largesse.event_usage e where e.used > 0
    union all select 3, substr(g.group_name, 2)::bigint, g.user_id, concat_ws(' ', 'group', g.group_name, g.user_id, g.activity_id, g.live) from largesse.group_member g where g.live > 0) t
$$;
create function probe.audit() returns text language sql as $$
  select string_agg(concat_ws(' ', a.code, d.name, r.*), e'\n') from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
$$;
