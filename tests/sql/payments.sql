-- SPDX-License-Identifier: Apache-2.0
-- Payments: every step of a charge and a refund with every outcome; paid in time, too late, never; who gets the numbers and the money (B10, B11, B14, B40).
\ir parts/payment_probe.sql

-- --- every step with every outcome

-- Brings a new claim to where the step is done, settles it twice (the second time changes nothing), and says where it stands.
create function probe.after(i_code text, i_step text, i_outcome text, i_review text default null, i_ended boolean default false) returns text language plpgsql as $$
declare
  v_id bigint := probe.hold(i_code, array[nextval('numbers')]);
begin
  if i_step = 'inquire_charge' then perform probe.call(v_id, 'charge', 'unknown'); end if;
  if i_step in ('refund', 'inquire_refund') then
    perform probe.call(v_id, 'charge', 'done');
    perform largesse.claim_move(probe.key(v_id), array[v_id], case when (probe.claim(v_id)).reward_id is null then 'rolled_back' else 'failed' end, null, null, null);
    if i_step = 'inquire_refund' then perform probe.call(v_id, 'refund', 'unknown'); end if;
  end if;
  perform probe.expect('taken for ' || i_step, split_part(probe.take(v_id), ' ', 1), i_step);
  if i_ended then perform probe.expire(v_id); end if;
  perform probe.settle(v_id, i_step, i_outcome, i_review);
  perform probe.settle(v_id, i_step, i_outcome, i_review, (probe.claim(v_id)).attempts);
  return probe.state(v_id);
end $$;
select probe.expect(code || ' ' || step || ' ' || outcome || ' ' || coalesce(review, '') || case when ended then ' ended' else '' end, probe.after(code, step, outcome, review, ended), expected) from (values
  ('given', 'charge', 'done', null, false, 'issuing done - deliver now - sold 1'),
  ('bare', 'charge', 'done', null, false, 'succeeded done - - never - sold 1'),
  ('given', 'charge', 'pending', null, false, 'held pending - inquire_charge later - held 1'),
  ('given', 'charge', 'retry', null, false, 'held retry - charge later - held 1'),
  ('given', 'charge', 'retry', 'charge_attempts_used_up', false, 'held retry - charge never charge_attempts_used_up held 1'),
  ('given', 'charge', 'refused', null, false, 'expired refused - inquire_charge never - free 0'),
  ('given', 'charge', 'unknown', null, false, 'held unknown - inquire_charge later - held 1'),
  ('given', 'charge', 'unknown', 'charge_unknown', false, 'held unknown - inquire_charge never charge_unknown held 1'),
  ('given', 'inquire_charge', 'done', null, false, 'issuing done - deliver now - sold 1'),
  ('given', 'inquire_charge', 'pending', null, false, 'held pending - inquire_charge later - held 1'),
  ('given', 'inquire_charge', 'refused', null, false, 'expired refused - inquire_charge never - free 0'),
  ('given', 'inquire_charge', 'unknown', null, false, 'held unknown - inquire_charge later - held 1'),
  ('given', 'inquire_charge', 'not_found', null, false, 'held retry - charge later - held 1'),
  -- The hold ends while the call is under way: what certainly was not charged never will be, else the provider is asked on.
  ('given', 'charge', 'retry', null, true, 'expired void - charge never - free 0'),
  ('given', 'charge', 'retry', 'charge_attempts_used_up', true, 'expired void - charge never - free 0'),
  ('given', 'charge', 'refused', null, true, 'expired refused - inquire_charge never - free 0'),
  ('given', 'charge', 'pending', null, true, 'expired pending - inquire_charge later - free 0'),
  ('given', 'charge', 'unknown', null, true, 'expired unknown - inquire_charge later - free 0'),
  ('given', 'charge', 'done', null, true, 'issuing done - deliver now - sold 1'),
  ('back', 'charge', 'done', null, true, 'expired done owed refund now - free 0'),
  ('given', 'inquire_charge', 'not_found', null, true, 'expired void - charge never - free 0'),
  ('given', 'inquire_charge', 'pending', 'charge_pending_too_long', true, 'expired pending - inquire_charge never charge_pending_too_long free 0'),
  ('given', 'refund', 'done', null, false, 'failed done done inquire_refund never - free 0'),
  ('bare', 'refund', 'done', null, false, 'rolled_back done done inquire_refund never - free 0'),
  ('given', 'refund', 'pending', null, false, 'failed done pending inquire_refund later - free 0'),
  ('given', 'refund', 'retry', null, false, 'failed done retry refund later - free 0'),
  ('given', 'refund', 'refused', null, false, 'failed done refused refund never refund_refused free 0'),
  ('given', 'refund', 'not_found', null, false, 'failed done refused refund never refund_not_found free 0'),
  ('given', 'refund', 'unknown', null, false, 'failed done unknown inquire_refund later - free 0'),
  ('given', 'refund', 'unknown', 'refund_unknown', false, 'failed done unknown inquire_refund never refund_unknown free 0'),
  ('given', 'inquire_refund', 'done', null, false, 'failed done done inquire_refund never - free 0'),
  ('given', 'inquire_refund', 'pending', null, false, 'failed done pending inquire_refund later - free 0'),
  ('given', 'inquire_refund', 'unknown', null, false, 'failed done unknown inquire_refund later - free 0'),
  ('given', 'inquire_refund', 'refused', null, false, 'failed done refused refund never refund_refused free 0')
) as t(code, step, outcome, review, ended, expected);

