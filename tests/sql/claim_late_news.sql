-- SPDX-License-Identifier: Apache-2.0
-- News of a delivery that comes late says what was delivered: the reversal that follows needs it, and "nothing there to take back" is no end then.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 1000}'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
create function probe.activity() returns bigint language sql as $$ select id from largesse.activity where code = 'a' $$;
create function probe.make(i_user int) returns void language sql as $$
  select from largesse.claim_submit(probe.activity(), array['b' || i_user], array[i_user::bigint], array[1], array[null::text], '5 s')
$$;
create function probe.claim(i_user int) returns largesse.claim language sql as $$
  select c from largesse.claim c where c.activity_id = probe.activity() and c.user_id = i_user
$$;
create function probe.take(i_user int) returns text language sql as $$
  select coalesce((select t.doing || ' ref ' || coalesce(t.provider_ref, 'none') from probe.claim(i_user) c,
    largesse.claim_take(array[c.activity_id], array[c.id], array[c.attempts], '1 min', '4 s', 'simulator') t), 'nothing')
$$;
create function probe.settle(i_user int, i_attempt int, i_step text, i_outcome text, i_ref text default null, i_review text default null) returns text language sql as $$
  select coalesce((select s.status || case when s.under_review then ' review' else '' end
    from probe.claim(i_user) c, largesse.claim_settle(array[c.activity_id], array[c.id], array[i_attempt], array[1], array[i_step], array[i_outcome],
      array['simulator'], array[404], array[i_ref], array['X1'], array['detail'], array[now()], array[1000::bigint], array[30000::bigint],
      array[i_review], array[0::bigint]) s), 'nothing')
$$;
create function probe.tell(i_user int, i_event text, i_ref text, i_amount bigint default null) returns text language sql as $$
  select v.verdict from probe.claim(i_user) c, largesse.callback_apply('simulator', i_event, c.activity_id || '-' || c.id, c.activity_id, c.id, 'deliver', 'done',
    i_ref, null, null, i_amount, null, '{}', null, true) v
$$;
create function probe.state(i_user int) returns text language sql as $$
  select concat_ws(' ', c.status, c.step, coalesce(c.reversal, '-'), case when c.next_attempt_at is null then 'never' else 'due' end,
                   coalesce(c.review_cause, '-'), coalesce(c.provider_ref, '-')) from probe.claim(i_user) c
$$;

-- The reference of a success that comes after the failure is what the reversal is about.
select probe.make(1);
select probe.take(1);
update largesse.claim set lease_until = now() - interval '1 s' where user_id = 1;
select probe.take(1);
select probe.expect('refused', probe.settle(1, 2, 'inquire', 'refused'), 'failed');
select probe.expect('late answer', probe.settle(1, 1, 'deliver', 'done', 'ref-late'), 'failed');
select probe.expect('taken back by its reference', probe.take(1), 'reverse ref ref-late');
-- Said by a callback, the same.
select probe.make(2);
select probe.take(2);
select probe.settle(2, 1, 'deliver', 'refused');
select probe.expect('late callback', probe.tell(2, 'e2', 'ref-told'), 'owes_reversal');
select probe.expect('taken back by its reference', probe.take(2), 'reverse ref ref-told');
-- The provider that said so and now knows nothing of it contradicts itself: a person must look.
select probe.expect('not found', probe.settle(2, 2, 'reverse', 'not_found'), 'failed review');
select probe.expect('waits', probe.state(2), 'failed reverse refused never reversal_not_found ref-told');
select probe.expect('letter', (select cause || (closed_at is null)::text from largesse.dead_letter where claim_id = (probe.claim(2)).id), 'reversal_not_foundtrue');

-- A delivery whose outcome is unknown is being taken back, and then it is said to have been done: before the reversal, or while it is being made.
select probe.make(3);
select probe.take(3);
select probe.settle(3, 1, 'deliver', 'unknown', null, 'outcome_unknown');
select from probe.claim(3) c, largesse.claim_reverse(array[c.activity_id], array[c.id]);
select probe.expect('told before', probe.tell(3, 'e3', 'ref-3'), 'ignored');
select probe.expect('goes on', probe.take(3), 'reverse ref ref-3');
select probe.expect('not found', probe.settle(3, 2, 'reverse', 'not_found'), 'issuing review');
select probe.expect('nothing was given back', (select taken::text from largesse.stock where activity_id = probe.activity()), '1');
select probe.make(4);
select probe.take(4);
select probe.settle(4, 1, 'deliver', 'unknown', null, 'outcome_unknown');
select from probe.claim(4) c, largesse.claim_reverse(array[c.activity_id], array[c.id]);
select probe.expect('no reference yet', probe.take(4), 'reverse ref none');
select probe.expect('told meanwhile', probe.settle(4, 1, 'deliver', 'done', 'ref-4'), 'nothing');
select probe.expect('not found', probe.settle(4, 2, 'reverse', 'not_found'), 'issuing review');
-- A person has looked: asked again, the provider takes it back.
select from probe.claim(4) c, largesse.claim_reverse(array[c.activity_id], array[c.id]);
select probe.expect('again', probe.take(4), 'reverse ref ref-4');
select probe.expect('done', probe.settle(4, 3, 'reverse', 'done'), 'rolled_back');

