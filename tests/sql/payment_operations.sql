-- SPDX-License-Identifier: Apache-2.0
-- Payments and refunds that machines could not finish, and what people can do about them; what was both delivered and paid; refusals that an activity wants reviewed.
\ir parts/payment_probe.sql

-- A person decides about late payments: give it, or the money back, or it was settled otherwise.
create function probe.operate(i_id bigint, i_kind text, i_proof text default null, i_as_done boolean default true) returns text language plpgsql as $$
declare
  v_op bigint := (select o.operation_id from largesse.operation_begin(i_kind, null, probe.key(i_id), array[i_id], null, null, null, null, 'ann', 'why not', i_proof, i_as_done, 1000, null) o);
  v_preview text := (select doc from largesse.operation_preview(i_kind, null, probe.key(i_id), array[i_id], null, null, null, null, i_proof is not null or not i_as_done));
  v_outcome text := (select s.outcome from largesse.operation_step(v_op, 10) s);
begin
  perform probe.expect('preview of ' || i_kind, v_preview::jsonb #>> '{items,0,outcome}', v_outcome);
  return v_outcome;
end $$;
create function probe.late_for_review(i_number bigint) returns bigint language plpgsql as $$
declare
  v_id bigint := probe.hold('asked', array[i_number]);
begin
  perform probe.call(v_id, 'charge', 'pending');
  perform probe.expire(v_id);
  perform probe.expect('for review', probe.tell(v_id, 'charge', 'done', 'j' || v_id), 'paid_late');
  perform probe.expect('letter', probe.letters(v_id), 'bank:late_payment');
  perform probe.expect('waits', probe.state(v_id), 'expired done - inquire_charge never late_payment free 0');
  perform probe.expect('told again', probe.tell(v_id, 'charge', 'done', 'jj' || v_id), 'ignored');
  return v_id;
end $$;
do $$
declare
  v_id    bigint;
  v_other bigint;
begin
  v_id := probe.hold('asked', array[700]);
  perform probe.call(v_id, 'charge', 'pending');
  perform probe.end_hold(v_id);
  perform probe.expect('an inquiry says so', probe.call(v_id, 'inquire_charge', 'done'), 'expired review late_payment');

  v_id := probe.late_for_review(701);
  perform probe.expect('given', probe.operate(v_id, 'retry') || ' ' || probe.state(v_id) || ' ' || probe.letters(v_id), 'retried issuing done - deliver now - sold 1 bank:late_payment=retried');

  v_id := probe.late_for_review(702);
  v_other := probe.hold('asked', array[702]);
  perform probe.expect('taken meanwhile', probe.operate(v_id, 'retry') || ' ' || probe.letters(v_id), 'not_retryable bank:late_payment');
  perform probe.expect('money back', probe.operate(v_id, 'refund') || ' ' || probe.state(v_id) || ' ' || probe.letters(v_id), 'reversing expired done owed refund now - free 0 bank:late_payment=refunded');
  perform probe.expect('once', probe.operate(v_id, 'refund') || ' ' || probe.call(v_id, 'refund', 'done') || ' ' || probe.take(v_id), 'already_done expired nothing');

  v_id := probe.late_for_review(703);
  perform probe.expect('without proof', probe.operate(v_id, 'resolve'), 'proof_needed');
  perform probe.expect('paid back by hand', probe.operate(v_id, 'resolve', 'slip 7') || ' ' || probe.state(v_id), 'resolved expired done done inquire_charge never - free 0');
  v_id := probe.late_for_review(704);
  perform probe.expect('not paid back', probe.operate(v_id, 'resolve', null, false) || ' ' || probe.state(v_id) || ' ' || probe.letters(v_id),
                       'resolved expired done refused inquire_charge never - free 0 bank:late_payment=resolved');
end $$;

-- Payments of which nobody knows.
create function probe.unknown(i_ended boolean default false) returns bigint language plpgsql as $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  if i_ended then
    perform probe.call(v_id, 'charge', 'unknown');
    perform largesse.claim_move(probe.key(v_id), array[v_id], 'cancelled', null, null, null);
    perform probe.call(v_id, 'inquire_charge', 'unknown', 'charge_unknown');
  else
    perform probe.call(v_id, 'charge', 'unknown', 'charge_unknown');
  end if;
  return v_id;
end $$;
do $$
declare
  v_id bigint;
begin
  v_id := probe.unknown();
  perform probe.expect('again', probe.operate(v_id, 'retry') || ' ' || probe.state(v_id), 'retried held unknown - inquire_charge now - held 1');
  v_id := probe.unknown();
  perform probe.expect('paid', probe.operate(v_id, 'resolve', 'slip 8') || ' ' || probe.state(v_id) || ' ' || (probe.claim(v_id)).payment_ref, 'resolved issuing done - deliver now - sold 1 slip 8');
  v_id := probe.unknown();
  perform probe.expect('not paid', probe.operate(v_id, 'resolve', null, false) || ' ' || probe.state(v_id) || ' ' || (probe.claim(v_id)).failure_code, 'resolved expired refused - inquire_charge never - free 0 NOT_PAID');
  v_id := probe.unknown();
  perform probe.expect('given up', probe.operate(v_id, 'refund') || ' ' || probe.state(v_id), 'reversing cancelled unknown - inquire_charge now - free 0');
  perform probe.expect('and paid', probe.call(v_id, 'inquire_charge', 'done') || ' ' || probe.state(v_id), 'cancelled cancelled done owed refund now - free 0');
  -- The end of the hold ends the wait for a person; if nobody knows then, it is a person's business again.
  v_id := probe.unknown();
  perform probe.expire(v_id);
  perform probe.expect('asked anew', probe.state(v_id) || ' ' || probe.letters(v_id), 'expired unknown - inquire_charge now - free 0 bank:charge_unknown=settled');
  v_id := probe.unknown(true);
  perform probe.expect('nothing to give back that is known', probe.operate(v_id, 'refund'), 'not_refundable');
  perform probe.expect('paid, and owed back', probe.operate(v_id, 'resolve', 'slip 9') || ' ' || probe.state(v_id), 'resolved cancelled done owed refund now - free 0');
  v_id := probe.unknown(true);
  perform probe.expect('never paid', probe.operate(v_id, 'resolve', null, false) || ' ' || probe.state(v_id), 'resolved cancelled refused - inquire_charge never - free 0');
  -- Where a person decides about late payments, "it was paid" is one: it waits for the next decision.
  v_id := probe.hold('asked', array[705]);
  perform probe.call(v_id, 'charge', 'unknown');
  perform probe.expire(v_id);
  perform probe.call(v_id, 'inquire_charge', 'unknown', 'charge_unknown');
  perform probe.expect('paid late', probe.operate(v_id, 'resolve', 'slip 11') || ' ' || probe.state(v_id) || ' ' || probe.letters(v_id),
                       'resolved expired done - inquire_charge never late_payment free 0 bank:charge_unknown=resolved,bank:late_payment');
  perform probe.expect('given', probe.operate(v_id, 'retry') || ' ' || probe.state(v_id), 'retried issuing done - deliver now - sold 1');
  -- Certainly not charged.
  v_id := probe.hold('given', array[nextval('numbers')]);
  perform probe.call(v_id, 'charge', 'retry', 'charge_attempts_used_up');
  perform probe.expect('given up', probe.operate(v_id, 'refund') || ' ' || probe.state(v_id), 'refunded cancelled void - charge never - free 0');
end $$;

-- Refunds that the provider refuses.
create function probe.refused_refund() returns bigint language plpgsql as $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'done');
  perform largesse.claim_move(probe.key(v_id), array[v_id], 'failed', null, array['X'], null);
  perform probe.expect('refused', probe.call(v_id, 'refund', 'refused'), 'failed review refund_refused');
  return v_id;