-- --- in time

do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers'), nextval('numbers')]);
  v_a  bigint := (select id from largesse.activity where code = 'given');
begin
  -- Each step goes through the lane of those it speaks to, and through no other.
  perform probe.expect('other lane', probe.take(v_id, 'wallet'), 'nothing');
  perform probe.expect('swept to', (select provider from largesse.claim_sweep(1000, '-infinity', '10 s', '{}') where claim_id = v_id), 'bank');
  perform probe.expect('swept once', (select count(*) from largesse.claim_sweep(1000, '-infinity', '10 s', '{}') where claim_id = v_id)::text, '0');
  perform probe.expect('amount of one, and how many', (select concat_ws(' ', t.doing, t.amount, t.currency, t.quantity, t.reward_code, t.may_act)
    from largesse.claim_take(array[v_a], array[v_id], array[0], '10 s', '4 s', 'bank') t), 'charge 500 CNY 2 given t');
  perform probe.settle(v_id, 'charge', 'pending');
  perform probe.expect('where to pay', (select concat_ws(' ', c.payment_url, c.payment_ref, c.outcome, c.provider_ref) from probe.claim(v_id) c), 'https://pay.example/1 ref-1');
  perform probe.expect('asked', probe.call(v_id, 'inquire_charge', 'pending'), 'held');
  perform probe.expect('patience begins with the end of the hold', (select (t.wanted_at = c.deadline)::text from probe.claim(v_id) c,
    largesse.claim_take(array[v_a], array[v_id], array[c.attempts], '10 s', '4 s', 'bank') t), 'true');
  perform probe.expect('paid', probe.settle(v_id, 'inquire_charge', 'done'), 'issuing');
  perform probe.expect('a ladder of its own', (select (c.attempts - c.attempts_before) || ' ' || coalesce(c.outcome, '-') || ' ' || coalesce(c.deadline::text, '-') from probe.claim(v_id) c), '0 - -');
  perform probe.expect('the reward''s lane now', probe.take(v_id, 'bank'), 'nothing');
  perform probe.expect('delivered', probe.take(v_id, 'wallet'), 'deliver 4');
  -- Late news of calls that were made before changes nothing.
  perform probe.expect('late answer', probe.settle(v_id, 'charge', 'pending', null, 1), 'nothing');
  perform probe.expect('late refusal', probe.settle(v_id, 'charge', 'refused', null, 1), 'nothing');
  perform probe.expect('late success', probe.settle(v_id, 'charge', 'done', null, 1), 'nothing');
  perform probe.expect('still', probe.state(v_id), 'issuing done - inquire later - sold 2');
  perform probe.expect('done', probe.settle(v_id, 'deliver', 'done'), 'succeeded');
  perform probe.expect('references of both', (select c.payment_ref || ' ' || c.provider_ref from probe.claim(v_id) c), 'ref-1 ref-1');
  -- B40: a failure that is told of what is paid moves nothing and is kept.
  perform probe.expect('B40', probe.tell(v_id, 'charge', 'refused', 'b40'), 'contradicts');
  perform probe.expect('B40 state', probe.state(v_id), 'succeeded done - inquire never - sold 2');
