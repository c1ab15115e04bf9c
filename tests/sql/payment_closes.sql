-- SPDX-License-Identifier: Apache-2.0
-- Orders that nobody paid are closed at their provider: when that may be, what each answer brings, and what comes after it.
\ir parts/payment_probe.sql

-- Whether an order may be closed, as a fulfiller is told with the claim that it takes.
create function probe.take_to_close(i_id bigint) returns text language sql as $$
  select coalesce((select t.doing || case when t.may_act then ' may act' else '' end || case when t.may_close then ' may close' else '' end
    from largesse.claim_take(probe.key(i_id), array[i_id], array[(probe.claim(i_id)).attempts], '10 s', '4 s', 'bank') t), 'nothing')
$$;
create function probe.closed(i_id bigint) returns text language sql as $$
  select probe.state(i_id) || case when c.payment_closed_at is null then '' else ' closed' end from probe.claim(i_id) c
$$;

-- --- when

do $$
declare
  v_id     bigint := probe.hold('given', array[nextval('numbers')]);
  v_gone   bigint := probe.hold('given', array[nextval('numbers')]);
  v_given  bigint := probe.hold('given', array[nextval('numbers')]);
  v_lost   bigint := probe.hold('given', array[nextval('numbers')]);
  v_unsent bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.expect('to be charged', probe.take_to_close(v_id), 'charge may act');
  perform probe.settle(v_id, 'charge', 'pending');
  perform probe.expect('while the hold lives', probe.take_to_close(v_id), 'inquire_charge may act');
  perform probe.expect('nobody may end it then', probe.settle(v_id, 'close', 'done'), 'nothing');
  perform probe.expect('nor by another answer', probe.settle(v_id, 'close', 'refused', 'charge_pending_too_long'), 'nothing');
  perform probe.expect('it is held', probe.closed(v_id), 'held pending - inquire_charge later - held 1');
  perform probe.settle(v_id, 'inquire_charge', 'pending');
  -- Its time is over, but it has its numbers still: whoever ends the hold makes it due again.
  perform probe.end_hold(v_id);
  perform probe.expect('not before the number is back', probe.take_to_close(v_id), 'inquire_charge');
  perform probe.settle(v_id, 'inquire_charge', 'pending');
  perform probe.expire(v_id);
  perform probe.expect('due at once', probe.state(v_id), 'expired pending - inquire_charge now - free 0');
  perform probe.expect('when it has ended', probe.take_to_close(v_id), 'inquire_charge may close');

  perform probe.call(v_given, 'charge', 'pending');
  perform largesse.claim_move(probe.key(v_given), array[v_given], 'cancelled', null, null, null);
  perform probe.expect('given up by the user', probe.take_to_close(v_given), 'inquire_charge may close');
  perform probe.take(v_lost);
  perform probe.expire(v_lost);
  update largesse.claim set lease_until = now() where id = v_lost;
  perform probe.expect('nothing was heard of the charge', probe.take_to_close(v_lost), 'inquire_charge may close');
  -- What is paid, or was never asked for, has no order to be closed.
  perform probe.call(v_gone, 'charge', 'done');
  perform probe.expect('paid', probe.take_to_close(v_gone), 'nothing');
  perform probe.expire(v_unsent);
  perform probe.expect('never asked for', probe.take_to_close(v_unsent), 'nothing');
end $$;

-- --- every answer

-- A claim whose hold ended, taken, and settled twice by what closing its order brought (the second time changes nothing).
create function probe.after_close(i_payment text, i_outcome text, i_review text) returns text language plpgsql as $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  if i_payment = 'due' then
    perform probe.take(v_id);
    perform probe.expire(v_id);
    update largesse.claim set lease_until = now() where id = v_id;
  else
    perform probe.call(v_id, 'charge', i_payment);
    perform probe.expire(v_id);
  end if;
  perform probe.expect('taken', probe.take_to_close(v_id), 'inquire_charge may close');
  perform probe.settle(v_id, 'close', i_outcome, i_review);
  perform probe.settle(v_id, 'close', i_outcome, i_review);
  perform probe.expect('written down', (select t.outcome || ' ' || t.provider from largesse.attempt t where t.claim_id = v_id and t.step = 'close'), i_outcome || ' bank');
  return probe.closed(v_id) || ' ' || probe.letters(v_id);