end $$;
do $$
declare
  v_id bigint := probe.refused_refund();
begin
  perform probe.expect('retried', probe.operate(v_id, 'retry') || ' ' || probe.state(v_id), 'retried failed done refused refund now - free 0');
  perform probe.expect('done', probe.call(v_id, 'refund', 'done') || ' ' || probe.state(v_id) || ' ' || probe.letters(v_id), 'failed failed done done inquire_refund never - free 0 bank:refund_refused=retried');
  v_id := probe.refused_refund();
  perform probe.expect('refund again', probe.operate(v_id, 'refund') || ' ' || probe.state(v_id), 'reversing failed done owed refund now - free 0');
  v_id := probe.refused_refund();
  perform probe.expect('by hand', probe.operate(v_id, 'resolve', 'slip 10') || ' ' || probe.state(v_id), 'resolved failed done done refund never - free 0');
  v_id := probe.refused_refund();
  perform probe.expect('the provider did it after all', probe.tell(v_id, 'refund', 'done', 'k1') || ' ' || probe.state(v_id) || ' ' || probe.letters(v_id),
                       'applied failed done done refund never - free 0 bank:refund_refused=settled');
end $$;

-- --- what was delivered and paid

-- Taken back: the delivery first, then the money, under its own request id; the numbers are free with the first.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform largesse.provider_register('f1', array['wallet'], array[4], array[0], array[true], array[true], array[true]);
  perform probe.call(v_id, 'charge', 'done');
  perform probe.take(v_id, 'wallet');
  perform probe.settle(v_id, 'deliver', 'done');
  perform probe.expect('rolled back', probe.operate(v_id, 'roll_back'), 'reversing');
  update largesse.claim set trust_after = null, next_attempt_at = now() where id = v_id;
  perform probe.expect('taken back', probe.take(v_id, 'wallet') || ' ' || probe.settle(v_id, 'reverse', 'done'), 'reverse 3 rolled_back');
  perform probe.expect('paid back', probe.state(v_id), 'rolled_back done owed refund now - free 0');
  perform probe.expect('end', probe.call(v_id, 'refund', 'done') || ' ' || probe.state(v_id), 'rolled_back rolled_back done done inquire_refund never - free 0');
