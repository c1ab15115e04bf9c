-- SPDX-License-Identifier: Apache-2.0
-- Take, settle, give back, review, retry and sweep, as the fulfiller and the sweeper use them.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{"x": 1}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 20}'::jsonb,
  'limits', '[{"count": 2, "period": "total"}, {"count": 2, "period": "day"}]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
create temp table accepted as
  select s.ord as user_id, s.claim_id, a.id as activity_id from largesse.activity a cross join lateral largesse.claim_submit(a.id,
    array(select 'b' || n from generate_series(1, 8) n), array(select n::bigint from generate_series(1, 8) n),
    array(select 1 + n % 2 from generate_series(1, 8) n), array_fill(null::text, array[8]), '1 hour') s where s.ord > 0;
create function probe.take(i_user int, i_attempt int, i_provider text default 'simulator') returns text language sql as $$
  select coalesce((select t.doing || ' ' || t.attempt || ' tries ' || t.tries || ' trust ' || (t.trust_in_ms > 0)
    from accepted a cross join lateral largesse.claim_take(array[a.activity_id], array[a.claim_id], array[i_attempt], '10 s', '4 s', i_provider) t
   where a.user_id = i_user), 'nothing')
$$;
create function probe.settle(i_user int, i_attempt int, i_outcome text, i_due_ms bigint default 1000, i_review text default null, i_trust_ms bigint default null) returns text language sql as $$
  select coalesce((select s.status || case when s.under_review then ' review' else '' end
    from accepted a cross join lateral largesse.claim_settle(array[a.activity_id], array[a.claim_id], array[i_attempt], array[1], array['deliver'], array[i_outcome],
      array['simulator'], array[200], array['ref-1'], array['REFUSED'], array['no such wallet'], array[now()], array[1000::bigint], array[i_due_ms],
      array[i_review], array[i_trust_ms]) s
   where a.user_id = i_user), 'nothing')
$$;
create function probe.claim(i_user int) returns largesse.claim language sql as $$
  select c from accepted a join largesse.claim c on c.activity_id = a.activity_id and c.id = a.claim_id where a.user_id = i_user
$$;

-- A message that came through another provider's lane is left alone: the reward's own provider delivers.
select probe.expect('other lane', probe.take(1, 0, 'another'), 'nothing');

-- Delivered at once; the second message of the same claim is stale; nothing moves a finished claim back.
select probe.expect('take', probe.take(1, 0), 'deliver 1 tries 1 trust true');
select probe.expect('leased', probe.take(1, 1), 'nothing');
select probe.expect('stale', probe.take(1, 0), 'nothing');
select probe.expect('done', probe.settle(1, 1, 'done'), 'succeeded');
select probe.expect('done twice', probe.settle(1, 1, 'done'), 'nothing');
select probe.expect('late failure', probe.settle(1, 1, 'refused'), 'nothing');
select probe.expect('finished', probe.take(1, 1), 'nothing');
select probe.expect('nothing due', ((probe.claim(1)).next_attempt_at is null)::text, 'true');

-- Retry climbs; an unknown outcome is inquired about; its trust time stays.
select probe.take(2, 0);
select probe.expect('retry', probe.settle(2, 1, 'retry'), 'issuing');
select probe.expect('take again', probe.take(2, 1), 'deliver 2 tries 2 trust true');
select probe.expect('unknown', probe.settle(2, 2, 'unknown'), 'issuing');
select probe.expect('inquire', probe.take(2, 2), 'inquire 3 tries 3 trust true');
select probe.expect('old token', probe.settle(2, 2, 'retry'), 'nothing');
update largesse.claim set lease_until = now() - interval '1 s' where user_id = 2;
select probe.expect('taken over', probe.take(2, 3), 'inquire 4 tries 4 trust true');
select probe.expect('done late', probe.settle(2, 3, 'done'), 'succeeded');

-- A lease that ran out is unknown, never a plain new delivery.
select probe.take(3, 0);
update largesse.claim set lease_until = now() - interval '1 s' where user_id = 3;
select probe.expect('lease ran out', probe.take(3, 1), 'inquire 2 tries 2 trust true');
select probe.settle(3, 2, 'done');

