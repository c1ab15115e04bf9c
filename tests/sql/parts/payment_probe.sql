-- SPDX-License-Identifier: Apache-2.0
-- What the tests of payments share: activities of numbers, claims that hold some, and everything that can be done with them and seen of them.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'wallet', 100, 'CNY', '{}');
-- An activity of a thousand numbers, three in all for each user; i_reward: something is delivered for them.
create function probe.activity(i_code text, i_late text, i_reward boolean) returns void language plpgsql as $$
begin
  perform largesse.activity_put(jsonb_strip_nulls(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'number', 'timeZone', 'UTC', 'rewardCode', case when i_reward then 'probe' end,
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 1000}'::jsonb, 'limits', '[{"count": 3, "period": "total"}]'::jsonb,
    'price', '{"amount": 500, "currency": "CNY"}'::jsonb, 'paymentProvider', 'bank', 'holdFor', '15m', 'latePayment', i_late)), 'test', null);
  perform largesse.numbers_add(i_code, null, 1, 1000, 'test');
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
end $$;
select probe.activity('given', 'reallocate', true), probe.activity('bare', 'reallocate', false), probe.activity('back', 'refund', true), probe.activity('asked', 'review', true);
create temp sequence users;
create temp sequence numbers;

-- Numbers held for a user. The claim's id.
create function probe.hold(i_code text, i_numbers bigint[], i_user bigint default nextval('users')) returns bigint language plpgsql as $$
declare
  v record;
begin
  select s.* into v from largesse.activity a, largesse.claim_submit(a.id, array['b' || i_user || '-' || nextval('users')], array[i_user], array[cardinality(i_numbers)], array[null::text], '0 s',
    array_fill(1, array[cardinality(i_numbers)]), i_numbers) s where a.code = i_code and s.ord = 1;
  if v.verdict <> 'ACCEPTED' then raise exception '% of % for %: % %', i_numbers, i_code, i_user, v.verdict, v.detail; end if;
  return v.claim_id;
end $$;
create function probe.claim(i_id bigint) returns largesse.claim language sql as $$ select c from largesse.claim c where c.id = i_id $$;
create function probe.key(i_id bigint) returns bigint[] language sql as $$ select array[c.activity_id] from largesse.claim c where c.id = i_id $$;
create function probe.take(i_id bigint, i_provider text default 'bank', i_trust interval default '4 s') returns text language sql as $$
  select coalesce((select t.doing || ' ' || t.attempt || case when t.may_act then '' else ' unwanted' end
    from largesse.claim_take(probe.key(i_id), array[i_id], array[(probe.claim(i_id)).attempts], '10 s', i_trust, i_provider) t), 'nothing')
$$;
create function probe.settle(i_id bigint, i_step text, i_outcome text, i_review text default null, i_attempt int default null) returns text
language sql as $$
  select coalesce((select s.status || case when s.under_review then ' review ' || s.review_cause else '' end
    from largesse.claim_settle(probe.key(i_id), array[i_id], array[coalesce(i_attempt, (probe.claim(i_id)).attempts)], array[1], array[i_step], array[i_outcome], array['bank'],
      array[200], array['ref-1'], array['X1'], array['detail 17'], array[now()], array[1000::bigint], array[30000::bigint], array[i_review],
      array[null::bigint], array['POST …'], array['HTTP 200'], i_urls => array['https://pay.example/1']) s), 'nothing')
$$;
create function probe.call(i_id bigint, i_step text, i_outcome text, i_review text default null) returns text language plpgsql as $$
begin
  perform probe.expect('taken for ' || i_step, split_part(probe.take(i_id), ' ', 1), i_step);
  return probe.settle(i_id, i_step, i_outcome, i_review);
end $$;
create function probe.tell(i_id bigint, i_action text, i_outcome text, i_event text, i_asks boolean default true, i_amount bigint default null, i_at timestamptz default null) returns text language sql as $$
  select a.verdict from largesse.claim c, largesse.callback_apply('bank', i_event, c.activity_id || '-' || c.id || case i_action when 'charge' then '-p' else '-f' end,
    c.activity_id, c.id, i_action, i_outcome, 'ref-2', 'F1', 'told', i_amount, i_at, '{}', null, i_asks) a where c.id = i_id
$$;
-- status; payment; refund; step and when it is due; review; what is there of the numbers, the allowance.
create function probe.state(i_id bigint) returns text language sql as $$
  select concat_ws(' ', c.status, c.payment, coalesce(c.refund, '-'), coalesce(c.step, '-'),
      case when c.next_attempt_at is null then 'never' when greatest(c.next_attempt_at, c.lease_until) <= clock_timestamp() then 'now' else 'later' end,
      coalesce(c.review_cause, '-'),
      coalesce((select string_agg(distinct n.status, ',') from largesse.activity_number n where n.activity_id = c.activity_id and n.claim_id = c.id), 'free'),
      (select u.used from largesse.usage u where u.activity_id = c.activity_id and u.user_id = c.user_id))
    from probe.claim(i_id) c
$$;
create function probe.letters(i_id bigint) returns text language sql as $$
  select coalesce(string_agg(d.provider || ':' || d.cause || case when d.closed_at is null then '' else '=' || d.resolution end, ',' order by d.id), 'none')
    from largesse.dead_letter d where d.claim_id = i_id
$$;
create function probe.end_hold(i_id bigint) returns void language sql as $$
  update largesse.claim set deadline = clock_timestamp() - interval '1 second' where id = i_id
$$;
create function probe.expire(i_id bigint) returns void language plpgsql as $$
begin
  perform largesse.claim_move(probe.key(i_id), array[i_id], 'expired', null, null, null);
end $$;