end $$;
select probe.expect(concat_ws(' ', payment, outcome, review), probe.after_close(payment, outcome, review), expected) from (values
  ('pending', 'done', null, 'expired closed - inquire_charge never - free 0 closed none'),
  ('unknown', 'done', null, 'expired closed - inquire_charge never - free 0 closed none'),
  ('due', 'done', null, 'expired closed - inquire_charge never - free 0 closed none'),
  ('pending', 'refused', null, 'expired pending - inquire_charge later - free 0 none'),
  ('pending', 'retry', null, 'expired pending - inquire_charge later - free 0 none'),
  ('pending', 'unknown', null, 'expired pending - inquire_charge later - free 0 none'),
  ('unknown', 'unknown', null, 'expired unknown - inquire_charge later - free 0 none'),
  ('due', 'refused', null, 'expired due - inquire_charge later - free 0 none'),
  ('pending', 'refused', 'charge_pending_too_long', 'expired pending - inquire_charge never charge_pending_too_long free 0 bank:charge_pending_too_long'),
  ('pending', 'unknown', 'charge_pending_too_long', 'expired pending - inquire_charge never charge_pending_too_long free 0 bank:charge_pending_too_long')
) as t(payment, outcome, review, expected);

-- Takes a claim: how often it was tried, and whether patience runs since then.
create function probe.tries(i_id bigint, i_since timestamptz) returns text language sql as $$
  select t.tries || ' ' || (t.wanted_at = i_since) from largesse.claim_take(probe.key(i_id), array[i_id], array[(probe.claim(i_id)).attempts], '10 s', '4 s', 'bank') t
$$;
-- Patience runs from the end of the hold, and goes on through answers that do not close it; the tries are counted until the provider says "pending" once more.
do $$
declare
  v_id    bigint := probe.hold('given', array[nextval('numbers')]);
  v_since timestamptz;
begin
  perform probe.call(v_id, 'charge', 'pending');
  perform probe.expire(v_id);
  v_since := (probe.claim(v_id)).pending_since;
  perform probe.expect('from the end of the hold', (v_since is not null)::text, 'true');
  for i in 1 .. 3 loop
    perform probe.expect('tries', probe.tries(v_id, v_since), i || ' true');
    perform probe.settle(v_id, 'close', (array['refused', 'retry', 'unknown'])[i]);
  end loop;
  perform probe.call(v_id, 'inquire_charge', 'pending');
  perform probe.expect('anew', probe.tries(v_id, v_since), '1 true');
end $$;

