-- SPDX-License-Identifier: Apache-2.0
-- What the scheduler's background workers call: the relay of events, counters of refusals, the search for activities, the count of due claims.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{"x": 1}');
select largesse.activity_put(jsonb_build_object('code', c, 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 20}'::jsonb), 'test', null)
  from unnest(array['a', 'b', 'c']) c;
select largesse.activity_action(c, 'publish', 'test', null, null) from unnest(array['a', 'b']) c;

-- Events are taken in order, leased, and taken again only when the lease has run out; done means gone.
create temp table taken as select * from largesse.event_out_take(1, 1000, '1 hour');
select probe.expect('first', string_agg(subjects || ' ' || type, ','), 'a activity.published') from taken;
select probe.expect('json', (docs::jsonb ->> 'code') || ' ' || (docs::jsonb ->> 'status') || ' ' || (docs::jsonb #>> '{availability,total}'), 'a published 20') from taken;
select probe.expect('instant', (at::timestamptz between now() - interval '1 minute' and now() + interval '1 minute')::text, 'true') from taken;
select probe.expect('second', string_agg(subjects, ','), 'b') from largesse.event_out_take(10, 1000, '0 s');
select probe.expect('leased ones stay', string_agg(subjects, ','), 'b') from largesse.event_out_take(10, 1000, '0 s');
select probe.expect('done', largesse.event_out_done(array(select id from taken))::text, '1');
select probe.expect('done twice', largesse.event_out_done(array(select id from taken))::text, '0');
select probe.expect('left', count(*)::text, '1') from largesse.event_out;
select largesse.event_out_done(array(select id from largesse.event_out));

-- Refusals add up per activity, minute and code.
select largesse.refusal_add(array[1, 1, 2]::bigint[], array['SOLD_OUT', 'ENDED', 'SOLD_OUT'], array[5, 1, 7]::bigint[]);
select largesse.refusal_add(array[1]::bigint[], array['SOLD_OUT'], array[2]::bigint[]);
select probe.expect('refusals', string_agg(n, ' '), '1 ENDED 1 1 SOLD_OUT 7 2 SOLD_OUT 7') from (
  select activity_id || ' ' || code || ' ' || sum(refusals) as n from largesse.refusal_count group by activity_id, code order by activity_id, code) r;
select probe.expect('whole minutes', bool_and(minute = date_trunc('minute', minute))::text, 'true') from largesse.refusal_count;

-- Drafts stay unknown; what is archived is still found, since its claims are replayed for ever.
select largesse.activity_action('b', 'pause', 'test', null, null);
select largesse.activity_action('b', 'finish', 'test', null, null);
select largesse.activity_action('b', 'archive', 'test', null, null);
select probe.expect('found', string_agg(code || ' ' || status || ' ' || provider || ' ' || remaining, ',' order by code),
  'a published simulator 20,b archived simulator 20') from largesse.activity_cache_find(array['a', 'b', 'c', 'd']);

-- What memory knows besides: a plain reward has no rules.
select probe.expect('plain', (has_rules, kind, payment_provider, intake, rate_limit, segments, waiting, waiting_max)::text, '(f,reward,,direct,,1,0,)')
  from largesse.activity_cache('-infinity') where code = 'a';
insert into largesse.activity_limit select id, 'event', 1 from largesse.activity where code = 'a';
select probe.expect('a limit over sessions is a rule', has_rules::text, 'true') from largesse.activity_cache('-infinity') where code = 'a';
delete from largesse.activity_limit where period = 'event';

-- Claims count as due when their time has come.
create function probe.claim(i_user bigint, i_sweep_after interval) returns void language sql as $$
  select from largesse.activity a cross join lateral largesse.claim_submit(a.id, array['b' || i_user], array[i_user], array[1], array[null::text], i_sweep_after) s
   where a.code = 'a'
$$;
select probe.claim(1, '0 s'), probe.claim(2, '0 s'), probe.claim(3, '1 hour');
select probe.expect('due', largesse.claim_due_count(10)::text, '2');
select probe.expect('counting stops', largesse.claim_due_count(1)::text, '1');
select largesse.provider_register(null, '{simulator}', '{1}', '{0}', '{false}', '{true}', '{false}');
select largesse.provider_pause('simulator', null, null, 'test', 'x');
select probe.expect('nobody is meant to take them', largesse.claim_due_count(10)::text, '0');
