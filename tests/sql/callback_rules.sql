-- SPDX-License-Identifier: Apache-2.0
-- Callbacks: each event once, old news, other amounts, what nobody asked for, reversals, and a failure that is told while a call is under way.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 100}'::jsonb,
  'limits', '[{"count": 9, "period": "total"}]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
create temp table accepted as
  select s.ord as user_id, s.claim_id, a.id as activity_id from largesse.activity a cross join lateral largesse.claim_submit(a.id,
    array(select 'b' || n from generate_series(1, 20) n), array(select n::bigint from generate_series(1, 20) n),
    array_fill(3, array[20]), array_fill(null::text, array[20]), '5 s') s where s.ord > 0;
create function probe.claim(i_user int) returns largesse.claim language sql as $$
  select c from accepted a join largesse.claim c on c.activity_id = a.activity_id and c.id = a.claim_id where a.user_id = i_user
$$;
create function probe.take(i_user int, i_attempt int) returns text language sql as $$
  select coalesce((select t.doing from accepted a cross join lateral largesse.claim_take(array[a.activity_id], array[a.claim_id], array[i_attempt], '10 s', '4 s', 'simulator') t
   where a.user_id = i_user), 'nothing')
$$;
create function probe.settle(i_user int, i_attempt int, i_step text, i_outcome text) returns text language sql as $$
  select coalesce((select s.status || case when s.under_review then ' review' else '' end
    from accepted a cross join lateral largesse.claim_settle(array[a.activity_id], array[a.claim_id], array[i_attempt], array[1], array[i_step], array[i_outcome],
      array['simulator'], array[200], array['ref-1'], array[null::text], array[null::text], array[now()], array[1000::bigint], array[60000::bigint],
      array[null::text], array[0::bigint]) s
   where a.user_id = i_user), 'nothing')
$$;
-- i_at: minutes from now at which the provider says that it happened.
create function probe.tell(i_user int, i_event text, i_outcome text, i_at int default 0, i_action text default 'deliver', i_amount bigint default null, i_provider text default 'simulator')
returns text language sql as $$
  select v.verdict || ' ' || (probe.claim(i_user)).status
    from accepted a cross join lateral largesse.callback_apply(i_provider, i_event, a.activity_id || '-' || a.claim_id, a.activity_id, a.claim_id, i_action, i_outcome,
      'ref-2', 'CODE', 'detail', i_amount, now() + i_at * interval '1 minute', '{"x":1}', null, true) v
   where a.user_id = i_user
$$;
create function probe.state(i_event text) returns text language sql as $$ select state from largesse.callback where event_id = i_event $$;

-- Early: the news is there before the answer. The late answer changes nothing (B37).
select probe.take(1, 0);
select probe.expect('early', probe.tell(1, 'early', 'done'), 'applied succeeded');
select probe.expect('the late answer', probe.settle(1, 1, 'deliver', 'done'), 'nothing');
select probe.expect('a late refusal', probe.settle(1, 1, 'deliver', 'refused'), 'nothing');
select probe.expect('stays', (probe.claim(1)).status || ' ' || (probe.claim(1)).provider_ref, 'succeeded ref-2');
select probe.expect('twice', probe.tell(1, 'early', 'done'), 'duplicate succeeded');
select probe.expect('twice, with other content', probe.tell(1, 'early', 'refused'), 'duplicate succeeded');
select probe.expect('the same id of another provider is another event', probe.tell(2, 'early', 'ignored', i_provider => 'another'), 'ignored issuing');
select probe.expect('failed afterwards (B40)', probe.tell(1, 'fails-later', 'refused', 1), 'contradicts succeeded');
select probe.expect('kept', probe.state('fails-later'), 'contradicts');

-- Out of order: what is older than what was heard changes nothing (B41).
select probe.take(3, 0);
select probe.settle(3, 1, 'deliver', 'pending');
select probe.expect('t2', probe.tell(3, 't2', 'refused', 2), 'applied failed');
select probe.expect('t1', probe.tell(3, 't1', 'done', 1), 'stale failed');
select probe.expect('t1 is kept', probe.state('t1'), 'stale');
select probe.expect('t3', probe.tell(3, 't3', 'done', 3), 'owes_reversal failed');
select probe.expect('t3 is due', (probe.claim(3)).step || ' ' || ((probe.claim(3)).next_attempt_at <= largesse.clock_now()), 'reverse true');
select probe.expect('t4 owes it once', probe.tell(3, 't4', 'done', 4), 'ignored failed');
select probe.take(4, 0);
select probe.settle(4, 1, 'deliver', 'pending');
select probe.expect('u2', probe.tell(4, 'u2', 'done', 2), 'applied succeeded');
select probe.expect('u1', probe.tell(4, 'u1', 'refused', 1), 'stale succeeded');
select probe.take(5, 0);
select probe.settle(5, 1, 'deliver', 'pending');
select probe.expect('newer, but nothing decided', probe.tell(5, 'p2', 'pending', 2), 'ignored issuing');
select probe.expect('older, and decided', probe.tell(5, 'p1', 'done', 1), 'applied succeeded');

-- A failure that is told while the call is under way is no proof; when the call is settled without a result, somebody asks at once.
select probe.take(6, 0);
select probe.expect('no proof', probe.tell(6, 'doubt', 'refused'), 'inquires issuing');
select probe.expect('not due yet', (greatest((probe.claim(6)).next_attempt_at, (probe.claim(6)).lease_until) > largesse.clock_now() + interval '5 s')::text, 'true');
select probe.settle(6, 1, 'deliver', 'unknown');
select probe.expect('due at once', ((probe.claim(6)).next_attempt_at <= largesse.clock_now())::text, 'true');
select probe.expect('by an inquiry', probe.take(6, 1), 'inquire');
select probe.expect('which knows', probe.settle(6, 2, 'inquire', 'refused'), 'failed');
select probe.take(7, 0);
select probe.tell(7, 'doubt-2', 'refused');
select probe.expect('the call succeeds', probe.settle(7, 1, 'deliver', 'done'), 'succeeded');