-- A success that comes after everything was given back is recorded and owes a reversal; without one the audit finds it.
select probe.take(6, 0);
update largesse.claim set lease_until = now() - interval '1 s' where user_id = 6;
select probe.expect('taken over', probe.take(6, 1), 'inquire 2 tries 2 trust true');
select probe.expect('refused by the second', probe.settle(6, 2, 'refused'), 'failed');
select probe.expect('late success', probe.settle(6, 1, 'done'), 'failed');
select probe.expect('owed', (probe.claim(6)).step || ' ' || (probe.claim(6)).reversal, 'reverse owed');
update largesse.claim set reversal = null, reversal_since = null, next_attempt_at = null where user_id = 6;
select probe.expect('on record', (select r.actual from largesse.activity a cross join lateral largesse.audit_run('claim_failed_but_delivered', a.id) r where r.actual like 'failed, yet attempt 1 at %') is not null || '', 'true');
delete from largesse.attempt where claim_id = (probe.claim(6)).id;

-- Refused: everything is given back, in every period.
select probe.take(4, 0);
select probe.expect('refused', probe.settle(4, 1, 'refused'), 'failed');
select probe.expect('allowance', (select string_agg(period || used, ' ' order by period) from largesse.usage where user_id = 4), 'day0 total0');
select probe.expect('failure', (probe.claim(4)).failure_code || ': ' || (probe.claim(4)).failure_detail, 'REFUSED: no such wallet');

-- Review keeps what the claim holds; its dead letter is open; a retry starts the ladder anew, once.
select probe.take(5, 0);
select probe.expect('review', probe.settle(5, 1, 'unknown', 0, 'outcome_unknown'), 'issuing review');
select probe.expect('letter', (select provider || ' ' || cause from largesse.dead_letter where closed_at is null), 'simulator outcome_unknown');
select probe.expect('not taken under review', probe.take(5, 1), 'nothing');
create function probe.retry(i_ids bigint[]) returns text language sql as $$
  select s.outcome from largesse.operation_begin('retry', i_ids, '{}', '{}', null, null, null, null, 'test', 'x', null, true, 1000, null) o
    cross join lateral largesse.operation_step(o.operation_id, 10) s
$$;
select probe.expect('retry', probe.retry(array(select id from largesse.dead_letter)), 'retried');
select probe.expect('twice', probe.retry(array(select id from largesse.dead_letter)), 'already_done');
select probe.expect('fresh ladder', probe.take(5, 1), 'inquire 2 tries 1 trust true');
select probe.settle(5, 2, 'done');
select probe.expect('unknown letter', probe.retry(array[99999::bigint]), 'not_found');

-- A provider that said "pending" may not show the delivery to an inquiry at once: "not found" counts as late as after an unknown outcome.
select probe.take(8, 0);
select probe.expect('pending', probe.settle(8, 1, 'pending', 100, null, 4000), 'issuing');
select probe.expect('not found must wait', probe.take(8, 1), 'inquire 2 tries 1 trust true');
select probe.expect('still pending', probe.settle(8, 2, 'pending', 100), 'issuing');
select probe.expect('and still waits', probe.take(8, 2), 'inquire 3 tries 1 trust true');
select probe.settle(8, 3, 'done');

-- The sweeper finds what is overdue, doubles, and leaves the rest.
select probe.expect('nothing overdue', (select count(*)::text from largesse.claim_sweep(100, '-infinity', '10 s', '{}')), '0');
update largesse.claim set next_attempt_at = now() - interval '1 s' where user_id = 7;
select probe.expect('held back', (select count(*)::text from largesse.claim_sweep(100, '-infinity', '10 s', '{simulator}')), '0');
select probe.expect('held back rows stay as they are', (select max(sweeps)::text from largesse.claim where user_id in (6, 7)), '0');
select probe.expect('overdue', (select count(*) || ' ' || min(provider) || ' ' || min(attempt) from largesse.claim_sweep(100, '-infinity', '10 s', '{}')), '1 simulator 0');
select probe.expect('advanced', (select bool_and(next_attempt_at > now() + interval '9 s' and sweeps = 1)::text from largesse.claim where user_id = 7), 'true');
select probe.expect('once', (select count(*)::text from largesse.claim_sweep(100, '-infinity', '10 s', '{}')), '0');

-- Refusals of two activities in one call are refused: stock locks come first and one at a time.
do $$ begin
  perform largesse.claim_move(array[1, 2], array[1, 2], 'failed', null, null, null);
  raise exception 'two activities were accepted';
exception when invalid_parameter_value then null; end $$;

do $$ declare v record; begin
  for v in select d.name, r.* from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r loop
    raise exception 'audit: %', v;
  end loop;
end $$;
