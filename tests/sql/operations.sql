-- SPDX-License-Identifier: Apache-2.0
-- What people do about dead letters and delivered claims: every kind in every state, once, with books that agree.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
select largesse.reward_put('good', 'reverses', 100, 'CNY', '{}'), largesse.reward_put('plain', 'final', 100, 'CNY', '{}');
select largesse.provider_register('f1', array['reverses', 'final'], array[4, 4], array[0, 0], array[true, false], array[true, true], array[true, true]);
select largesse.activity_put(jsonb_build_object('code', c, 'name', c, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', case c when 'final' then 'plain' else 'good' end,
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 100}'::jsonb, 'limits', '[{"count": 3, "period": "total"}]'::jsonb), 'test', null)
  from unnest(array['a', 'b', 'final', 'bulk']) c;
select largesse.activity_action(c, 'publish', 'test', null, null) from unnest(array['a', 'b', 'final', 'bulk']) c;
select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 20) n), array(select n::bigint from generate_series(1, 20) n),
    array_fill(2, array[20]), array_fill(null::text, array[20]), '5 s') from largesse.activity;

create function probe.key(i_code text, i_user int) returns largesse.claim language sql as $$
  select c from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = i_code and c.user_id = i_user
$$;
-- Under review, with its letter: what is to be done next says what is known about the delivery.
create function probe.review(i_code text, i_user int, i_step text, i_cause text) returns bigint language plpgsql as $$
declare v_claim largesse.claim := probe.key(i_code, i_user);
begin
  update largesse.claim c set review_since = now(), review_cause = i_cause, next_attempt_at = null, attempts = 4, step = i_step, sweeps = 3,
         reversal = case when i_step in ('reverse', 'inquire_reverse') then 'unknown' end, reversal_since = case when i_step in ('reverse', 'inquire_reverse') then now() end
   where c.activity_id = v_claim.activity_id and c.id = v_claim.id;
  perform largesse.dead_letter_open(array[v_claim.activity_id], array[v_claim.id], array['reverses'], array[i_cause], array[null], array['x']);
  return (select max(id) from largesse.dead_letter);
end $$;
create function probe.move(i_code text, i_user int, i_to text) returns void language sql as $$
  select largesse.claim_move(array[(k).activity_id], array[(k).id], i_to, null, null, null) from (select probe.key(i_code, i_user) as k) x
$$;
-- Begins and drives to the end: outcomes in the order of items.
create function probe.operate(i_kind text, i_letters bigint[], i_claims largesse.claim[] default '{}', i_proof text default null, i_as_delivered boolean default true, i_key text default null)
returns text language plpgsql as $$
declare
  v_begun record;
  v_preview text;
  v_outcome text;