end $$;
-- Where nothing was delivered, the money goes back at once.
do $$
declare
  v_id bigint := probe.hold('bare', array[nextval('numbers'), nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'done');
  perform probe.expect('rolled back', probe.operate(v_id, 'roll_back') || ' ' || probe.state(v_id), 'rolled_back rolled_back done owed refund now - free 0');
  perform probe.expect('paid back', probe.call(v_id, 'refund', 'done') || ' ' || probe.take(v_id), 'rolled_back nothing');
end $$;
-- A delivery that had failed was made after all while the money is on its way back: that first, then the delivery is taken back.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'done');
  perform probe.take(v_id, 'wallet');
  update largesse.claim set lease_until = now() - interval '1 s' where id = v_id;
  perform probe.take(v_id, 'wallet');
  perform probe.expect('refused', probe.settle(v_id, 'inquire', 'refused'), 'failed');
  perform probe.expect('owed', probe.state(v_id), 'failed done owed refund now - free 0');
  perform probe.expect('refund under way', probe.take(v_id), 'refund 4');
  perform probe.expect('delivered after all', probe.settle(v_id, 'deliver', 'done', null, 2), 'failed');
  perform probe.expect('both', probe.state(v_id) || ' ' || (probe.claim(v_id)).reversal, 'failed done owed inquire_refund later - free 0 owed');
  perform probe.expect('money', probe.settle(v_id, 'refund', 'done'), 'failed');
  perform probe.expect('then the delivery', probe.state(v_id), 'failed done done reverse now - free 0');
  perform probe.expect('taken', probe.take(v_id, 'wallet') || ' ' || probe.settle(v_id, 'reverse', 'done'), 'reverse 5 failed');
  perform probe.expect('end', probe.state(v_id) || ' ' || (probe.claim(v_id)).reversal, 'failed done done inquire_reverse never - free 0 done');