end $$;

-- A charge is not begun behind the deadline; an inquiry is, but nothing is charged behind it.
do $$
declare
  v_id  bigint := probe.hold('given', array[nextval('numbers')]);
  v_asked bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.end_hold(v_id);
  perform probe.expect('no charge', probe.take(v_id), 'nothing');
  perform probe.expire(v_id);
  perform probe.expect('never asked for', probe.state(v_id), 'expired void - charge never - free 0');
  perform probe.expect('nor now', probe.take(v_id), 'nothing');
  perform probe.call(v_asked, 'charge', 'unknown');
  perform probe.end_hold(v_asked);
  perform probe.expect('asked only', probe.take(v_asked), 'inquire_charge 2 unwanted');
end $$;

-- B10 and B14: three numbers fail together and are all free; the allowance is back, for the same user and for others.
do $$
declare
  v_before bigint := (select s.remaining from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'bare');
  v_user   bigint := nextval('users');
  v_id     bigint := probe.hold('bare', array[901, 902, 903], v_user);
begin
  perform probe.expect('refused', probe.call(v_id, 'charge', 'refused'), 'expired');
  perform probe.expect('free', (select string_agg(n.status, ',') from largesse.activity_number n join largesse.activity a on a.id = n.activity_id where a.code = 'bare' and n.number in (901, 902, 903)),
                       'available,available,available');
  perform probe.expect('stock', (select s.remaining - v_before from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'bare')::text, '0');
  perform probe.expect('why', (select c.failure_code || ' ' || c.failure_detail from probe.claim(v_id) c), 'X1 detail 17');
  v_id := probe.hold('bare', array[901, 902, 903], v_user);
  perform probe.expect('again', probe.call(v_id, 'charge', 'done'), 'succeeded');
  perform probe.expect('sold', probe.state(v_id), 'succeeded done - - never - sold 3');
end $$;

-- --- callbacks

do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.expect('before anything was asked for', probe.tell(v_id, 'charge', 'done', 'c0'), 'unmatched');
  perform probe.expect('a refund that nobody asked for', probe.tell(v_id, 'refund', 'done', 'c1'), 'unmatched');
  perform probe.take(v_id);
  perform probe.expect('before the call returned', probe.tell(v_id, 'charge', 'done', 'c2', true, 500, now()), 'applied');
  perform probe.expect('paid', probe.state(v_id), 'issuing done - deliver now - sold 1');
  perform probe.expect('the call returns', probe.settle(v_id, 'charge', 'pending'), 'nothing');
  perform probe.expect('twice', probe.tell(v_id, 'charge', 'done', 'c2', true, 500, now()), 'duplicate');
  perform probe.expect('by another event', probe.tell(v_id, 'charge', 'done', 'c3', true, 500, now()), 'ignored');
  perform probe.expect('out of order', probe.tell(v_id, 'charge', 'refused', 'c4', true, null, now() - interval '1 minute'), 'stale');
  perform probe.expect('still', probe.state(v_id), 'issuing done - deliver now - sold 1');