begin
  select doc::json -> 'items' #>> '{}' into v_preview from largesse.operation_preview(i_kind, i_letters, array(select activity_id from unnest(i_claims)), array(select id from unnest(i_claims)),
    null, null, null, null, i_proof is not null or not i_as_delivered);
  select * into v_begun from largesse.operation_begin(i_kind, i_letters, array(select activity_id from unnest(i_claims)), array(select id from unnest(i_claims)),
    null, null, null, null, 'alice', 'why', i_proof, i_as_delivered, 10000, i_key);
  while exists (select from largesse.operation_step(v_begun.operation_id, 3) s where s.state = 'running') loop null; end loop;
  if v_begun.verdict = 'created' and (select doc::json -> 'items' #>> '{}' from largesse.operation_show(v_begun.operation_id, true)) is distinct from v_preview then
    raise exception 'preview % is not what came of it', v_preview;
  end if;
  select coalesce(string_agg(outcome, ' ' order by n), 'none') into v_outcome from largesse.operation_item where operation_id = v_begun.operation_id;
  return v_outcome || case v_begun.verdict when 'created' then '' else ' ' || v_begun.verdict end;
end $$;
create function probe.claim(i_code text, i_user int) returns text language sql as $$
  select concat_ws(' ', k.status, k.step, case when k.next_attempt_at <= largesse.clock_now() then 'due' when k.next_attempt_at is not null then 'later' end, case when k.review_since is not null then 'review' end,
                   'reversal ' || k.reversal, case when k.reversed_at is not null then 'taken back' end, k.failure_code)
    from (select (probe.key(i_code, i_user)).*) k
$$;
create function probe.letter(i_id bigint) returns text language sql as $$
  select concat_ws(' ', d.resolution, d.closed_by, d.close_reason) from largesse.dead_letter d where d.id = i_id
$$;
create function probe.remaining(i_code text) returns text language sql as $$
  select s.remaining || ' ' || coalesce((select sum(u.used) from largesse.usage u where u.activity_id = a.id), 0)
    from largesse.activity a join largesse.stock s on s.activity_id = a.id where a.code = i_code
$$;
select probe.expect('to begin with', probe.remaining('a'), '60 40');

-- Retry: due now, under the same step, with a fresh ladder; once.
select probe.expect('retry', probe.operate('retry', array[probe.review('a', 1, 'inquire', 'outcome_unknown')]), 'retried');
select probe.expect('retried', probe.claim('a', 1) || ' ' || (probe.key('a', 1)).attempts_before || ' ' || (probe.key('a', 1)).sweeps, 'issuing inquire due 4 0');
select probe.expect('letter', probe.letter(max(id)), 'retried alice why') from largesse.dead_letter;
select probe.expect('retry again', probe.operate('retry', array(select max(id) from largesse.dead_letter)), 'already_done');
select probe.expect('a claim stands for its newest letter', probe.operate('retry', '{}', array[probe.key('a', 1)]), 'already_done');
select probe.expect('a claim without letter', probe.operate('retry', '{}', array[probe.key('b', 19)]), 'not_found');
select probe.expect('no such letter', probe.operate('retry', array[99999]), 'not_found');

-- Refund: what was certainly not delivered is returned at once.
select probe.expect('refund', probe.operate('refund', array[probe.review('a', 2, 'deliver', 'attempts_used_up')]), 'refunded');
select probe.expect('refunded', probe.claim('a', 2), 'failed deliver GIVEN_UP');
select probe.expect('its letter', probe.letter(max(id)), 'refunded alice why') from largesse.dead_letter;
select probe.expect('given back', probe.remaining('a'), '62 38');
select probe.expect('refund again', probe.operate('refund', array(select max(id) from largesse.dead_letter)), 'already_done');
select probe.expect('given back once', probe.remaining('a'), '62 38');
-- What may have been delivered is reversed first, and holds everything until then.
select probe.expect('refund of unknown', probe.operate('refund', array[probe.review('a', 3, 'inquire', 'outcome_unknown')]), 'reversing');
select probe.expect('reversing', probe.claim('a', 3), 'issuing reverse due reversal owed');
select probe.expect('letter of the reversed', probe.letter(max(id)), 'refunded alice why') from largesse.dead_letter;
select probe.expect('still held', probe.remaining('a'), '62 38');
select probe.expect('reversing again', probe.operate('refund', array(select max(id) from largesse.dead_letter)), 'already_done');
select largesse.claim_reversal_end(array[(k).activity_id], array[(k).id], array['done']) from (select probe.key('a', 3) as k) x;
select probe.expect('reversed', probe.claim('a', 3), 'rolled_back reverse reversal done taken back');
select probe.expect('given back after the reversal', probe.remaining('a'), '64 36');
-- Without a reverse request nothing changes, and the letter stays.
select probe.expect('refund without reversal', probe.operate('refund', array[probe.review('final', 1, 'inquire', 'outcome_unknown')]), 'not_reversible');
select probe.expect('left as it is', probe.claim('final', 1) || ' ' || probe.letter(max(id)), 'issuing inquire review ') from largesse.dead_letter;
select probe.expect('never delivered needs none', probe.operate('refund', array[probe.review('final', 2, 'deliver', 'attempts_used_up')]), 'refunded');

-- Resolve: a person knows.
select probe.expect('without proof', probe.operate('resolve', array[probe.review('a', 4, 'inquire', 'outcome_unknown')]), 'proof_needed');
select probe.expect('waits on', probe.claim('a', 4), 'issuing inquire review');
select probe.expect('with proof', probe.operate('resolve', array(select max(id) from largesse.dead_letter), '{}', 'voucher 77'), 'resolved');
select probe.expect('resolved', probe.claim('a', 4) || ' ' || (probe.key('a', 4)).provider_ref || ' ' || (probe.key('a', 4)).outcome, 'succeeded inquire voucher 77 done');
select probe.expect('resolved by', probe.letter(max(id)), 'resolved alice why') from largesse.dead_letter;
select probe.expect('resolve again', probe.operate('resolve', array(select max(id) from largesse.dead_letter), '{}', 'voucher 77'), 'already_done');
select probe.expect('not delivered', probe.operate('resolve', array[probe.review('a', 5, 'inquire', 'outcome_unknown')], '{}', null, false), 'resolved');
select probe.expect('not delivered', probe.claim('a', 5), 'failed inquire NOT_DELIVERED');
select probe.expect('given back by knowledge', probe.remaining('a'), '66 34');
-- A letter without a claim is simply closed; nothing else can be done about it.
select largesse.dead_letter_unreadable('reverses', 'unreadable', 'no JSON', 'xx');
select probe.expect('unreadable', concat_ws(', ', probe.operate('retry', array[m]), probe.operate('refund', array[m]), probe.operate('resolve', array[m]), probe.operate('resolve', array[m]), probe.letter(m)),
  'not_retryable, not_refundable, resolved, already_done, resolved alice why') from (select max(id) as m from largesse.dead_letter) x;

-- Roll-back: reversed first; the status stays until it is done.
select probe.move('a', 6, 'succeeded'), probe.move('final', 3, 'succeeded');
select probe.expect('roll back', probe.operate('roll_back', '{}', array[probe.key('a', 6)]), 'reversing');
select probe.expect('owed', probe.claim('a', 6), 'succeeded reverse due reversal owed');
select probe.expect('twice', probe.operate('roll_back', '{}', array[probe.key('a', 6)]), 'already_done');
select largesse.claim_reversal_end(array[(k).activity_id], array[(k).id], array['done']) from (select probe.key('a', 6) as k) x;
select probe.expect('rolled back', probe.claim('a', 6) || ' ' || probe.remaining('a'), 'rolled_back reverse reversal done taken back 68 32');
select probe.expect('thrice', probe.operate('roll_back', '{}', array[probe.key('a', 6)]), 'already_done');
select probe.expect('not reversible', probe.operate('roll_back', '{}', array[probe.key('final', 3)]) || ' ' || probe.claim('final', 3), 'not_reversible succeeded deliver');
select probe.expect('not delivered', probe.operate('roll_back', '{}', array[probe.key('a', 7), probe.key('a', 2)]), 'not_delivered not_delivered');
-- A registration without reward is rolled back at once.
select probe.move('b', 1, 'succeeded');
update largesse.claim c set reward_id = null, step = null where c.activity_id = (probe.key('b', 1)).activity_id and c.user_id = 1;
select probe.expect('without reward', probe.operate('roll_back', '{}', array[probe.key('b', 1)]) || ' ' || probe.claim('b', 1) || ' ' || probe.remaining('b'), 'rolled_back rolled_back 62 38');

-- A reversal that is stuck waits for a person, whatever the claim's status.
select probe.move('a', 8, 'succeeded');
select probe.expect('stuck, retried', probe.operate('retry', array[probe.review('a', 8, 'inquire_reverse', 'reversal_unknown')]) || ', ' || probe.claim('a', 8), 'retried, succeeded inquire_reverse due reversal unknown');
select probe.review('a', 8, 'inquire_reverse', 'reversal_unknown');
select probe.expect('stuck, rolled back again', probe.operate('roll_back', '{}', array[probe.key('a', 8)]) || ', ' || probe.claim('a', 8), 'reversing, succeeded inquire_reverse due reversal unknown');
select probe.expect('its letter is closed', probe.letter(max(id)), 'retried alice why') from largesse.dead_letter;
select probe.expect('stuck, the user keeps it', probe.operate('resolve', array[probe.review('a', 8, 'inquire_reverse', 'reversal_unknown')], '{}', 'agreed') || ', ' || probe.claim('a', 8), 'resolved, succeeded inquire');
select probe.expect('stuck, taken back by hand', probe.operate('resolve', array[probe.review('a', 8, 'inquire_reverse', 'reversal_unknown')], '{}', null, false) || ', ' || probe.claim('a', 8), 'resolved, rolled_back inquire_reverse reversal done taken back');
select probe.expect('once', probe.remaining('a'), '70 30');
select probe.move('a', 9, 'failed');
select probe.expect('failed', probe.remaining('a'), '72 28');
select probe.expect('owed after failed, refunded', probe.operate('refund', array[probe.review('a', 9, 'reverse', 'reversal_refused')]) || ', ' || probe.claim('a', 9), 'reversing, failed reverse due reversal unknown');
select probe.expect('owed after failed, by hand', probe.operate('resolve', array[probe.review('a', 9, 'reverse', 'reversal_refused')], '{}', null, false) || ', ' || probe.claim('a', 9), 'resolved, failed reverse reversal done taken back');
select probe.expect('nothing twice', probe.remaining('a'), '72 28');

-- A claim that has ended by itself is skipped; a letter that it left open is settled.
select probe.review('a', 10, 'inquire', 'outcome_unknown');
select probe.move('a', 10, 'succeeded');
select probe.expect('ended by itself', probe.operate(kind, array(select max(id) from largesse.dead_letter)), 'already_done') from unnest(array['retry', 'refund', 'resolve']) kind;
insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select (k).activity_id, (k).id, 'reverses', 'amount_mismatch', now() from (select probe.key('a', 10) as k) x;
select probe.expect('only the letter is left', probe.operate('resolve', array(select max(id) from largesse.dead_letter)) || ', ' || probe.claim('a', 10), 'resolved, succeeded inquire');

-- B115: bulk by filter; ten letters of which four have ended meanwhile; a second trigger finds nothing; each item is on record.
select count(probe.review('bulk', n, 'inquire', 'outcome_unknown')) from generate_series(1, 10) n;
create temp table bulk as select o.operation_id as id, n from generate_series(1, 2) n,
  lateral largesse.operation_begin('retry', null, null, null, null, 'outcome_unknown', 'bulk', 'outcome_unknown: x', case when n > 0 then 'alice' end, 'double click', null, true, 10000, null) o;
select probe.expect('both mean the same', string_agg(o.total::text, ' '), '10 10') from largesse.operation o join bulk using (id);
select probe.move('bulk', n, 'succeeded') from generate_series(1, 4) n;
do $$ begin
  for v_try in 1..10 loop perform largesse.operation_step(id, 3) from bulk; end loop;
end $$;
select probe.expect('six, four', string_agg(concat_ws(' ', d ->> 'state', d ->> 'done', d ->> 'retried', d ->> 'alreadyDone', json_array_length(d -> 'items')), ', ' order by id), 'done 10 6 4 10, done 10 0 10 10')
  from (select bulk.id, s.doc::json as d from bulk, largesse.operation_show(bulk.id, true) s) x;
select probe.expect('each is audited', count(*)::text, '6') from largesse.dead_letter d where d.close_reason = 'double click' and d.closed_by = 'alice' and d.resolution = 'retried';
select probe.expect('an empty filter', probe.operate('retry', '{}'), 'none');

-- Another claim's give-back waits for nobody: one activity per step, in the order of keys.
select probe.review('a', 11, 'deliver', 'attempts_used_up'), probe.review('b', 11, 'deliver', 'attempts_used_up');
create temp table two as select o.operation_id as id from largesse.operation_begin('refund', null, null, null, null, 'attempts_used_up', null, null, 'alice', 'w', null, true, 10000, null) o;
select probe.expect('first step', (select string_agg(concat_ws(' ', s.state, s.done, s.outcome, s.items), ',') from two, largesse.operation_step(two.id, 100) s), 'running 1 refunded 1');
select probe.expect('any that is due', (select string_agg(concat_ws(' ', s.operation_id = two.id, s.state, s.done), ',') from two, largesse.operation_step(null, 100) s), 't done 2');
select probe.expect('none is due', (select count(*)::text from largesse.operation_step(null, 100)), '0');

-- The pace: a second's worth at once, then nothing before its time. It can be ended; what was done stays.
select count(probe.review('b', n, 'inquire', 'slow')) from generate_series(2, 9) n;
create temp table slow as select o.operation_id as id from largesse.operation_begin('retry', null, null, null, null, 'slow', null, null, 'alice', 'w', null, true, 1, null) o;
select probe.expect('a second''s worth', concat_ws(' ', s.done, s.wait_ms between 1 and 1000), '1 t') from slow, largesse.operation_step(slow.id, 100) s;
update largesse.operation o set next_at = o.next_at + interval '1 hour' from slow where o.id = slow.id;  -- as if no time had passed since
select probe.expect('not before its time', concat_ws(' ', s.state, s.done, s.outcome, s.wait_ms > 0), 'running 1 t') from slow, largesse.operation_step(slow.id, 100) s;
select probe.expect('nor by others', (select count(*)::text from largesse.operation_step(null, 100)), '0');
select probe.expect('cancelled', concat_ws(' ', s.state, s.doc::json ->> 'cancelledBy', s.doc::json ->> 'cancelReason', s.doc::json ->> 'done'), 'cancelled bob enough 1') from slow, largesse.operation_cancel(slow.id, 'bob', 'enough') s;
select probe.expect('no further step', concat_ws(' ', s.state, s.done), 'cancelled 1') from slow, largesse.operation_step(slow.id, 100) s;
select probe.expect('the rest is left', count(*)::text, '7') from largesse.claim where review_cause = 'slow';
select probe.expect('items', string_agg(coalesce(i.doc::json ->> 'outcome', 'to do'), ' ' order by i.n), 'retried to do to do to do to do to do to do to do') from slow, largesse.operation_items(slow.id, 0, 100) i;

-- One key is one operation.
select probe.expect('with a key', probe.operate('retry', array(select min(id) from largesse.dead_letter where closed_at is null and cause = 'slow'), '{}', null, true, 'k1'), 'retried');
select probe.expect('the same again', probe.operate('retry', array(select item.letter_id from largesse.operation_item item join largesse.operation o on o.id = item.operation_id where o.key = 'k1'), '{}', null, true, 'k1'), 'retried replayed');
select probe.expect('something else', split_part(probe.operate('retry', array[1], '{}', null, true, 'k1'), ' ', 2), 'key_reused');

-- Least rights.
grant usage on schema probe to largesse_reconciler;
set role largesse_reconciler;
select probe.expect('list', string_agg(concat_ws(' ', l.doc::json ->> 'kind', l.doc::json ->> 'state'), ', ' order by l.id desc), 'retry done, retry cancelled') from largesse.operation_list('all', null, null, 2) l;
select probe.expect('by state', count(*)::text, '1') from largesse.operation_list('cancelled', 'retry', null, 100);
select probe.expect('none runs', count(*)::text, '0') from largesse.operation_list('running', null, null, 100);
reset role;

do $$ declare v record; begin
  for v in select d.name, r.* from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r where d.name in ('stock_not_matching_claims', 'usage_not_matching_claims', 'claim_under_review_without_dead_letter') loop
    raise exception 'audit: %', v;
  end loop;
end $$;

-- An operation whose step fails each time holds up no other.
create function probe.break_it() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
create temp table both_of as
  select (largesse.operation_begin('retry', array[(select max(id) from largesse.dead_letter)], null, null, null, null, null, null, 'x', 'w', null, true, 10, null)).operation_id as broken,
         (largesse.operation_begin('retry', array[(select min(id) from largesse.dead_letter)], null, null, null, null, null, null, 'x', 'w', null, true, 10, null)).operation_id as whole;
do $$ begin
  execute format('create trigger broken before update on largesse.operation_item for each row when (old.operation_id = %s) execute function probe.break_it()', (select broken from both_of));
  for n in 1 .. 200 loop
    begin
      perform 1 from largesse.operation_step(null, 10);
    exception when raise_exception then null;
    end;
  end loop;
end $$;
select probe.expect('the other one is done', string_agg(o.state, ' ' order by o.id = b.whole), 'running done') from both_of b join largesse.operation o on o.id in (b.broken, b.whole);