-- Both calls under one lease are written down.
do $$
declare
  v_id bigint := probe.hold('given', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'pending');
  perform probe.expire(v_id);
  perform probe.take(v_id);
  perform largesse.claim_settle(probe.key(v_id), array[v_id], array[2], array[2], array['close'], array['done'], array['bank'], array[204], array[null::text], array[null::text], array[null::text], array[now()],
    array[1000::bigint], array[0::bigint], array[null::text], array[null::bigint], array['POST …'], array['HTTP 204'],
    jsonb_build_array(jsonb_build_object('a', (probe.claim(v_id)).activity_id, 'c', v_id, 'attempt', 2, 'call', 1, 'step', 'inquire_charge', 'provider', 'bank', 'started_us', 1, 'duration_us', 1, 'outcome', 'pending')));
  perform probe.expect('calls', (select string_agg(t.step || ' ' || t.outcome, ',' order by t.attempt, t.call) from largesse.attempt t where t.claim_id = v_id),
                       'charge pending,inquire_charge pending,close done');
  perform probe.expect('shown', (select (d -> 'payment') - 'requestId' - 'closedAt' - 'url' - 'ref' || jsonb_build_object('closed', d #>> '{payment,closedAt}' = largesse.time_text(c.payment_closed_at))
    from probe.claim(v_id) c, lateral (select largesse.claim_json(c, 'given')::jsonb as d) j)::text, '{"closed": true, "status": "closed"}');
  perform probe.expect('told in its trail', (select count(*) from largesse.claim c, jsonb_array_elements(largesse.claim_trail(c.activity_id, c.id, 100)::jsonb -> 'items') i
    where c.id = v_id and i ->> 'text' = 'its order was closed unpaid at its provider')::text, '1');
  perform probe.expect('nothing more', probe.take_to_close(v_id), 'nothing');
end $$;

-- --- refused: the provider is asked, and it was paid

do $$
declare
  v_id bigint := probe.hold('back', array[nextval('numbers')]);
begin
  perform probe.call(v_id, 'charge', 'pending');
  perform probe.expire(v_id);
  perform probe.take(v_id);
  perform probe.expect('paid at the last moment', probe.settle(v_id, 'close', 'refused'), 'expired');
  perform probe.expect('asked', probe.call(v_id, 'inquire_charge', 'done'), 'expired');
  perform probe.expect('as every late payment', probe.state(v_id), 'expired done owed refund now - free 0');
end $$;

-- --- between the call and its settling

do $$
declare
  v_paid   bigint := probe.hold('back', array[nextval('numbers')]);
  v_killed bigint := probe.hold('given', array[nextval('numbers')]);
  v_told   bigint := probe.hold('given', array[nextval('numbers')]);
begin
  -- It is paid while it is being closed: that is true whatever the provider said of closing.
  perform probe.call(v_paid, 'charge', 'pending'); perform probe.expire(v_paid); perform probe.take(v_paid);
  perform probe.expect('paid meanwhile', probe.tell(v_paid, 'charge', 'done', 'p1'), 'owes_refund');
  perform probe.expect('closed too late', probe.settle(v_paid, 'close', 'done'), 'nothing');
  perform probe.expect('paid it is', probe.closed(v_paid), 'expired done owed refund now - free 0');
  -- Whoever closed it was killed: nobody knows, and the next one asks. The provider says that it is closed, or closes it again; the first one's answer comes too late.
  perform probe.call(v_killed, 'charge', 'pending'); perform probe.expire(v_killed); perform probe.take(v_killed);
  update largesse.claim set lease_until = now() where id = v_killed;
  perform probe.expect('the next one', probe.take_to_close(v_killed), 'inquire_charge may close');
  perform probe.expect('the first one''s', probe.settle(v_killed, 'close', 'done', null, 2), 'nothing');
  perform probe.expect('its own', probe.settle(v_killed, 'inquire_charge', 'refused'), 'expired');
  perform probe.expect('ended', probe.closed(v_killed), 'expired refused - inquire_charge never - free 0');
  -- The provider tells of the closing before the call has returned.
  perform probe.call(v_told, 'charge', 'pending'); perform probe.expire(v_told); perform probe.take(v_told);
  perform probe.expect('told', probe.tell(v_told, 'charge', 'refused', 'p2'), 'inquires');
  perform probe.expect('returned', probe.settle(v_told, 'close', 'done'), 'expired');
  perform probe.expect('once', probe.closed(v_told), 'expired closed - inquire_charge never - free 0 closed');
  perform probe.expect('told again', probe.tell(v_told, 'charge', 'refused', 'p3') || ' ' || probe.closed(v_told), 'ignored expired closed - inquire_charge never - free 0 closed');
end $$;

-- --- paid after all: a fault of the provider, and a late payment

create function probe.closed_claim(i_code text, i_numbers bigint[]) returns bigint language plpgsql as $$
declare
  v_id bigint := probe.hold(i_code, i_numbers);
begin
  perform probe.call(v_id, 'charge', 'pending');
  perform probe.expire(v_id);
  perform probe.take(v_id);
  perform probe.expect('closed', probe.settle(v_id, 'close', 'done'), 'expired');
  return v_id;
end $$;
do $$
declare
  v_again bigint := probe.closed_claim('given', array[nextval('numbers')]);
  v_back  bigint := probe.closed_claim('back', array[nextval('numbers')]);
  v_asked bigint := probe.closed_claim('asked', array[nextval('numbers')]);
  v_lost  bigint := probe.closed_claim('given', array[666]);
  v_owner bigint := probe.hold('given', array[666]);
  v_wrong bigint := probe.closed_claim('given', array[nextval('numbers')]);
begin
  perform probe.expect('free: given again', probe.tell(v_again, 'charge', 'done', 'q1', true, 500) || ' ' || probe.closed(v_again), 'applied issuing done - deliver now - sold 1 closed');
  perform probe.expect('paid back', probe.tell(v_back, 'charge', 'done', 'q2', true, 500) || ' ' || probe.closed(v_back), 'owes_refund expired done owed refund now - free 0 closed');
  perform probe.expect('and once', probe.call(v_back, 'refund', 'done') || ' ' || probe.tell(v_back, 'charge', 'done', 'q3', true, 500), 'expired ignored');
  perform probe.expect('a person', probe.tell(v_asked, 'charge', 'done', 'q4', true, 500) || ' ' || probe.letters(v_asked), 'paid_late bank:late_payment');
  perform probe.expect('another''s by now', probe.tell(v_lost, 'charge', 'done', 'q5', true, 500) || ' ' || probe.closed(v_lost), 'owes_refund expired done owed refund now - free 0 closed');
  perform probe.expect('who has it', probe.state(v_owner), 'held due - charge now - held 1');
  perform probe.expect('another amount', probe.tell(v_wrong, 'charge', 'done', 'q6', true, 1) || ' ' || probe.closed(v_wrong) || ' ' || probe.letters(v_wrong),
                       'amount_mismatch expired closed - inquire_charge never - free 0 closed none');
  perform probe.expect('a letter all the same', (select count(*) from largesse.dead_letter d where d.cause = 'callback_amount_mismatch' and d.claim_id is null and d.closed_at is null)::text, '1');
end $$;

-- Many at once, of each kind: every claim has its own outcome.
do $$
declare
  v_ids bigint[] := array(select probe.hold('bare', array[n::bigint]) from generate_series(801, 804) n);
  v_key bigint := (probe.claim(v_ids[1])).activity_id;
begin
  for i in 1 .. 4 loop perform probe.call(v_ids[i], 'charge', 'pending'); end loop;
  perform largesse.claim_move(array_fill(v_key, array[4]), v_ids, 'expired', null, null, null);
  perform count(*) from largesse.claim_take(array_fill(v_key, array[4]), v_ids, array_fill(1, array[4]), '10 s', '4 s', 'bank');
  perform largesse.claim_settle(array_fill(v_key, array[4]), v_ids, array_fill(2, array[4]), array[2, 2, 1, 1], array['close', 'close', 'inquire_charge', 'inquire_charge'],
    array['done', 'refused', 'done', 'refused'], array_fill('bank'::text, array[4]), array_fill(200, array[4]), array_fill('r'::text, array[4]), array_fill('X'::text, array[4]), array_fill('x'::text, array[4]),
    array_fill(now(), array[4]), array_fill(1::bigint, array[4]), array_fill(30000::bigint, array[4]), array_fill(null::text, array[4]));
  perform probe.expect('each', (select string_agg(probe.closed(v_ids[i]), ' | ' order by i) from generate_series(1, 4) i),
    'expired closed - inquire_charge never - free 0 closed | expired pending - inquire_charge later - free 0 | succeeded done - - never - sold 1 | expired refused - inquire_charge never - free 0');
end $$;

-- --- the books

-- The row cannot say "closed" without saying when.
do $$
begin
  update largesse.claim set payment_closed_at = null where payment = 'closed';
  raise exception 'a closed payment without its instant';
exception when check_violation then null;
end $$;
-- What is closed is not due any more, whatever its age; what nobody looks at is found.
update largesse.claim set created_at = created_at - interval '2 hours' where payment = 'closed';
select probe.expect('audits', string_agg(f.subject, ',' order by f.subject), null)
  from largesse.activity a cross join lateral (
    select 'nobody ' || n.subject as subject from largesse.audit_claim_nobody_will_look_at(a.id) n
    union all select 'open ' || n.subject from largesse.audit_claim_payment_open_too_long(a.id) n
    union all select 'paid ' || n.subject from largesse.audit_claim_paid_but_ended(a.id) n
    union all select 'sold ' || n.subject from largesse.audit_claim_sold_without_payment(a.id) n
    union all select 'row ' || n.subject from largesse.audit_claim_row_not_legal(a.id) n) f;
do $$
begin
  update largesse.claim set next_attempt_at = now() where id = (select min(c.id) from largesse.claim c where c.payment = 'closed');
  perform probe.expect('due although it is closed', (select count(*) from largesse.activity a cross join lateral largesse.audit_claim_nobody_will_look_at(a.id))::text, '1');
  update largesse.claim set next_attempt_at = null where payment = 'closed';
end $$;
-- In a statement: a payment of what was closed did not happen, as far as we know; one that was paid after all did.
select probe.expect('state of the payment', string_agg(distinct c.payment || ' ' || largesse.claim_payment_state(c), ',' order by c.payment || ' ' || largesse.claim_payment_state(c)), 'closed not,done done')
  from largesse.claim c where c.payment_closed_at is not null;