end $$;
-- A failure is believed where no call can be running that could still take effect, and nobody can say more; else somebody asks.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.take(v_id);
  perform probe.expect('while a call is under way', probe.tell(v_id, 'charge', 'refused', 'd1'), 'inquires');
  perform probe.settle(v_id, 'charge', 'pending');
  perform probe.expect('asked at once', probe.state(v_id), 'held pending - inquire_charge now - held 1');
  perform probe.expect('not trusted yet', probe.tell(v_id, 'charge', 'refused', 'd2'), 'inquires');
  update largesse.claim set trust_after = clock_timestamp() where id = v_id;
  perform probe.expect('believed', probe.tell(v_id, 'charge', 'refused', 'd3'), 'applied');
  perform probe.expect('ended', probe.state(v_id) || ' ' || (probe.claim(v_id)).failure_code, 'expired refused - inquire_charge never - free 0 F1');
  -- The person pays after all: that is late, and given again, for nobody has taken the number.
  perform probe.expect('paid after all', probe.tell(v_id, 'charge', 'done', 'd4'), 'applied');
  perform probe.expect('given again', probe.state(v_id), 'issuing done - deliver now - sold 1');
  perform probe.expect('without a failure', coalesce((probe.claim(v_id)).failure_code, 'none'), 'none');
end $$;
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'unknown', 'charge_unknown');
  perform probe.expect('letter', probe.letters(v_id), 'bank:charge_unknown');
  perform probe.expect('a person need not look', probe.tell(v_id, 'charge', 'refused', 'e1'), 'inquires');
  perform probe.expect('asked', probe.state(v_id) || ' ' || probe.letters(v_id), 'held unknown - inquire_charge now - held 1 bank:charge_unknown=retried');
  update largesse.claim set trust_after = null where id = v_id;
  perform probe.expect('nobody can be asked', probe.tell(v_id, 'charge', 'refused', 'e2', false), 'applied');
end $$;
-- Another amount than price times quantity proves nothing.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers'), nextval('numbers')]);
begin
  perform probe.take(v_id);
  perform probe.expect('price of one', probe.tell(v_id, 'charge', 'done', 'f1', true, 500), 'amount_mismatch');
  perform probe.expect('a person', probe.state(v_id) || ' ' || probe.letters(v_id), 'held due - inquire_charge never callback_amount_mismatch held 2 bank:callback_amount_mismatch');
  perform probe.expect('the right one', probe.tell(v_id, 'charge', 'done', 'f2', true, 1000), 'applied');
  perform probe.expect('paid', probe.state(v_id) || ' ' || probe.letters(v_id), 'issuing done - deliver now - sold 2 none');
  perform probe.expect('the letter stays', (select count(*) from largesse.dead_letter where cause = 'callback_amount_mismatch' and closed_at is null)::text, '1');
end $$;
-- Refunds.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'done');
  perform largesse.claim_move(probe.key(v_id), array[v_id], 'failed', null, array['X'], null);
  perform probe.expect('owed', probe.state(v_id), 'failed done owed refund now - free 0');
  perform probe.take(v_id);
  perform probe.expect('said to have failed', probe.tell(v_id, 'refund', 'refused', 'g1'), 'inquires');
  perform probe.expect('before the call returned', probe.tell(v_id, 'refund', 'done', 'g2'), 'applied');
  perform probe.expect('the call returns', probe.settle(v_id, 'refund', 'unknown'), 'nothing');
  perform probe.expect('done', probe.state(v_id), 'failed done done inquire_refund never - free 0');
  perform probe.expect('twice', probe.tell(v_id, 'refund', 'done', 'g3'), 'ignored');
  perform probe.expect('said to have failed after all', probe.tell(v_id, 'refund', 'refused', 'g4'), 'contradicts');
  perform probe.expect('the charge too', probe.tell(v_id, 'charge', 'refused', 'g5'), 'ignored');
  perform probe.expect('no other one', probe.tell(v_id, 'charge', 'done', 'g6') || ' ' || probe.state(v_id), 'ignored failed done done inquire_refund never - free 0');