end $$;

-- The same after a person had ended the refund: the delivery is taken back at once. What was never paid was never asked for.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'done');
  perform probe.take(v_id, 'wallet');
  perform largesse.claim_move(probe.key(v_id), array[v_id], 'failed', null, array['X'], null);
  perform probe.expect('refused', probe.call(v_id, 'refund', 'refused'), 'failed review refund_refused');
  perform probe.expect('settled otherwise', probe.operate(v_id, 'resolve', null, false) || ' ' || probe.state(v_id), 'resolved failed done refused refund never - free 0');
  perform probe.expect('delivered after all', (select a.verdict from largesse.claim c, largesse.callback_apply('wallet', 'm1', c.activity_id || '-' || c.id, c.activity_id, c.id, 'deliver', 'done', null, null,
    null, null, null, '{}', null, true) a where c.id = v_id), 'owes_reversal');
  perform probe.expect('taken back', probe.take(v_id, 'wallet') || ' ' || probe.settle(v_id, 'reverse', 'done'), 'reverse 4 failed');
  v_id := probe.hold('given', array[nextval('numbers')]);
  perform probe.call(v_id, 'charge', 'unknown');
  perform probe.expire(v_id);
  perform probe.expect('nobody asked for that', (select a.verdict from largesse.claim c, largesse.callback_apply('wallet', 'm2', c.activity_id || '-' || c.id, c.activity_id, c.id, 'deliver', 'done', null, null,
    null, null, null, '{}', null, true) a where c.id = v_id), 'unmatched');
  perform probe.expect('nothing of it', probe.state(v_id), 'expired unknown - inquire_charge now - free 0');
end $$;

-- An activity that wants it so: what the provider refuses for ever waits for a person, and keeps what it holds.
update largesse.activity set on_refused = 'review' where code = 'given';
do $$
declare
  v_id   bigint := probe.hold('given', array[nextval('numbers')]);
  v_told bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'done');
  perform probe.take(v_id, 'wallet');
  perform probe.expect('refused', probe.settle(v_id, 'deliver', 'refused'), 'issuing review delivery_refused');
  perform probe.expect('kept', probe.state(v_id), 'issuing done - deliver never delivery_refused sold 1');
  perform probe.expect('given up', probe.operate(v_id, 'refund') || ' ' || probe.state(v_id), 'refunded failed done owed refund now - free 0');
  perform probe.call(v_told, 'charge', 'done');
  perform probe.take(v_told, 'wallet');
  perform probe.settle(v_told, 'deliver', 'pending');
  update largesse.claim set trust_after = null where id = v_told;
  perform probe.expect('told', (select a.verdict from largesse.claim c, largesse.callback_apply('wallet', 'l1', c.activity_id || '-' || c.id, c.activity_id, c.id, 'deliver', 'refused', null, 'F1', 'told',
    null, null, '{}', null, true) a where c.id = v_told), 'applied');
  perform probe.expect('kept too', probe.state(v_told) || ' ' || probe.letters(v_told), 'issuing done - deliver never delivery_refused sold 1 wallet:delivery_refused');
  perform probe.expect('again', probe.operate(v_told, 'retry') || ' ' || probe.take(v_told, 'wallet'), 'retried deliver 3');
  perform probe.expect('done', probe.settle(v_told, 'deliver', 'done'), 'succeeded');
end $$;

-- All audits agree with all that.
do $$
declare
  v_found text := (select string_agg(d.name || ' ' || a.code || ' ' || f.subject || ': ' || f.expected || ' / ' || f.actual, e'\n' order by d.name)
                     from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) f where d.name <> 'claim_succeeded_without_delivery');
begin
  perform probe.expect('audits', v_found, null);
end $$;