-- Another amount: a person decides; the claim keeps what it holds. 3 × 100.
select probe.expect('right amount', probe.tell(8, 'right', 'done', 0, 'deliver', 300), 'applied succeeded');
select probe.take(9, 0);
select probe.expect('wrong amount', probe.tell(9, 'wrong', 'done', 0, 'deliver', 30000), 'amount_mismatch issuing');
select probe.expect('review', (probe.claim(9)).review_cause, 'callback_amount_mismatch');
select probe.expect('letter', (select d.cause || ' ' || (d.closed_at is null) || ' ' || (d.detail like '%30000 instead of 300%') from largesse.dead_letter d where d.claim_id = (probe.claim(9)).id), 'callback_amount_mismatch true true');
select probe.expect('the call under way does not lift the review', probe.settle(9, 1, 'deliver', 'pending'), 'nothing');
select probe.expect('still', (probe.claim(9)).review_cause, 'callback_amount_mismatch');
select probe.expect('unreadable amount', probe.tell(10, 'no-amount', 'done', 0, 'deliver', -1), 'amount_mismatch issuing');
select probe.expect('finished before', probe.tell(8, 'wrong-later', 'done', 1, 'deliver', 1), 'amount_mismatch succeeded');
select probe.expect('no review for what is finished', coalesce((probe.claim(8)).review_cause, 'none'), 'none');
select probe.expect('but a letter', (select count(*)::text from largesse.dead_letter where claim_id is null and cause = 'callback_amount_mismatch'), '1');
select probe.expect('it failed, whatever the amount', (select probe.tell(11, 'failed-amount', 'refused', 0, 'deliver', 1)), 'ignored issuing');

-- What nobody asked for is kept for a person, and changes nothing.
select probe.expect('another provider', probe.tell(12, 'other', 'done', i_provider => 'another'), 'unmatched issuing');
select probe.expect('no such claim', (select v.verdict from largesse.callback_apply('simulator', 'x1', '999999-1', 999999, 1, 'deliver', 'done', null, null, null, null, null, '{}', null, true) v), 'unmatched');
select probe.expect('no request id of ours', (select v.verdict || ' ' || (v.letter_id > 0) from largesse.callback_apply('simulator', 'x2', 'order 7', null, null, null, 'done', null, null, null, null, null, '{}', null, true) v), 'unmatched true');
select probe.expect('not for us', (select v.verdict from largesse.callback_apply('simulator', 'x3', '', null, null, null, 'ignored', null, null, null, null, null, '{}', null, true) v), 'ignored');
select probe.expect('a payment that nobody made', probe.tell(12, 'pay', 'done', 0, 'charge'), 'unmatched issuing');
select probe.expect('a reversal that nobody asked for', probe.tell(12, 'back', 'done', 0, 'reverse'), 'unmatched issuing');
select probe.expect('letters', (select count(*)::text from largesse.dead_letter where cause = 'callback_unmatched' and claim_id is null and closed_at is null), '5');
select probe.expect('nothing unknown names a claim', (select count(*)::text from largesse.callback where event_id in ('other', 'x1', 'x2', 'x3') and claim_id is not null), '0');

-- Reversals: taken back once, given back once.
select probe.take(13, 0);
select probe.settle(13, 1, 'deliver', 'done');
select largesse.claim_reverse(array[(probe.claim(13)).activity_id], array[(probe.claim(13)).id]);
select probe.expect('pending', probe.tell(13, 'r0', 'pending', 0, 'reverse'), 'ignored succeeded');
select probe.expect('take the reversal', probe.take(13, 1), 'reverse');
select probe.expect('refused under way', probe.tell(13, 'r1', 'refused', 1, 'reverse'), 'inquires succeeded');
select probe.settle(13, 2, 'reverse', 'unknown');
select probe.expect('asked at once', probe.take(13, 2), 'inquire_reverse');
select probe.expect('another amount', probe.tell(13, 'r2', 'done', 2, 'reverse', 299), 'amount_mismatch succeeded');
select probe.expect('taken back', probe.tell(13, 'r3', 'done', 3, 'reverse', 300), 'applied rolled_back');
select probe.expect('once', probe.tell(13, 'r4', 'done', 4, 'reverse', 300), 'ignored rolled_back');
select probe.expect('the late answer', probe.settle(13, 3, 'inquire_reverse', 'done'), 'nothing');
select probe.expect('by the provider', ((probe.claim(13)).reversed_at is not null)::text, 'true');
select probe.expect('its success is no news', probe.tell(13, 'r5', 'done', 5), 'ignored rolled_back');
select probe.expect('owed and done', probe.tell(3, 'r6', 'done', 6, 'reverse'), 'applied failed');

-- The books.
select probe.expect('stock', (select remaining || ' ' || taken from largesse.stock), (select 100 - sum(quantity) || ' ' || sum(quantity) from largesse.claim join largesse.claim_state using (status) where holds_stock));
select probe.expect('allowance', (select sum(used)::text from largesse.usage), (select taken::text from largesse.stock));
do $$ declare v record; begin
  for v in select d.name, r.* from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r loop
    raise exception 'audit: %', v;
  end loop;
end $$;