end $$;

-- --- too late

-- B11: A's hold ended and B bought the number; A pays after that. One owner, one refund, however often it is told.
do $$
declare
  v_a bigint := probe.hold('given', array[777]);
  v_b bigint;
begin
  perform probe.call(v_a, 'charge', 'pending');
  perform probe.expire(v_a);
  v_b := probe.hold('given', array[777]);
  perform probe.call(v_b, 'charge', 'done');
  perform probe.expect('A pays', probe.tell(v_a, 'charge', 'done', 'h1'), 'owes_refund');
  perform probe.expect('A', probe.state(v_a), 'expired done owed refund now - free 0');
  perform probe.expect('B', probe.state(v_b), 'issuing done - deliver now - sold 1');
  perform probe.expect('A''s inquiry says so too', probe.settle(v_a, 'inquire_charge', 'done', null, 1), 'nothing');
  perform probe.expect('A again', probe.tell(v_a, 'charge', 'done', 'h2'), 'ignored');
  -- A's payment is told to have failed: that moves neither A's refund nor B's number.
  perform probe.expect('A failed', probe.tell(v_a, 'charge', 'refused', 'h3'), 'ignored');
  perform probe.expect('refunded', probe.call(v_a, 'refund', 'done'), 'expired');
  perform probe.expect('once', probe.take(v_a), 'nothing');
  perform probe.expect('A ends', probe.state(v_a), 'expired done done inquire_refund never - free 0');
  perform probe.expect('and is told of it once', (select string_agg(e.type, ',' order by e.id) from largesse.event_out e where (select activity_id || '-' || v_a from probe.claim(v_a)) = any (e.subjects)),
                       'claim.expired,claim.refunded');
  perform probe.expect('as it is now', (select (e.docs[1]::jsonb -> 'refund') - 'since' - 'doneAt' from largesse.event_out e where e.type = 'claim.refunded' and (select activity_id || '-' || v_a from probe.claim(v_a)) = any (e.subjects))::text,
                       (select format('{"status": "done", "requestId": "%s-%s-f"}', activity_id, v_a) from probe.claim(v_a)));
  perform probe.expect('B''s', (select string_agg(n.status || ' ' || (n.claim_id = v_b), ',') from largesse.activity_number n join largesse.activity a on a.id = n.activity_id where a.code = 'given' and n.number = 777), 'sold true');
end $$;

-- A hold that has run out is late although nobody has ended it yet, whoever tells.
do $$
declare
  v_back bigint := probe.hold('back', array[nextval('numbers')]);
  v_give bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_back, 'charge', 'pending'); perform probe.end_hold(v_back);
  perform probe.expect('late', probe.tell(v_back, 'charge', 'done', 'i1'), 'owes_refund');
  perform probe.expect('back', probe.state(v_back), 'expired done owed refund now - free 0');
  perform probe.call(v_give, 'charge', 'pending'); perform probe.end_hold(v_give);
  perform probe.expect('late and given', probe.call(v_give, 'inquire_charge', 'done'), 'issuing');
  perform probe.expect('given', probe.state(v_give), 'issuing done - deliver now - sold 1');
end $$;

-- All of the purchase or nothing, and under all rules.
create function probe.late(i_before text, i_numbers bigint[] default null, i_how text default 'expired') returns text language plpgsql as $$
declare
  v_numbers bigint[] := coalesce(i_numbers, array[nextval('numbers'), nextval('numbers')]);
  v_id      bigint := probe.hold('given', v_numbers);
  v_result  text;
begin
  perform probe.call(v_id, 'charge', 'pending');
  perform largesse.claim_move(probe.key(v_id), array[v_id], i_how, null, null, null);
  begin
    execute replace(replace(i_before, '$user', (probe.claim(v_id)).user_id::text), '$number', v_numbers[2]::text);
    perform probe.call(v_id, 'inquire_charge', 'done');
    v_result := probe.state(v_id);
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
  return v_result;
