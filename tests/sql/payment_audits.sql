-- SPDX-License-Identifier: Apache-2.0
-- Each audit of payments sees the one row that was damaged for it, and nothing else does.
create schema probe;
select largesse.reward_put('probe', 'wallet', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'n', 'name', 'n', 'kind', 'number', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() - interval '1 day', 'endAt', now() + interval '1 day', 'stock', '{"total": 100}'::jsonb, 'limits', '[]'::jsonb,
  'price', '{"amount": 500, "currency": "CNY"}'::jsonb, 'paymentProvider', 'bank', 'holdFor', '15m'), 'test', null);
select largesse.numbers_add('n', null, 1, 100, 'test');
select largesse.activity_action('n', 'publish', 'test', null, null);
select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 12) n), array(select n::bigint from generate_series(1, 12) n), array_fill(2, array[12]),
    array_fill(null::text, array[12]), '5 s', array(select 1 + n / 2 from generate_series(0, 23) n), array(select 1 + n::bigint from generate_series(0, 23) n)) from largesse.activity;
-- Users: 1 delivered, 2 being delivered, 3 paid by callback, 4 held, 5 pending, 6 refused, 7 never asked for, 8 failed and refunded, 9 failed and to be refunded,
-- 10 with a refused refund, 11 resolved as never to be paid back, 12 pending after its hold.
create procedure probe.settle(i_user int, i_step text, i_outcome text) language plpgsql as $$
declare
  c largesse.claim := (select c from largesse.claim c where c.user_id = i_user);
begin
  perform largesse.claim_take(array[c.activity_id], array[c.id], array[c.attempts], '10 s', '0 s', case when i_step like '%deliver' then 'wallet' else 'bank' end);
  perform largesse.claim_settle(array[c.activity_id], array[c.id], array[c.attempts + 1], array[1], array[i_step], array[i_outcome], array['bank'], array[200], array['r'], array['X'], array['x'],
                                array[now()], array[1::bigint], array[30000::bigint], array[null::text]);
end $$;
create procedure probe.fail(i_user int) language sql as $$
  select largesse.claim_move(array[c.activity_id], array[c.id], 'failed', null, null, null) from largesse.claim c where c.user_id = i_user
$$;
do $$ begin
  for u in 1 .. 12 loop
    continue when u in (3, 4, 7);
    call probe.settle(u, 'charge', case when u in (5, 12) then 'pending' when u = 6 then 'refused' else 'done' end);
  end loop;
  call probe.settle(1, 'deliver', 'done');
  perform largesse.claim_take(array[c.activity_id], array[c.id], array[0], '10 s', '4 s', 'bank') from largesse.claim c where c.user_id = 3;
  perform largesse.callback_apply('bank', 'e1', 'x-p', c.activity_id, c.id, 'charge', 'done', null, null, null, 1000, now(), '{}', null, true) from largesse.claim c where c.user_id = 3;
  for u in 8 .. 11 loop call probe.fail(u); end loop;
  call probe.settle(8, 'refund', 'done');
  call probe.settle(10, 'refund', 'refused');
  call probe.settle(11, 'refund', 'refused');
  perform largesse.operation_step(o.operation_id, 10) from largesse.claim c,
    largesse.operation_begin('resolve', null, array[c.activity_id], array[c.id], null, null, null, null, 'ann', 'x', null, false, 100, null) o where c.user_id = 11;
  perform largesse.claim_move(array_agg(c.activity_id), array_agg(c.id), 'expired', null, null, null) from largesse.claim c where c.user_id in (7, 12);
end $$;

\ir parts/damage_probe.sql
call probe.damage('select 1', 'none');
call probe.damage('update largesse.claim set payment = ''pending'', next_attempt_at = now() where user_id = 1', 'claim_sold_without_payment');
call probe.damage('update largesse.claim set payment = ''pending'' where user_id = 2', 'claim_sold_without_payment');
call probe.damage('delete from largesse.callback', 'claim_sold_without_payment');
call probe.damage('delete from largesse.attempt where step = ''charge'' and claim_id = (select id from largesse.claim where user_id = 2)', 'claim_sold_without_payment');
call probe.damage('update largesse.claim set refund = null, refund_since = null, next_attempt_at = null where user_id = 9', 'claim_paid_but_ended');
call probe.damage('update largesse.claim set refund = ''owed'', refund_since = now() where user_id = 2', 'claim_paid_but_ended');
call probe.damage('update largesse.claim set payment = ''refused'', refund = null, refund_since = null, next_attempt_at = null where user_id = 9', 'claim_paid_but_ended');
call probe.damage('update largesse.claim set refund_since = now() - interval ''61 minutes'' where user_id in (8, 9, 11)', 'claim_refund_overdue');
call probe.damage('update largesse.claim set refund_since = now() - interval ''61 minutes'' where user_id = 10', 'claim_refund_overdue');
call probe.damage('delete from largesse.attempt where step = ''refund'' and outcome = ''done''', 'claim_refund_not_confirmed');
call probe.damage('update largesse.claim set refund = ''done'', refunded_at = now(), next_attempt_at = null where user_id = 9', 'claim_refund_not_confirmed');
call probe.damage('update largesse.claim set refund = ''owed'', next_attempt_at = now() where user_id = 8', 'claim_refund_not_confirmed');
call probe.damage('update largesse.claim set created_at = now() - interval ''76 minutes'' where user_id = 12', 'claim_payment_open_too_long');
-- What is still held is held for as long as it was said to be, whatever that is for new claims by now.
call probe.damage('update largesse.claim set created_at = now() - interval ''76 minutes'' where user_id = 5', 'none');
call probe.damage('update largesse.claim set created_at = now() - interval ''76 minutes'', deadline = now() - interval ''61 minutes'' where user_id = 5',
                  'claim_kept_past_deadline claim_payment_open_too_long');
call probe.damage('update largesse.claim set created_at = now() - interval ''76 minutes'' where user_id in (6, 7, 8)', 'none');
call probe.damage('update largesse.claim set next_attempt_at = null where user_id = 4', 'claim_nobody_will_look_at');
call probe.damage('update largesse.claim set next_attempt_at = null where user_id = 9', 'claim_nobody_will_look_at');
call probe.damage('update largesse.claim set next_attempt_at = null where user_id = 12', 'claim_nobody_will_look_at');
call probe.damage('update largesse.claim set next_attempt_at = now() where user_id = 7', 'claim_nobody_will_look_at');