-- An amount that is not the claim's, while a call is under way: whatever a person decides, nothing is called before that call has ended.
select probe.make(5);
select probe.take(5);
update largesse.claim set trust_after = now() where user_id = 5;     -- an inquiry: the call behind it may begin at any moment
select probe.expect('mismatch', probe.tell(5, 'e5', 'ref-5', 777), 'amount_mismatch');
select probe.expect('no "not found" counts before the lease would have ended', ((probe.claim(5)).trust_after > now() + interval '30 s')::text, 'true');
-- Before the first call, or behind a certain failure: the provider says it delivered something, so nothing is certain any more.
select probe.make(6);
select probe.take(6);
select probe.settle(6, 1, 'deliver', 'retry');
select probe.expect('mismatch', probe.tell(6, 'e6', 'ref-6', 777), 'amount_mismatch');
select probe.expect('asked first', (probe.claim(6)).step, 'inquire');

-- A callback without the reference was faster than the answer with it: a roll-back needs it later.
select probe.make(7);
select probe.take(7);
select probe.expect('told', probe.tell(7, 'e7', null), 'applied');
select probe.expect('answered', probe.settle(7, 1, 'deliver', 'done', 'ref-7'), 'nothing');
select probe.expect('kept', probe.state(7), 'succeeded inquire - never - ref-7');
select probe.expect('the first one stays', probe.settle(7, 1, 'deliver', 'done', 'ref-other'), 'nothing');
select probe.expect('kept still', probe.state(7), 'succeeded inquire - never - ref-7');

-- A delivery that the provider has accepted may come later than any call could run: that it is not there yet is no end.
select probe.make(8);
select probe.take(8);
select probe.settle(8, 1, 'deliver', 'pending', 'ref-8', 'pending_too_long');
select from probe.claim(8) c, largesse.claim_reverse(array[c.activity_id], array[c.id]);
update largesse.claim set trust_after = null, next_attempt_at = now() where user_id = 8;
select probe.expect('reverse', probe.take(8), 'reverse ref ref-8');
select probe.expect('not found', probe.settle(8, 2, 'reverse', 'not_found'), 'issuing review');
select probe.expect('waits', probe.state(8), 'issuing reverse refused never reversal_not_found ref-8');

-- A message that named another amount stays with people, though a later one names the right one: the claim is done, its letter is about no claim any more.
select probe.make(9);
select probe.take(9);
select probe.expect('mismatch', probe.tell(9, 'e9-wrong', 'ref-9', 777), 'amount_mismatch');
select probe.expect('right', probe.tell(9, 'e9-right', 'ref-9', 100), 'applied');
select probe.expect('done', probe.state(9), 'succeeded inquire - never - ref-9');
select probe.expect('none of the claim', (select count(*)::text from largesse.dead_letter where claim_id = (probe.claim(9)).id), '0');
select probe.expect('but open', (select count(*)::text from largesse.dead_letter where claim_id is null and closed_at is null and detail like '%e9-wrong%'), '1');
-- Of a claim that waits for something else already, beside its letter; the claim's own letter is settled.
select probe.make(10);
select probe.take(10);
select probe.settle(10, 1, 'deliver', 'unknown', null, 'outcome_unknown');
select probe.expect('mismatch', probe.tell(10, 'e10-wrong', 'ref-10', 777), 'amount_mismatch');
select probe.expect('its own', (select string_agg(cause, ',') from largesse.dead_letter where claim_id = (probe.claim(10)).id and closed_at is null), 'outcome_unknown');
select probe.expect('right', probe.tell(10, 'e10-right', 'ref-10', 100), 'applied');
select probe.expect('settled', (select string_agg(cause || '=' || resolution, ',') from largesse.dead_letter where claim_id = (probe.claim(10)).id), 'outcome_unknown=settled');
select probe.expect('but open', (select count(*)::text from largesse.dead_letter where claim_id is null and closed_at is null and detail like '%e10-wrong%'), '1');
select probe.expect('letters and reviews agree', (select count(*)::text from largesse.audit_claim_under_review_without_dead_letter(probe.activity())), '0');

-- Patience with "pending" counts from when it was first said, not from when the claim was made; unknown inquiries between do not end it, a retry does.
create function probe.waited(i_user int) returns text language sql as $$
  update largesse.claim set next_attempt_at = now(), trust_after = null where user_id = i_user;
  select round(extract(epoch from clock_timestamp() - t.wanted_at) / 60)::text
    from probe.claim(i_user) c, largesse.claim_take(array[c.activity_id], array[c.id], array[c.attempts], '10 s', '4 s', 'simulator') t $$;
select probe.make(11);
select probe.expect('not said yet', probe.waited(11), '0');
select probe.settle(11, 1, 'deliver', 'pending');
update largesse.claim set pending_since = now() - interval '30 minutes' where user_id = 11;
select probe.expect('since then', probe.waited(11), '30');
select probe.settle(11, 2, 'inquire', 'unknown');
select probe.expect('an inquiry without answer', probe.waited(11), '30');
select probe.settle(11, 3, 'inquire', 'pending', null, 'pending_too_long');
select largesse.operation_apply_again(array[c.activity_id], array[c.id]) from probe.claim(11) c;
select probe.expect('a person sent it round again', probe.waited(11), '0');
select probe.settle(11, 4, 'inquire', 'pending');
update largesse.claim set pending_since = now() - interval '30 minutes' where user_id = 11;
select probe.expect('said again', probe.waited(11), '30');
select probe.settle(11, 5, 'inquire', 'retry');
select probe.expect('certainly not delivered', probe.waited(11), '0');