end $$;
select probe.expect(what, probe.late(before, null, how), expected) from (values
  ('nothing against it', 'select 1', 'expired', 'issuing done - deliver now - sold 2'),
  ('one of the numbers is taken', 'select probe.hold(''given'', array[$number])', 'expired', 'expired done owed refund now - free 0'),
  ('the allowance is used', 'select probe.hold(''given'', array[991, 992], $user)', 'expired', 'expired done owed refund now - free 2'),
  ('some of it is used', 'select probe.hold(''given'', array[991], $user)', 'expired', 'issuing done - deliver now - sold 3'),
  ('no stock', 'update largesse.stock set remaining = 1', 'expired', 'expired done owed refund now - free 0'),
  ('paused', 'update largesse.activity set status = ''paused''', 'expired', 'expired done owed refund now - free 0'),
  ('its end has passed', 'update largesse.activity set end_at = now() - interval ''1 s'', start_at = now() - interval ''1 h''', 'expired', 'expired done owed refund now - free 0'),
  ('it was cancelled', 'select 1', 'cancelled', 'cancelled done owed refund now - free 0')) as t(what, before, how, expected);

-- Who cancels while the charge is under way gets back what was charged.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.take(v_id);
  perform largesse.claim_move(probe.key(v_id), array[v_id], 'cancelled', null, null, null);
  perform probe.expect('under way', probe.state(v_id), 'cancelled due - inquire_charge later - free 0');
  perform probe.expect('leased', probe.take(v_id), 'nothing');
  perform probe.expect('it was not heard of', probe.settle(v_id, 'charge', 'unknown'), 'cancelled');
  perform probe.expect('asked on', probe.state(v_id), 'cancelled unknown - inquire_charge later - free 0');
  perform probe.expect('unwanted', probe.take(v_id), 'inquire_charge 2 unwanted');
  perform probe.expect('it was charged', probe.settle(v_id, 'inquire_charge', 'done'), 'cancelled');
  perform probe.expect('back', probe.call(v_id, 'refund', 'done') || ' ' || probe.state(v_id), 'cancelled cancelled done done inquire_refund never - free 0');
end $$;

-- Several at once, of one activity: each for itself.
do $$
declare
  v_ids bigint[];
  v_a   bigint := (select id from largesse.activity where code = 'given');
begin
  v_ids := array(select probe.hold('given', array[n]) from generate_series(801, 804) n);
  for i in 1 .. 4 loop perform probe.call(v_ids[i], 'charge', 'pending'); end loop;
  perform probe.end_hold(v_ids[2]);
  perform probe.expire(v_ids[3]);
  perform probe.hold('given', array[803]);
  perform probe.expire(v_ids[4]);
  perform probe.expect('all', (select string_agg(p.status, ',' order by p.claim_id) from largesse.claim_paid(array_fill(v_a, array[4]), array[v_ids[4], v_ids[1], v_ids[3], v_ids[2]], array_fill(null::text, array[4])) p),
                       'issuing,issuing,expired,issuing');
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select v_a, id, 2, 'inquire_charge', 'bank', now(), 1, 'done' from unnest(v_ids) id;
end $$;
do $$ begin
  perform largesse.claim_paid(array_agg(id), array_agg(1), array_agg(''::text)) from largesse.activity;
  raise exception 'several activities were taken';
exception when invalid_parameter_value then null;
end $$;

-- All audits agree with all that.
do $$
declare
  v_found text := (select string_agg(d.name || ' ' || a.code || ' ' || f.subject || ': ' || f.expected || ' / ' || f.actual, e'\n' order by d.name)
                     from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) f where d.name <> 'claim_succeeded_without_delivery');
begin
  perform probe.expect('audits', v_found, null);
end $$;
